# SPDX-License-Identifier: Apache-2.0
"""Plain objects are, byte by byte, the messages that a node would publish of the same payloads."""
from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rosbags')

from benchmarks.wire import Wire
from propulsion_ros.loops.payloads import (
    BatteryRow,
    ImuRow,
    JointRow,
    MassRow,
    OdometryRow,
    PressureRow,
    StatusRow,
)
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.messages.encoders import make_encoder
from propulsion_ros.replay.plain import clock_message, plain_message

WIRE = Wire()
STAMP_NS = 12_000_000_034
TENSOR = np.array([[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 3.0]])


@pytest.mark.parametrize(('kind', 'payload', 'names'), [
    pytest.param('geometry_msgs/msg/WrenchStamped', np.arange(6.0) / 3.0, (), id='wrench'),
    pytest.param('sensor_msgs/msg/JointState', JointRow(
        np.array([0.1, np.nan]), None, [1.0, -2.0]), ('a', 'ö'), id='names of the outlet'),
    pytest.param('sensor_msgs/msg/JointState', JointRow(
        effort=[1.0], names=('b',)), (), id='names of the row'),
    pytest.param('sensor_msgs/msg/JointState', JointRow(), (), id='empty'),
    pytest.param('geometry_msgs/msg/InertiaStamped', MassRow(
        2.0, np.array([0.1, 0.2, 0.3]), TENSOR), (), id='mass'),
    pytest.param('sensor_msgs/msg/BatteryState', BatteryRow(
        'main', 5.0, np.float64(14.6), np.float64(21.5), np.float64(0.4)), (), id='battery'),
    pytest.param('nav_msgs/msg/Odometry', OdometryRow(
        'body', (1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8), (4.0, 5.0, 6.0), (0.1, 0.2, 0.3),
        np.arange(36.0), None), (), id='odometry'),
    pytest.param('geometry_msgs/msg/PointStamped', (0.0, 0, np.float64(7.0)), (), id='point'),
    pytest.param('geometry_msgs/msg/TwistStamped', np.array([1.0, 2.0, 3.0]), (), id='twist'),
    pytest.param('sensor_msgs/msg/Imu', ImuRow((1.0, 2.0, 3.0), np.array([4.0, 5.0, 6.0])), (),
                 id='imu'),
    pytest.param('sensor_msgs/msg/FluidPressure', PressureRow(np.float64(1e5), 4.0), (),
                 id='pressure'),
    pytest.param('diagnostic_msgs/msg/DiagnosticArray', [
        StatusRow('a', 'b', [('k', 'v'), ('k', 'w')], 'warn', 'h'), StatusRow('c'),
    ], (), id='statuses'),
    pytest.param('std_msgs/msg/String', 'flight', (), id='text'),
    pytest.param('std_msgs/msg/Bool', True, (), id='flag'),
    pytest.param('std_msgs/msg/Float64', np.float64(0.1), (), id='number'),
    pytest.param('std_msgs/msg/Int32MultiArray', [1, -2, 3], (), id='integers'),
])
def test_a_payload_makes_the_message_of_a_node(kind, payload, names):
    outlet = Outlet('~/out', kind, 'result', 'body', names)
    message = make_encoder(outlet)(STAMP_NS, payload)
    published = (
        WIRE.canonical(message, kind) if isinstance(message, bytes) else WIRE.write(message, kind)
    )
    assert WIRE.serialise(plain_message(outlet, STAMP_NS, payload), kind) == published


def test_clock_is_that_of_a_node():
    kind = 'rosgraph_msgs/msg/Clock'
    message = make_encoder(Outlet('/clock', kind, 'clock'))(STAMP_NS, None)
    assert WIRE.serialise(clock_message(STAMP_NS), kind) == WIRE.write(message, kind)


def test_what_is_published_may_change_afterwards():
    values = np.array([1.0, 2.0])
    outlet = Outlet('~/state', 'sensor_msgs/msg/JointState', 'result', 'body', ('a', 'b'))
    message = plain_message(outlet, 0, JointRow(position=values))
    values[:] = 0.0
    assert message.position.tolist() == [1.0, 2.0]
