from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry

from propulsion_ros.messages.fields import (
    WrenchReader,
    inertia_to_msg,
    msg_to_com,
    msg_to_inertia,
    msg_to_motion,
    msg_to_wrench,
    ns_to_stamp,
    odometry_to_transform,
    stamp_to_ns,
    wrench_to_msg,
)
from propulsion_ros.settings.errors import CommandError

NAN, INF = float('nan'), float('inf')


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


def test_inertia_goes_there_and_back():
    tensor = np.array([[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 3.0]])
    message = inertia_to_msg(5, 'base_link', 7.0, np.array([0.0, 0.5, 1.0]), tensor)
    assert message.header.frame_id == 'base_link'
    mass, com, inertia = msg_to_inertia(message)
    assert mass == 7.0
    np.testing.assert_array_equal(com, [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(inertia, tensor)


def test_demanded_wrench_becomes_an_update_of_all_six():
    wrench = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    for frame in ('base_link', ''):
        update = WrenchReader('base_link').read(wrench_to_msg(5, frame, wrench))
        np.testing.assert_array_equal(update.columns, np.arange(6))
        np.testing.assert_array_equal(update.values, wrench)


@pytest.mark.parametrize(('frame', 'part', 'text'), [
    pytest.param('map', 0.0, "expected the frame 'base_link', got 'map'", id='frame'),
    pytest.param('base_link', NAN, 'torque.z is not finite', id='NaN'),
    pytest.param('base_link', INF, 'torque.z is not finite', id='infinite'),
    pytest.param('base_link', -1.7e308, 'torque.z -1.7e.308 is beyond 1e.09', id='huge'),
])
def test_refused_demands(frame, part, text):
    message = wrench_to_msg(5, frame, np.array([1.0, 2.0, 3.0, 4.0, 5.0, part]))
    with pytest.raises(CommandError, match=text):
        WrenchReader('base_link').read(message)


@pytest.mark.parametrize(('frame', 'x', 'text'), [
    pytest.param('map', 0.0, "expected the frame 'base_link', got 'map'", id='frame'),
    pytest.param('base_link', NAN, 'is beyond', id='NaN'),
    pytest.param('base_link', 1e4, 'is beyond', id='far away'),
])
def test_refused_centres_of_mass(frame, x, text):
    message = inertia_to_msg(5, frame, 7.0, np.array([x, 0.5, 1.0]), np.eye(3))
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
    odometry = Odometry(child_frame_id='base_link')
    odometry.pose.pose.orientation.w = length
    with pytest.raises(CommandError, match=text):
        msg_to_motion(odometry, 'base_link')


def test_odometry_is_the_transform_of_its_child_frame():
    odometry = Odometry(child_frame_id='base_link')
    odometry.header.frame_id = 'odom'
    odometry.header.stamp = ns_to_stamp(123)
    at, turn = odometry.pose.pose.position, odometry.pose.pose.orientation
    at.x, at.y, at.z = 1.0, 2.0, 3.0
    turn.x, turn.y, turn.z, turn.w = 0.5, -0.5, 0.5, 0.5
    transform = odometry_to_transform(odometry)
    assert transform.header == odometry.header
    assert transform.child_frame_id == 'base_link'
    shift, rotation = transform.transform.translation, transform.transform.rotation
    assert (shift.x, shift.y, shift.z) == (1.0, 2.0, 3.0)
    assert (rotation.x, rotation.y, rotation.z, rotation.w) == (0.5, -0.5, 0.5, 0.5)
