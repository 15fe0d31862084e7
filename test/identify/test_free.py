# SPDX-License-Identifier: Apache-2.0
"""A fit of a curve sets that of every actuator which has one, and no other."""
from __future__ import annotations

import numpy as np
import pytest
from identify_truth import full

from propulsion_ros.identify.free import free_parameters
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import parameters_of

MOTORS = {
    'names': ['a', 'b', 'engine'], 'max_thrust': [10.0, 10.0, 5.0],
    'max_fuel_rate': [0.1, 0.1, 0.1], 'thrust_curve': ['0 10 1 10 2 0', '0 10 1 10 2 0', ''],
}
TABLES = {
    'names': ['a', 'b'], 'conversion': 'linear_interp', 'input_values': ['-1 0 1'] * 2,
    'output_values': ['-2 0 2'] * 2, 'axis': [1, 0, 0] * 2, 'position': [0.0] * 6,
}


def curve_of(family, key, values):
    schema = list(parameters_of(FAMILIES[family].Params))
    (free,) = free_parameters([f'{family}.{key}'], family, schema, full(family, values), {})
    return free


def test_motors_with_one_curve_get_the_same_one():
    found = curve_of('boosters', 'thrust_curve', MOTORS).changes(np.array([11.0, 12.0, 0.0]))
    assert found['thrust_curve'] == ['0 11 1 12 2 0'] * 2 + ['']
    assert found['max_thrust'] == [12.0, 12.0, 5.0]


@pytest.mark.parametrize(('family', 'key', 'values'), [
    ('boosters', 'thrust_curve', {
        **MOTORS, 'thrust_curve': ['0 10 1 10 2 0', '0 10 3 10 4 0', ''],
    }),
    ('thrusters', 'output_values', {**TABLES, 'output_values': ['-2 0 2', '-9 0 9']}),
    ('thrusters', 'output_values', {**TABLES, 'input_values': ['-1 0 1', '-3 0 3']}),
])
def test_several_curves_that_differ_are_refused(family, key, values):
    with pytest.raises(SourceError, match='expected the same curve for each actuator that has one'):
        curve_of(family, key, values)


ROTORS = {'names': ['a'], 'max_thrust': [9.0], 'motor_constant': [1e-5]}
ESC = {**ROTORS, 'command_interface': 'throttle', 'esc_curve': ['0 1 2'], 'esc_kind': 'polynomial'}


@pytest.mark.parametrize(('family', 'curve', 'start', 'lowest'), [
    pytest.param('thrusters', '0 -40 0.5 0 1 50', [-40.0, 40.0, 50.0], -np.inf, id='reverses'),
    pytest.param('rotors', '0 0 0.5 3 1 9', [0.0, 3.0, 6.0], 0.0, id='pushes'),
])
def test_a_table_over_the_throttle_begins_as_it_is(family, curve, start, lowest):
    """That of a thruster was fitted as if it began at 0: its thrust astern was lost."""
    values = {**ROTORS, 'command_interface': 'throttle', 'esc_kind': 'table', 'esc_curve': [curve]}
    values = values if family == 'rotors' else {
        **values, 'motor_constant': None, 'rotor_constant': [1e-4],
    }
    free = curve_of(family, 'esc_curve', {k: v for k, v in values.items() if v is not None})
    assert free.start.tolist() == start
    assert free.lower.tolist() == [lowest, 0.0, 0.0]
    assert free.changes(free.start) == {'esc_curve': [curve]}


@pytest.mark.parametrize(('key', 'values', 'units'), [
    pytest.param('thrust_curve', {**ROTORS, 'thrust_curve_kind': 'polynomial'},
                 ['N', 'N s/rad', 'N s^2/rad^2'], id='thrust over speed'),
    pytest.param('esc_curve', {**ESC, 'esc_gives': 'speed'}, ['rad/s'] * 3, id='speed'),
    pytest.param('esc_curve', {**ESC, 'esc_gives': 'thrust'}, ['N'] * 3, id='thrust'),
    pytest.param('esc_curve', {
        **ESC, 'esc_gives': 'speed', 'esc_kind': 'table', 'esc_curve': ['0 0 1 800'],
    }, ['rad/s'] * 2, id='table of speeds'),
])
def test_numbers_of_a_curve_have_units(key, values, units):
    free = curve_of('rotors', key, values)
    assert [*(free.units or [free.unit] * len(free.start))] == units
