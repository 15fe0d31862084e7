# SPDX-License-Identifier: Apache-2.0
"""The pilot in lockstep: what it waits for, what it repeats, what it asks, and when it ends."""
from __future__ import annotations

from typing import ClassVar

import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from propulsion_ros.demos.pilot import Pilot
from propulsion_ros.demos.pilot_node import PilotNode
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp

STEP_NS = 10_000_000


class Echo(Pilot):
    """Records its steps, hears a state of each, and asks at one of them."""

    commands: ClassVar = {'command': Kind.JOINTS}
    services = ('permission',)
    asks_at = -1.0

    def __init__(self):
        super().__init__()
        self.record(Kind.JOINTS, 'state', 'state', lambda message: [])

    def requests(self, time):
        return {'permission': {}} if time == self.asks_at else {}

    def steer(self, time, motion):
        self.recording.add('steps', time)
        return {'command': {}}


class Vehicle:
    """The other side: steps and states with stamps, and the commands that came."""

    def __init__(self, graph):
        self.graph = graph
        self.pilot = Echo()
        self.node = PilotNode(self.pilot, context=graph.context)
        graph.executor.add_node(self.node)
        self.commands = graph.listen(JointState, 'command', qos.COMMAND)
        self._odometry = graph.talk(Odometry, 'vehicle/odometry', qos.LOCKSTEP)
        self._state = graph.talk(JointState, 'state', qos.LOCKSTEP)
        (self.publisher,) = (each for each in self.node.publishers if each.topic_name == '/command')
        graph.until(self.publisher.get_subscription_count, 'the listener')

    def step(self, tick):
        """Publish the odometry of a step; wait until the pilot has heard it, if it is new."""
        message = Odometry()
        message.header.stamp = ns_to_stamp(tick * STEP_NS)
        message.pose.pose.orientation.w = 1.0
        self._odometry.publish(message)
        self.graph.until(lambda: self.node.steps > tick, f'step {tick}')

    def state(self, tick):
        message = JointState()
        message.header.stamp = ns_to_stamp(tick * STEP_NS)
        self._state.publish(message)

    def commanded(self, count):
        """Return the steps of the commands, once there are so many."""
        stamps = [stamp_to_ns(m.header.stamp) for m in self.graph.heard('command', count)]
        return [stamp // STEP_NS for stamp in stamps]

    @property
    def steered(self):
        return [round(at * 1e9) // STEP_NS for at, in self.pilot.recording.rows.get('steps', [])]


@pytest.fixture
def vehicle(graph):
    vehicle = Vehicle(graph)
    yield vehicle
    vehicle.node.destroy_node()


def test_step_is_answered_once_the_one_before_has_been_heard(vehicle):
    vehicle.step(0)
    assert vehicle.steered == [0]
    vehicle.step(1)
    assert vehicle.steered == [0]
    vehicle.state(0)
    assert vehicle.commanded(2) == [0, 1]
    assert vehicle.steered == [0, 1]


def test_step_that_is_announced_again_is_answered_again_and_recorded_once(vehicle):
    vehicle.step(0)
    assert vehicle.commanded(1) == [0]
    vehicle.step(0)
    assert vehicle.commanded(2) == [0, 0]
    assert vehicle.steered == [0]


def test_state_that_comes_twice_is_recorded_once(vehicle):
    vehicle.state(0)
    vehicle.state(0)
    vehicle.state(1)
    rows = vehicle.pilot.recording.rows
    vehicle.graph.until(lambda: len(rows.get('state', [])) > 1, 'the states')
    assert rows['state'] == [(0.0,), (0.01,)]


@pytest.mark.parametrize(('reason', 'steered'), [
    pytest.param('', [0, 1], id='granted'), pytest.param('not today', [0], id='refused'),
])
def test_step_waits_for_what_is_asked(vehicle, reason, steered):
    pilot, asked = vehicle.pilot, []

    def answer(request, response):
        asked.append(vehicle.steered)
        response.success, response.message = not reason, reason
        return response

    (client,) = vehicle.node.clients
    vehicle.graph.probe.create_service(Trigger, 'permission', answer)
    vehicle.graph.until(client.service_is_ready, 'the service')
    pilot.asks_at = STEP_NS * 1e-9
    vehicle.step(0)
    vehicle.state(0)
    vehicle.step(1)
    vehicle.graph.until(lambda: vehicle.node.failure or len(vehicle.steered) > 1, 'the answer')
    assert asked == [[0]]
    assert vehicle.steered == steered
    assert vehicle.node.failure == (f'{client.srv_name} refused: {reason}' if reason else '')


def end_by_time(vehicle):
    vehicle.node.until = 0.01


def end_by_pilot(vehicle):
    vehicle.pilot.steer = lambda time, motion: None


@pytest.mark.parametrize('end', [end_by_time, end_by_pilot])
def test_last_step_is_not_answered(vehicle, end):
    vehicle.step(0)
    vehicle.state(0)
    end(vehicle)
    vehicle.step(1)
    vehicle.graph.until(lambda: vehicle.node.has_ended, 'the end')
    assert vehicle.steered == [0]
