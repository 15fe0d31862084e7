# SPDX-License-Identifier: Apache-2.0
"""What is no number of a vehicle is refused, whoever made the message."""
from __future__ import annotations

from types import SimpleNamespace as Fields

import numpy as np
import pytest

from propulsion_ros.loops.decoders import (
    WrenchReader,
    checked_stamp,
    msg_to_com,
    msg_to_current,
    msg_to_motion,
)
from propulsion_ros.settings.errors import CommandError

NAN, INF = float('nan'), float('inf')


def vector(values):
    return Fields(**dict(zip('xyzw', values, strict=False)))


def header(frame):
    return Fields(frame_id=frame, stamp=Fields(sec=0, nanosec=5))


def wrench_message(frame, values):
    wrench = Fields(force=vector(values[:3]), torque=vector(values[3:]))
    return Fields(header=header(frame), wrench=wrench)


def odometry_message(child_frame, quaternion, linear=(0.0, 0.0, 0.0)):
    twist = Fields(linear=vector(linear), angular=vector((0.0, 0.0, 0.0)))
    return Fields(
        child_frame_id=child_frame, twist=Fields(twist=twist),
        pose=Fields(pose=Fields(
            position=vector((4.0, 5.0, 6.0)), orientation=vector(quaternion),
        )),
    )


def test_demanded_wrench_becomes_an_update_of_all_six():
    wrench = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    for frame in ('base_link', ''):
        update = WrenchReader('base_link').read(wrench_message(frame, wrench))
        np.testing.assert_array_equal(update.columns, np.arange(6))
        np.testing.assert_array_equal(update.values, wrench)


@pytest.mark.parametrize(('frame', 'part', 'text'), [
    pytest.param('map', 0.0, "expected the frame 'base_link', got 'map'", id='frame'),
    pytest.param('base_link', NAN, 'torque.z is not finite', id='NaN'),
    pytest.param('base_link', INF, 'torque.z is not finite', id='infinite'),
    pytest.param('base_link', -1.7e308, 'torque.z -1.7e.308 is beyond 1e.09', id='huge'),
])
def test_refused_demands(frame, part, text):
    message = wrench_message(frame, [1.0, 2.0, 3.0, 4.0, 5.0, part])
    with pytest.raises(CommandError, match=text):
        WrenchReader('base_link').read(message)


@pytest.mark.parametrize(('frame', 'x', 'text'), [
    pytest.param('map', 0.0, "expected the frame 'base_link', got 'map'", id='frame'),
    pytest.param('base_link', NAN, 'is beyond', id='NaN'),
    pytest.param('base_link', 1e4, 'is beyond', id='far away'),
])
def test_refused_centres_of_mass(frame, x, text):
    message = Fields(header=header(frame), inertia=Fields(com=vector((x, 0.5, 1.0))))
    with pytest.raises(CommandError, match=text):
        msg_to_com(message, 'base_link')


@pytest.mark.parametrize(('length', 'text'), [
    pytest.param(NAN, 'the orientation is not finite', id='NaN'),
    pytest.param(INF, 'the orientation is not finite', id='infinite'),
    pytest.param(0.0, 'the orientation is no rotation: its quaternion is 0 long', id='zeros'),
    pytest.param(1e200, 'the orientation is no rotation: its quaternion is 1e.200 long', id='huge'),
])
@pytest.mark.filterwarnings('error')
def test_refused_orientations(length, text):
    odometry = odometry_message('base_link', (0.0, 0.0, 0.0, length))
    with pytest.raises(CommandError, match=text):
        msg_to_motion(odometry, 'base_link')


def test_motion_is_that_of_the_frame():
    turned = odometry_message('base_link', (0.0, 0.0, 2.0, 2.0), (1.0, 2.0, 3.0))
    motion = msg_to_motion(turned, 'base_link')
    np.testing.assert_array_equal(motion.velocity, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(motion.rotation @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)
    with pytest.raises(CommandError, match="expected the twist of 'base_link', got 'arm'"):
        msg_to_motion(odometry_message('arm', (0.0, 0.0, 0.0, 1.0)), 'base_link')


def test_a_current_is_a_speed_in_the_world():
    message = Fields(header=header('odom'), twist=Fields(linear=vector((1.0, 2.0, 3.0))))
    for world in ('odom', ''):
        np.testing.assert_array_equal(msg_to_current(message, world), [1.0, 2.0, 3.0])
    with pytest.raises(CommandError, match="expected the frame 'map', got 'odom'"):
        msg_to_current(message, 'map')
    message.twist.linear.z = NAN
    with pytest.raises(CommandError, match=r'current .* is beyond 100000 m/s'):
        msg_to_current(message, '')


@pytest.mark.parametrize(('sec', 'text'), [
    (2_140_000_001, 'stamp 2140000001.000 s is beyond 2140000000 s'),
    (-2_140_000_001, 'stamp -2140000001.000 s is beyond 2140000000 s'),
])
def test_stamps_near_the_end_of_time_are_refused(sec, text):
    assert checked_stamp(Fields(sec=-5, nanosec=7)) == -4_999_999_993
    with pytest.raises(CommandError, match=text):
        checked_stamp(Fields(sec=sec, nanosec=0))
