# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from flight_computer import APOGEE, CONFIG, LIFTOFF, PERIOD, TOP, altitude
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node as RosNode
from requested_twice import request_twice
from sensor_msgs.msg import FluidPressure, JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from flight_flags import newest_flags
from parts import few_of
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from ros_graph import stamped


class Flight:
    """A node under test, fed with a flight sample by sample."""

    def __init__(self, graph, source='pressure', **settings):
        self.graph, self.source = graph, source
        self.node = graph.add(FlightStateNode, 'flight_state', {
            'config_file': CONFIG, 'altitude_source': source, 'reliable_inputs': True,
            'silence_timeout': 0.0, 'on_time_clock': 'stamps', 'flight.max_ascent_time': 30.0,
            # The stamps are those of a simulation, and come faster than time passes.
            'use_sim_time': True, **settings,
        })
        self.fits = graph.listen(JointState, 'flight_state/fit', qos.COMMAND)
        self.deployers = graph.listen(JointState, 'flight_state/deployers', qos.COMMAND)
        self.phases = graph.listen(String, 'flight_state/phase', qos.LATCHED)
        self.flags = graph.listen(DiagnosticArray, 'flight_state/flags', qos.LATCHED)
        self.events = graph.listen(DiagnosticArray, 'flight_state/events', qos.LATCHED_HISTORY)
        self.apogees = graph.listen(PointStamped, 'flight_state/apogee', qos.LATCHED)
        kind = FluidPressure if source == 'pressure' else Odometry
        self.sensor = graph.talk(kind, f'flight_state/{source}', qos.COMMAND)
        graph.connected(self.node, '~/deployers', '~/fit')

    def command(self, name):
        return self.graph.call(Trigger, f'flight_state/{name}')

    def feed(self, begin, end, site=120.0):
        """Send samples and wait until the node has taken the last."""
        for k in range(round(begin / PERIOD), round(end / PERIOD)):
            t = k * PERIOD
            if self.source == 'pressure':
                _, pressure = temperature_and_pressure(site + altitude(t))
                message = stamped(FluidPressure, t * 1e9, fluid_pressure=float(pressure))
            else:
                message = standing(t * 1e9, altitude(t))
                message.twist.twist.linear.z = (altitude(t + 1e-4) - altitude(t - 1e-4)) / 2e-4
            self.sensor.publish(message)
            if k % 20 == 0:
                self._settle(t)
        self._settle((round(end / PERIOD) - 1) * PERIOD)

    def _settle(self, t):
        stamp_ns = round(t * 1e9)
        self.graph.until(lambda: self.node.loop.stamp_ns >= stamp_ns, f'the sample at {t:.2f} s')


@pytest.mark.parametrize('source', few_of(['pressure', 'odometry'], 2))
def test_whole_flight(graph, source):
    flight = Flight(graph, source)
    flight.feed(0.0, 2.0)
    assert flight.command('launch').success
    flight.feed(2.0, APOGEE + 10.0)
    graph.until(lambda: len(flight.events) == 2, 'two events')
    require_what_a_flight_has(flight)
    require_that_pyros_are_on_for_their_time_and_never_latched(flight)


def require_what_a_flight_has(flown):
    flags = newest_flags(flown.graph, flown.node, flown.flags)
    assert [message.data for message in flown.phases][-3:] == ['launch', 'flight', 'recovery']
    assert float(flags['liftoff']) == pytest.approx(LIFTOFF, abs=1.5)
    assert flags['apogee_source'] == 'detected'
    apogee = flown.apogees[-1]
    assert stamp_to_ns(apogee.header.stamp) * 1e-9 == pytest.approx(APOGEE, abs=0.3)
    assert apogee.point.z == pytest.approx(TOP, abs=3.0)
    names = [status.name for array in flown.events for status in array.status]
    assert names == ['drogue parachute', 'main parachute']
    drogue, main = (stamp_to_ns(array.header.stamp) * 1e-9 for array in flown.events)
    assert APOGEE < drogue < APOGEE + 0.6
    # What deploys by the altitude waits for 0.3 s by default.
    assert altitude(main - 0.3) == pytest.approx(450.0, abs=4.0)
    why = flown.events[1].status[0].message
    assert why == '(altitude <= 450 m and time since apogee >= 0 s) for 0.3 s'


def require_that_pyros_are_on_for_their_time_and_never_latched(flown):
    drogue = stamp_to_ns(flown.events[0].header.stamp) * 1e-9
    on = [
        stamp_to_ns(message.header.stamp) * 1e-9 for message in flown.deployers
        if message.effort[message.name.index('drogue')] == 1.0
    ]
    assert on[0] == pytest.approx(drogue, abs=1e-9)
    assert on[-1] <= drogue + 1.0
    assert np.all(np.diff(on) < 0.1 + 1e-9), 'republished at 10 Hz'
    late = []
    flown.graph.probe.create_subscription(JointState, 'flight_state/deployers', late.append, 10)
    beacon = flown.graph.listen(Bool, 'flight_state/beacon', qos.LATCHED)
    flown.graph.until(lambda: beacon and beacon[-1].data, 'the latched beacon')
    assert not late


def test_sensor_that_repeats_its_stamp_does_not_stop_the_backup_timer(graph):
    node = graph.add(FlightStateNode, 'flight_state', {
        'config_file': CONFIG, 'altitude_source': 'odometry', 'reliable_inputs': True,
        'silence_timeout': 0.1, 'flight.max_ascent_time': 1.0, 'flight.min_ascent_time': 0.1,
        'required_checks': ['altitude'],
    })
    sensor = graph.talk(Odometry, 'flight_state/odometry', qos.COMMAND)
    phases = graph.listen(String, 'flight_state/phase', qos.LATCHED)

    begun_ns = time.time_ns() - 10**9

    def send(ms, height):
        sensor.publish(standing(ms * 1_000_000 + begun_ns, height))

    for ms in range(0, 1000, 20):
        send(ms, 0.0)
    graph.until(lambda: node.loop.stamp_ns == begun_ns + 980_000_000, 'the pad')
    assert graph.call(Trigger, 'flight_state/launch').success
    # The sensor hangs already while the second request is waited for.
    request_twice(graph, 'liftoff_override', lambda: send(980, 0.0))
    said = []

    def hung():
        send(980, 100.0)
        said.append(next(row for row in node.health() if row[0] == 'altitude')[2])
        return phases and phases[-1].data == 'recovery'

    graph.until(hung, 'the backup timer')
    assert 'ok' not in said, 'a sample that is not taken proves nothing'


def test_robot_is_not_launched_while_a_recorder_alone_receives_its_charges(graph, tmp_path):
    node = graph.add(FlightStateNode, 'flight_state', {
        'config_file': CONFIG, 'altitude_source': 'odometry', 'flight.max_ascent_time': 30.0,
        'state_file': str(tmp_path / 'flight.json'),
    })
    sensor = graph.talk(Odometry, 'flight_state/odometry', qos.COMMAND)
    recorder = RosNode('rosbag2_recorder', context=graph.context)
    topics = ('flight_state/deployers', 'flight_state/engines')
    for topic in topics:
        recorder.create_subscription(JointState, topic, lambda message: None, qos.COMMAND)

    def send():
        sensor.publish(standing(time.time_ns()))

    def launch():
        send()
        return graph.call(Trigger, 'flight_state/launch')

    graph.until(lambda: send() or node.loop.stamp_ns, 'the first sample')
    graph.connected(node, '~/deployers', '~/engines')
    response = launch()
    assert not response.success
    assert 'no node but recorders receives ~/deployers' in response.message
    assert 'no node but recorders receives ~/engines' in response.message
    for topic in topics:
        graph.listen(JointState, topic, qos.COMMAND)
    graph.until(lambda: launch().success, 'a driver')
    recorder.destroy_node()


def standing(stamp_ns, height=0.0):
    """Return the odometry of a vehicle that stands upright."""
    message = stamped(Odometry, stamp_ns)
    message.pose.pose.position.z = height
    message.pose.pose.orientation.w = 1.0
    return message
