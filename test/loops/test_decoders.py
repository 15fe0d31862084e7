# SPDX-License-Identifier: Apache-2.0
"""What is no number of a vehicle is refused, whoever made the message."""
import numpy as np
import pytest

from fake_host import message, wrench_message, xyz
from propulsion_ros.loops.decoders import (
    checked_stamp,
    demand_of,
    msg_to_com,
    msg_to_current,
    msg_to_motion,
)
from propulsion_ros.settings.errors import CommandError

NAN, INF = float('nan'), float('inf')


def odometry_message(child_frame, z, w):
    return message(
        child_frame_id=child_frame,
        twist={'twist': {'linear': xyz(1.0, 2.0, 3.0), 'angular': xyz()}},
        pose={'pose': {
            'position': xyz(4.0, 5.0, 6.0), 'orientation': {**xyz(0.0, 0.0, z), 'w': w},
        }},
    )


def test_demanded_wrench_becomes_an_update_of_all_six():
    wrench = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    for frame in ('base_link', ''):
        update = demand_of(wrench_message(5, wrench, frame), 'base_link')
        np.testing.assert_array_equal(update.columns, np.arange(6))
        np.testing.assert_array_equal(update.values, wrench)


@pytest.mark.parametrize(('frame', 'part', 'text'), [
    pytest.param('map', 0.0, "expected the frame 'base_link', got 'map'", id='frame'),
    pytest.param('base_link', NAN, 'torque.z is not finite', id='NaN'),
    pytest.param('base_link', INF, 'torque.z is not finite', id='infinite'),
    pytest.param('base_link', -1.7e308, 'torque.z -1.7e.308 is beyond 1e.09', id='huge'),
])
def test_refused_demands(frame, part, text):
    demand = wrench_message(5, [1.0, 2.0, 3.0, 4.0, 5.0, part], frame)
    with pytest.raises(CommandError, match=text):
        demand_of(demand, 'base_link')


@pytest.mark.parametrize(('frame', 'x', 'text'), [
    pytest.param('map', 0.0, "expected the frame 'base_link', got 'map'", id='frame'),
    pytest.param('base_link', NAN, 'is beyond', id='NaN'),
    pytest.param('base_link', 1e4, 'is beyond', id='far away'),
])
def test_refused_centres_of_mass(frame, x, text):
    with pytest.raises(CommandError, match=text):
        msg_to_com(message(5, frame, inertia={'com': xyz(x, 0.5, 1.0)}), 'base_link')


@pytest.mark.parametrize(('length', 'text'), [
    pytest.param(NAN, 'the orientation is not finite', id='NaN'),
    pytest.param(INF, 'the orientation is not finite', id='infinite'),
    pytest.param(0.0, 'the orientation is no rotation: its quaternion is 0 long', id='zeros'),
    pytest.param(1e200, 'the orientation is no rotation: its quaternion is 1e.200 long', id='huge'),
])
@pytest.mark.filterwarnings('error')
def test_refused_orientations(length, text):
    odometry = odometry_message('base_link', 0.0, length)
    with pytest.raises(CommandError, match=text):
        msg_to_motion(odometry, 'base_link')


def test_motion_is_that_of_the_frame():
    motion = msg_to_motion(odometry_message('base_link', 2.0, 2.0), 'base_link')
    np.testing.assert_array_equal(motion.velocity, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(motion.rotation @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)
    with pytest.raises(CommandError, match="expected the twist of 'base_link', got 'arm'"):
        msg_to_motion(odometry_message('arm', 0.0, 1.0), 'base_link')


def test_a_current_is_a_speed_in_the_world():
    current = message(5, 'odom', twist={'linear': xyz(1.0, 2.0, 3.0)})
    for world in ('odom', ''):
        np.testing.assert_array_equal(msg_to_current(current, world), [1.0, 2.0, 3.0])
    with pytest.raises(CommandError, match="expected the frame 'map', got 'odom'"):
        msg_to_current(current, 'map')
    current.twist.linear.z = NAN
    with pytest.raises(CommandError, match=r'current .* is beyond 100000 m/s'):
        msg_to_current(current, '')


@pytest.mark.parametrize(('sec', 'text'), [
    (2_140_000_001, 'stamp 2140000001.000 s is beyond 2140000000 s'),
    (-2_140_000_001, 'stamp -2140000001.000 s is beyond 2140000000 s'),
])
def test_stamps_near_the_end_of_time_are_refused(sec, text):
    assert checked_stamp(message(-4_999_999_993).header.stamp) == -4_999_999_993
    with pytest.raises(CommandError, match=text):
        checked_stamp(message(sec * 10**9).header.stamp)
