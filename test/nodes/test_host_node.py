# SPDX-License-Identifier: Apache-2.0
"""A node runs whatever loop it is given: topics, services, timers and life cycle."""
from __future__ import annotations

import time

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.impl.logging_severity import LoggingSeverity
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger

from propulsion_ros.loops.ports import Outlet, Port, Request, Timer
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.host_node import HostNode
from ros_graph import stamped

FLOAT, JOINTS = 'std_msgs/msg/Float64', 'sensor_msgs/msg/JointState'


class EchoLoop:
    """Publishes what it takes, and counts what it is called for."""

    def __init__(self, host):
        self.host, self.taken, self.ticks = host, [], 0
        self.out = Outlet('~/out', FLOAT, 'result', overridable=False)
        self.outlets = (self.out,)
        self.given = Port('~/in', FLOAT, self.take, 'command')
        self.ports = (
            self.given,
            Port('~/joints', JOINTS, lambda message: self.taken.append(message.effort[0]),
                 'command'),
            Port('~/latched', 'std_msgs/msg/String', lambda message: self.taken.append(
                message.data), 'latched', while_inactive=True),
            Port('/clock', 'rosgraph_msgs/msg/Clock', lambda message: self.taken.append(
                message.clock.sec), 'clock', overridable=False),
        )
        self.requests = (
            Request('~/again', 'std_srvs/srv/Trigger', self.serve),
            Request('~/enable', 'std_srvs/srv/SetBool', self.serve),
        )
        self.timers = (Timer(0.01, self.tick),)

    def take(self, message):
        self.host.publish(self.out, 0, message.data)

    def serve(self, data):
        return data, f'served {data}'

    def tick(self):
        self.ticks += 1

    def start(self):
        self.host.log('info', f'active: {self.host.is_active}')
        self.host.publish(self.out, 0, 1.0)

    def stop(self):
        self.host.publish(self.out, 0, -1.0)

    def health(self):
        yield 'echo', *self.host.absence([self.given], 'number'), {'ticks': self.ticks}


class EchoNode(HostNode):

    def make_loop(self):
        return EchoLoop(self)


def test_messages_go_through_the_loop_while_it_is_active(graph):
    out = graph.listen(Float64, '/echo/out')
    # What is latched may be older than the node.
    latched = graph.talk_later(String, '/echo/latched', qos.LATCHED)
    latched.publish(String(data='kept'))
    node = graph.add(EchoNode, 'echo', start=False)
    node.trigger_configure()
    talk = graph.talk(Float64, '/echo/in')
    graph.until(lambda: node.subscriptions_to(node.loop.out) == 1, 'the subscription')
    talk.publish(Float64(data=5.0))
    # Only a port that asks for it takes messages before activation.
    graph.becomes(lambda: node.loop.taken, ['kept'])
    assert node.publishers_of('~/in') == 1
    assert node.publishers_of('~/in', unless='other') == 1
    assert node.publishers_of('~/out', unless='out') == 0
    node.trigger_activate()
    talk.publish(Float64(data=7.0))
    graph.heard('/echo/out', 2)
    graph.until(lambda: node.loop.ticks > 0, 'a tick of the timer')
    node.trigger_deactivate()
    graph.heard('/echo/out', 3)
    assert [message.data for message in out] == [1.0, 7.0, -1.0]
    node.trigger_cleanup()
    assert node.loop is None
    assert not node.entities


def test_receivers_are_the_nodes_that_an_outlet_can_reach(graph):
    node = graph.add(EchoNode, 'echo')
    others = {}
    for name, profile in (
        ('driver', qos.SENSOR), ('latecomer', qos.LATCHED), ('rosbag2_recorder', qos.STATE),
    ):
        others[name] = Node(name, namespace='/fleet', context=graph.context)
        graph.executor.add_node(others[name])
        others[name].create_subscription(Float64, '/echo/out', lambda message: None, profile)
    graph.until(
        lambda: len(node.get_subscriptions_info_by_topic('/echo/out')) == 3, 'the subscriptions'
    )
    # A latched subscription never matches what is not latched.
    reached = ['/fleet/driver', '/fleet/rosbag2_recorder']
    graph.becomes(lambda: sorted(node.receivers_of(node.loop.out)), reached)
    others.pop('driver').destroy_node()
    graph.becomes(lambda: node.receivers_of(node.loop.out), reached[1:])
    while others:
        others.popitem()[1].destroy_node()


def test_bytes_that_are_no_message_are_counted_and_the_next_is_taken(graph):
    node = graph.add(EchoNode, 'echo')
    talk = graph.talk(JointState, '/echo/joints')
    talk.publish(b'\x00\x01\x00\x00' + b'\x00' * 7)
    talk.publish(JointState(name=['a'], effort=[3.0]))
    graph.becomes(lambda: node.loop.taken, [3.0])
    assert node.counts['refused'] == 1


def test_requests_are_services(graph):
    graph.add(EchoNode, 'echo')
    response = graph.call(Trigger, '/echo/again')
    assert (response.success, response.message) == (True, 'served True')
    response = graph.call(SetBool, '/echo/enable', SetBool.Request(data=False))
    assert (response.success, response.message) == (False, 'served False')


def test_health_is_in_the_diagnostics_with_the_time_of_the_clock(graph):
    graph.add(EchoNode, 'echo', {'use_sim_time': True})
    diagnostics = graph.listen(DiagnosticArray, '/diagnostics')
    talk = graph.talk_later(Clock, '/clock')
    message = graph.heard('/diagnostics')[-1]
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
    status = message.status[0]
    assert (status.name, status.hardware_id) == ('echo: echo', '/echo')
    assert (status.level, status.message) == (
        DiagnosticStatus.OK, 'no number yet: /echo/in has no publisher'
    )

    def is_stamped():
        talk.publish(Clock(clock=ns_to_stamp(5_000_000_000)))
        return diagnostics[-1].header.stamp.sec == 5
    graph.until(is_stamped, 'a diagnosis of simulated time')


def test_one_line_of_code_logs_at_every_level(graph, capfd):
    node = graph.add(EchoNode, 'echo')
    # A test before this one may have set the level of the whole process.
    node.get_logger().set_level(LoggingSeverity.INFO)
    for level in ('info', 'warn', 'error'):
        node.log(level, f'a line of {level}')
    err = capfd.readouterr().err
    for level, text in (('INFO', 'info'), ('WARN', 'warn'), ('ERROR', 'error')):
        assert any(line.startswith(f'[{level}]') and text in line for line in err.splitlines())


def replaying(graph, **parameters):
    """Return a node as a recording is played into it."""
    return graph.add(ActuatorNode, 'rotors', {
        'family': 'rotors', 'names': ['a'], 'max_thrust': [9.0], 'motor_constant': [1e-4],
        'moment_constant': [0.5], 'position': [0.0, 0.0, 0.0], 'step_on': 'stamp',
        'reliable_inputs': True, 'replay': True, **parameters,
    })


@pytest.mark.parametrize('is_prompt', [True, False])
def test_recording_that_does_not_wait_for_the_node_is_reported_once(graph, capfd, is_prompt):
    node = replaying(graph)
    command = graph.talk_later(JointState, 'rotors/command', qos.COMMAND)
    graph.until(lambda: command.get_subscription_count() == 1, 'the node')
    if not is_prompt:
        end = time.monotonic() + 1.0
        graph.until(lambda: time.monotonic() > end, 'the lead of the player')
    for ms in (100, 110):
        command.publish(stamped(JointState, ms * 1_000_000, name=['a'], effort=[1.0]))
    graph.until(lambda: node.counts['taken'] == 2, 'both commands')
    [(_, level, _, values)] = list(node.health())
    printed = capfd.readouterr().err
    assert node.counts['missed'] == is_prompt
    assert printed.count('~/command: began in mid-stream') == is_prompt
    assert ('missed' in values) == is_prompt
    if is_prompt:
        assert level == 'warn'
        assert '--delay' in printed


def test_no_time_of_a_recording_is_lost(graph):
    """A clock that overtakes the inputs of a node that is busy for a moment makes them late."""
    node = replaying(graph, step_on='clock', use_sim_time=True)
    clock = graph.talk_later(Clock, '/clock', qos.LOCKSTEP)
    # One subscription is rclpy's own.
    graph.until(lambda: clock.get_subscription_count() == 2, 'the node')
    for ms in range(100):
        clock.publish(Clock(clock=ns_to_stamp(ms * 1_000_000)))
    graph.until(lambda: node._received['/clock'] == 100, 'all times')


def test_live_node_does_not_compare_its_start(graph):
    command = graph.talk_later(JointState, 'rotors/command', qos.COMMAND)
    node = replaying(graph, step_on='clock', replay=False)
    graph.until(lambda: command.get_subscription_count() == 1, 'the node')
    command.publish(JointState(name=['a'], effort=[1.0]))
    graph.until(lambda: node.counts['taken'] == 1, 'the command')
    assert not node.counts['missed']
