# SPDX-License-Identifier: Apache-2.0
"""The lockout by the Mach number, from the topics of velocity and temperature."""
from __future__ import annotations

import math

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Temperature

from flight_flags import flags_of
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes.flight_state_node import FlightStateNode

PERIOD_NS = 20_000_000
COUNT = 40
BEGIN_NS = 200_000_000  # after the temperature has begun to count


@pytest.mark.parametrize(
    ('speed', 'celsius', 'health'),
    [
        # Mach 0.75 is 255 m/s at 15 C, 270 m/s at 50 C.
        pytest.param(245.0, None, 'below minimum height', id='subsonic'),
        pytest.param(262.0, None, 'lockout', id='fast in the standard atmosphere'),
        pytest.param(262.0, 50.0, 'below minimum height', id='hot air'),
        pytest.param(245.0, -40.0, 'lockout', id='cold air'),
        pytest.param(262.0, math.nan, 'lockout', id='no temperature'),
    ],
)
def test_lockout_by_the_horizontal_speed(graph, speed, celsius, health):
    graph.add(FlightStateNode, 'flight_state', {
        'reliable_inputs': True, 'silence_timeout': 0.0, 'pad_reference': 'zero',
        'use_sim_time': True,
    })
    flags = graph.listen(DiagnosticArray, 'flight_state/flags', qos.LATCHED)
    if celsius is not None:
        thermometer = graph.talk(Temperature, 'flight_state/temperature', qos.LOCKSTEP)
        message = Temperature(temperature=celsius)
        message.header.stamp = ns_to_stamp(0)
        thermometer.publish(message)
        graph.until(lambda: graph.nodes[0].loop._asides.newest_ns is not None, 'the temperature')
    sensor = graph.talk(Odometry, 'flight_state/odometry', qos.LOCKSTEP)
    for i in range(COUNT):
        message = Odometry()
        message.header.stamp = ns_to_stamp(BEGIN_NS + i * PERIOD_NS)
        message.pose.pose.position.z = 0.1 * i
        message.twist.twist.linear.x = speed + 0.1 * (i % 2)
        message.twist.twist.linear.z = 5.0
        sensor.publish(message)

    last_ns = BEGIN_NS + (COUNT - 1) * PERIOD_NS
    graph.until(lambda: graph.nodes[0].loop.stamp_ns == last_ns, 'the last sample')
    graph.until(lambda: flags_of(flags).get('health') == health, health)
