from __future__ import annotations

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

from propulsion_ros.errors import CommandError
from propulsion_ros.models.boosters import Boosters, BoostersParams
from propulsion_ros.models.gimbals import GimbalsParams
from propulsion_ros.nodes.conversions import (
    CommandReader,
    inertia_to_msg,
    msg_to_inertia,
    msg_to_wrench,
    ns_to_stamp,
    stamp_to_ns,
    wrench_to_msg,
)

NAN, INF = math.nan, math.inf


@pytest.fixture(scope='module')
def reader():
    """Two boosters, the first one gimballed about x and y."""
    return CommandReader(Boosters(BoostersParams(
        names=['a', 'b'], max_thrust=1000.0, max_fuel_rate=1.0,
        gimbals=GimbalsParams(booster=['a'], joints=['x', 'y']),
    )))


@pytest.mark.parametrize(('message', 'columns', 'values'), [
    pytest.param({'name': ['b', 'a'], 'effort': [2.0, 1.0]}, [1, 0], [2, 1], id='any order'),
    pytest.param({'name': ['y'], 'position': [0.1]}, [3], [0.1], id='a subset'),
    pytest.param(
        {'name': ['a', 'x'], 'effort': [5.0, NAN], 'position': [NAN, 0.2]}, [0, 2], [5, 0.2],
        id='mixed fields',
    ),
    pytest.param({'name': ['a'], 'effort': [NAN]}, [0], [0], id='NaN shuts a booster down'),
    pytest.param(
        {'name': ['a'], 'effort': [1.0], 'velocity': [NAN]}, [0], [1], id='NaN is not meant'
    ),
])
def test_good_commands(reader, message, columns, values):
    update = reader.read(JointState(**message))
    np.testing.assert_array_equal(update.columns, columns)
    np.testing.assert_array_equal(update.values, values)


@pytest.mark.parametrize(('message', 'text'), [
    pytest.param({}, 'no names, expected some of: a, b, x, y', id='empty'),
    pytest.param(
        {'name': ['c'], 'effort': [1.0]}, "unknown name 'c', known: a, b, x, y", id='unknown'
    ),
    pytest.param({'name': ['a', 'a'], 'effort': [1.0, 2.0]}, "'a' is named twice", id='twice'),
    pytest.param(
        {'name': ['a', 'b'], 'effort': [1.0]},
        'effort: expected 2 values, one per name, got 1', id='too short',
    ),
    pytest.param(
        {'name': ['a'], 'effort': [1.0, 2.0]},
        'effort: expected 1 values, one per name, got 2', id='too long',
    ),
    pytest.param({'name': ['a'], 'effort': [INF]}, 'a: effort is infinite', id='infinite'),
    pytest.param(
        {'name': ['a'], 'effort': [1.0], 'velocity': [-INF]}, 'a: velocity is infinite',
        id='infinite where it is not meant',
    ),
    pytest.param({'name': ['x'], 'position': [NAN]}, 'x: position is NaN', id='NaN gimbal'),
    pytest.param({'name': ['a'], 'position': [0.1]},
                 'a: takes effort, got position 0.1; NaN means that a field is not meant',
                 id='wrong field'),
    pytest.param({'name': ['a']}, 'a: takes effort, got none', id='no value'),
    pytest.param({'name': ['a'], 'effort': [-1.0]},
                 'a: effort -1 N is negative, a booster only pushes', id='negative'),
])
def test_refused_commands(reader, message, text):
    with pytest.raises(CommandError) as error:
        reader.read(JointState(**message))
    assert str(error.value) == text


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
