# SPDX-License-Identifier: Apache-2.0
"""A fit of a curve sets that of every actuator which has one, and no other."""
from __future__ import annotations

import numpy as np
import pytest
from identify_truth import full

from propulsion_ros.identify.fit import Search
from propulsion_ros.identify.free import free_parameters
from propulsion_ros.identify.problem import Problem
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.errors import ConfigError, SourceError
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


PAIR = {
    'names': ['a', 'b', 'c'], 'max_thrust': [9.0, 4.0, 9.0], 'motor_constant': [1e-5],
    'time_constant_up': [0.1, 0.2, 0.3], 'command_interface': 'throttle', 'esc_kind': 'polynomial',
    'thrust_curve_kind': 'polynomial', 'esc_curve': ['0 9', '0 4', '0 9'],
}


def free_of(names, values=PAIR):
    schema = list(parameters_of(FAMILIES['rotors'].Params))
    return free_parameters(
        [f'rotors.{name}' for name in names], 'rotors', schema, full('rotors', values), {}
    )


def changes_of(free):
    """Return the flat parameters where each number is as many times its start as its place."""
    problem = Problem.__new__(Problem)
    problem.free = free
    start = np.concatenate([each.start for each in free])
    return problem.changes(start * (2.0 + np.arange(len(start))))


@pytest.mark.parametrize('key', ['esc_curve', 'thrust_curve'])
@pytest.mark.parametrize('kind', ['polynomial', 'table'])
def test_curves_that_differ_are_not_fitted_as_one(key, kind):
    """All got that of the first, without a word."""
    curves = ['0 0 1 9', '0 0 1 4', '0 0 1 9'] if kind == 'table' else ['0 9', '0 4', '0 9']
    with pytest.raises(SourceError, match=fr'got 2; for one each fit rotors.{key}\[\*\]'):
        free_of([key], {
            **PAIR, 'thrust_curve_kind': kind, 'esc_kind': kind, 'esc_curve': curves[:1],
            key: curves,
        })


def test_each_actuator_has_a_curve_of_its_own():
    free = free_of(['esc_curve[*]'])
    assert [name for each in free for name in each.names] == [
        f'rotors.esc_curve[{i}][{k}]' for i in range(3) for k in range(2)
    ]
    assert changes_of(free) == {'esc_curve': ['0 27', '0 20', '0 63']}
    assert changes_of(free_of(['esc_curve[1]'])) == {'esc_curve': ['0 9', '0 12', '0 9']}
    # Without a curve each begins with its own constant.
    constants = {**PAIR, 'motor_constant': [1e-5, 2e-5, 3e-5]}
    assert changes_of(free_of(['thrust_curve[0]'], constants)) == {
        'thrust_curve': ['0 0 4e-05', '0 0 2e-05', '0 0 3e-05'],
    }
    with pytest.raises(SourceError, match='there are 3 values'):
        free_of(['esc_curve[3]'])


def test_numbers_of_several_actuators_stand_beside_each_other():
    """The last one put the others back to what they were."""
    names = ['time_constant_up[0]', 'time_constant_up[2]']
    found = changes_of(free_of([*names, 'time_constant_down']))
    np.testing.assert_allclose(found['time_constant_up'], [0.2, 0.2, 0.9])


@pytest.mark.parametrize(('family', 'key', 'values'), [
    ('boosters', 'thrust_curve[*]', MOTORS), ('thrusters', 'output_values[0]', TABLES),
])
def test_a_curve_that_is_one_for_all_takes_no_bracket(family, key, values):
    with pytest.raises(SourceError, match=f'expected {family}.{key.partition("[")[0]}, one for'):
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


class Bounded:
    """Sines of two parameters, of which a model refuses those above 1."""

    names, scale, cuts = ['a', 'b'], np.ones(2), [slice(0, 9)]
    lower, upper = np.full(2, -9.0), np.full(2, 9.0)
    rates = np.random.default_rng(1).normal(size=(9, 2))

    def is_refused(self, place):
        return bool(place.max() > 1.0)

    def residuals(self, places):
        if any(map(self.is_refused, places)):
            raise ConfigError('a', 'above 1')
        return np.sin(places @ self.rates.T)


def test_beside_what_a_model_refuses_derivatives_are_those_of_the_other_side():
    search, edge, inside = Search(Bounded()), np.array([1.0, 0.2]), np.array([0.1, 0.2])
    for place in (edge, inside):
        true = np.cos(Bounded.rates @ place)[:, None] * Bounded.rates
        np.testing.assert_allclose(search.jacobian(place), true, atol=5e-3)
        np.testing.assert_allclose(search.flattest(place), true, atol=0.6)
    beyond, (residuals, _) = search.at_all(np.array([[2.0, 0.0], inside]))
    # The search turns back from it.
    assert np.square(beyond[0]).sum() > 9.0 * np.square(residuals).sum()
    assert not beyond[1].any()
    np.testing.assert_array_equal(residuals, search.residuals(inside))
    assert np.isfinite(search.at_any(np.array([edge, [2.0, 0.0]]))).all(axis=1).tolist() == [
        True, False,
    ]
