# SPDX-License-Identifier: Apache-2.0
"""Solid motors whose file a parameter names."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.graph.motor_file import read_motor
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import all_faults, build

FILE = str(Path(__file__).resolve().parents[2] / 'data' / 'motors.eng')
T11 = read_motor(FILE, 'T11')
ONE = {'names': ['a'], 'motor_file': FILE, 'motor': 'T11'}
TANK = {'tank': 'grain', 'tanks.names': ['grain']}


def test_a_file_gives_curve_thrust_flow_and_propellant():
    params = build(BoostersParams, {**ONE, **TANK})
    assert params.thrust_curve == (T11.text,)
    assert params.max_thrust == T11.max_thrust
    assert params.max_fuel_rate == T11.max_fuel_rate
    assert params.tanks.capacity == T11.propellant_mass
    model, impulse = Boosters(params), 0.0
    for i in range(2000):
        output = model.step(Command(effort=[1.0]), BodyState(), 0.01, i)
        impulse += output.applied[0] * 0.01
    assert impulse == pytest.approx(T11.total_impulse, rel=1e-9)
    assert model.propellant[0] == pytest.approx(0.0, abs=1e-12)


def test_others_of_the_group_keep_their_own():
    params = build(BoostersParams, {
        'names': ['a', 'b'], 'motor_file': ['', FILE], 'motor': ['', 'T11'],
        'max_thrust': [500.0, 0.0], 'max_fuel_rate': [0.2, 0.0], **TANK, 'tank': ['', 'grain'],
        'tanks.capacity': 0.04,
    })
    np.testing.assert_array_equal(params.max_thrust, [500.0, T11.max_thrust])
    np.testing.assert_array_equal(params.max_fuel_rate, [0.2, T11.max_fuel_rate])
    assert params.thrust_curve == ('', T11.text)
    assert params.tanks.capacity == 0.04


def test_the_same_value_beside_the_file_is_no_fault():
    once = {**ONE, 'max_thrust': T11.max_thrust, 'thrust_curve': T11.text}
    assert not list(all_faults(BoostersParams, once))


@pytest.mark.parametrize(('values', 'problem'), [
    ({'motor': 'T12'}, "0 motors named 'T12'"), ({'motor': ''}, 'no name was given'),
    ({'motor_file': 'absent.eng'}, 'absent.eng'), ({'motor_file': [3]}, 'expected a string'),
    ({'max_thrust': 7.0}, r'max_thrust\[0\]\': 7.0, but the motor_file has 20.0'),
    ({'thrust_curve': '0 1 2 0'}, 'thrust_curve'), ({'motor': ['T11', 'T11']}, 'expected 1'),
    ({'names': ['a', 'b'], 'motor_file': [FILE, '']}, 'max_thrust.*is required'),
])
def test_what_does_not_fit_is_one_error(values, problem):
    given = {**ONE, **values}
    with pytest.raises(ConfigError, match=problem):
        build(BoostersParams, given)
    assert any(
        re.search(problem, str(error)) for error in all_faults(BoostersParams, given)
    )


def test_python_is_pointed_to_the_reader():
    with pytest.raises(ConfigError, match='read_motor'):
        BoostersParams(names=['a'], max_thrust=1.0, max_fuel_rate=0.1, motor_file=FILE)
