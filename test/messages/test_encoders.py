# SPDX-License-Identifier: Apache-2.0
"""Encoded payloads are the messages that have the same numbers."""
from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from hypothesis import given
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from propulsion_ros.loops.decoders import msg_to_wrench, stamp_to_ns
from propulsion_ros.loops.payloads import (
    JointRow,
    OdometryRow,
)
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.messages.encoders import make_encoder
from propulsion_ros.messages.fields import (
    ODOMETRY_NUMBERS,
    doubles,
    ns_to_stamp,
    set_odometry,
)
from propulsion_ros.settings.names import type_name
from ros_graph import stamped, wrench_message

FIELDS = ('position', 'velocity', 'effort')
FLOATS = st.floats(width=64)
STAMPS = st.integers(0, (2**31 - 1) * 10**9)


def encoder(kind, frame='', names=()):
    """Return what gives the message of a payload, also where that is published as bytes."""
    encode = make_encoder(Outlet('~/out', type_name(kind), 'result', frame, names))

    def message(stamp_ns, payload):
        made = encode(stamp_ns, payload)
        return deserialize_message(made, kind) if isinstance(made, bytes) else made

    return message


def joint_state(names, stamp_ns, **fields):
    values = {field: doubles(values) for field, values in fields.items()}
    return stamped(JointState, stamp_ns, 'base_link', name=list(names), **values)


@pytest.mark.parametrize('stamp_ns', [0, 999_999_999, 1_000_000_000, 1_795_241_191_211_075_016])
def test_stamps_go_there_and_back(stamp_ns):
    stamp = ns_to_stamp(stamp_ns)
    assert stamp == Time(sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
    assert stamp_to_ns(stamp) == stamp_ns


@given(STAMPS, st.lists(FLOATS, min_size=6, max_size=6), st.text('abc/_', max_size=9))
def test_wrench_is_the_one_of_a_message(stamp_ns, values, frame):
    encode = encoder(WrenchStamped, frame)
    encode(stamp_ns, np.ones(6))
    sent = encode(stamp_ns, np.array(values))
    # As text NaN equals NaN.
    assert repr(sent) == repr(wrench_message(stamp_ns, values, frame))
    assert repr(sent.wrench.torque.z) == repr(values[5])
    np.testing.assert_array_equal(msg_to_wrench(sent), values)


@given(st.data(), STAMPS, st.integers(0, 5), st.booleans())
def test_state_is_the_one_of_a_message(data, stamp_ns, count, has_fixed_names):
    names = data.draw(st.lists(st.text('ab/_', max_size=9), min_size=count, max_size=count))
    encode = encoder(JointState, 'base_link', tuple(names) if has_fixed_names else ())
    for _ in range(3):
        # Which fields there are may change from message to message.
        fields = data.draw(st.sets(st.sampled_from(FIELDS)))
        values = {
            field: data.draw(st.lists(FLOATS, min_size=count, max_size=count))
            for field in sorted(fields)
        }
        row = JointRow(**values, names=() if has_fixed_names else names)
        assert repr(encode(stamp_ns, row)) == repr(joint_state(names, stamp_ns, **values))


@pytest.mark.parametrize('has_covariance', [False, True])
def test_odometry_is_the_one_of_a_message(has_covariance):
    encode = encoder(Odometry, 'odom')
    for start, child_frame in ((1.0, 'a'), (2.0, 'a'), (3.0, 'base_link')):
        numbers = np.arange(start, start + ODOMETRY_NUMBERS)
        if not has_covariance:
            numbers[7:43] = numbers[49:] = 0.0
        expected = stamped(Odometry, 7, 'odom', child_frame_id=child_frame)
        set_odometry(expected, numbers)
        row = OdometryRow(
            child_frame, numbers[:3], numbers[3:7].tolist(), numbers[43:46], numbers[46:49],
            *((numbers[7:43], numbers[49:]) if has_covariance else ()),
        )
        assert repr(encode(7, row)) == repr(expected)


def test_transform_is_that_of_an_odometry(monkeypatch):
    # Not every installation has the package.
    messages = SimpleNamespace(TFMessage=SimpleNamespace)
    monkeypatch.setitem(sys.modules, 'tf2_msgs', SimpleNamespace(msg=messages))
    monkeypatch.setitem(sys.modules, 'tf2_msgs.msg', messages)
    row = OdometryRow('base_link', (1.0, 2.0, 3.0), (0.5, -0.5, 0.5, 0.5), (), ())
    encode = make_encoder(Outlet('tf', 'tf2_msgs/msg/TFMessage', 'tf', 'odom'))
    (transform,) = encode(5, row).transforms
    assert transform.header == stamped(Odometry, 5, 'odom').header
    assert transform.child_frame_id == 'base_link'
    shift, rotation = transform.transform.translation, transform.transform.rotation
    assert (shift.x, shift.y, shift.z) == (1.0, 2.0, 3.0)
    assert (rotation.x, rotation.y, rotation.z, rotation.w) == (0.5, -0.5, 0.5, 0.5)
