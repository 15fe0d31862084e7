# SPDX-License-Identifier: Apache-2.0
"""Numbers go into the fields of messages, and come out of them as they were."""
from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Time

from propulsion_ros.loops.decoders import msg_to_wrench, stamp_to_ns
from propulsion_ros.loops.payloads import OdometryRow
from propulsion_ros.messages.fields import (
    ns_to_stamp,
    odometry_to_transform,
    wrench_to_msg,
)


@pytest.mark.parametrize('stamp_ns', [0, 1, 999_999_999, 1_000_000_000, 1_795_241_191_211_075_016])
def test_stamps_go_there_and_back(stamp_ns):
    assert stamp_to_ns(ns_to_stamp(stamp_ns)) == stamp_ns


def test_stamp_is_seconds_and_nanoseconds():
    assert ns_to_stamp(1_500_000_002) == Time(sec=1, nanosec=500_000_002)


def test_wrench_goes_there_and_back():
    wrench = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    message = wrench_to_msg(5, 'base_link', wrench)
    assert message.header.frame_id == 'base_link'
    assert message.wrench.torque.z == 6.0
    np.testing.assert_array_equal(msg_to_wrench(message), wrench)


def test_odometry_is_the_transform_of_its_child_frame():
    row = OdometryRow('base_link', (1.0, 2.0, 3.0), (0.5, -0.5, 0.5, 0.5), (), ())
    transform = odometry_to_transform(123, 'odom', row)
    assert transform.header.frame_id == 'odom'
    assert transform.header.stamp == ns_to_stamp(123)
    assert transform.child_frame_id == 'base_link'
    shift, rotation = transform.transform.translation, transform.transform.rotation
    assert (shift.x, shift.y, shift.z) == (1.0, 2.0, 3.0)
    assert (rotation.x, rotation.y, rotation.z, rotation.w) == (0.5, -0.5, 0.5, 0.5)
