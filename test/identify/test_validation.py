# SPDX-License-Identifier: Apache-2.0
"""Which lag and which curve is chosen, of families that are not rotors."""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from identify_benches import BENCHES
from identify_truth import BODY, full, recorded

from parts import few_of
from propulsion_ros.identify import validation
from propulsion_ros.identify.candidates import Candidates
from propulsion_ros.identify.fit import fitted_coarse
from propulsion_ros.identify.free import free_parameters
from propulsion_ros.identify.problem import Problem, Setup
from propulsion_ros.identify.reading import Series
from propulsion_ros.identify.validation import choices, recommended, variants
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.flat import parameters_of

ONE = {'names': ['a'], 'position': [0.0, 0.0, 0.0]}
SPEEDS = '-500 -300 -150 0 150 300 500'


def chosen(name, truth, fit, left_out):
    """Return the variants of a bench run with the true values, by name, and the recommended one."""
    bench, rng = BENCHES[name], np.random.default_rng(4)
    one = {**bench.fixed, **(ONE if 'position' in bench.fixed else {})}
    if 'axis' in one:
        one['axis'] = one['axis'][:3]
    recording = recorded(bench, {**one, **truth}, rng)
    begin = {**one, 'time_constant': 0.1}
    if name == 'thrusters':
        begin |= {'conversion': 'basic', 'rotor_constant': 3e-4}
    values, schema = full(name, begin), list(parameters_of(FAMILIES[name].Params))
    free = free_parameters([f'{name}.{key}' for key in fit], name, schema, values, {})
    problem = Problem(Setup(
        recording, Candidates(FAMILIES[name], values), tuple(free), BODY, 'wrench'
    ))
    _, place = fitted_coarse(problem, problem.start)
    found = variants(problem, name, schema, values, float(place[0]), lambda what: None, left_out)
    return {each.name: each for each in found}, recommended(found).name


@pytest.mark.parametrize(('name', 'truth', 'fit', 'best'), few_of([
    ('thrusters', {
        'conversion': 'dead_zone', 'time_constant': 0.15, 'rotor_constant_left': 2e-4,
        'rotor_constant_right': 4e-4, 'delta_left': 0.0, 'delta_right': 0.0,
    }, ['time_constant', 'rotor_constant'], 'one lag, k w|w| each way'),
    ('thrusters', {
        'conversion': 'basic', 'time_constant': 0.0, 'rotor_constant': 3e-4,
    }, ['time_constant', 'rotor_constant'], 'no lag, k w|w|'),
    ('thrusters', {
        'conversion': 'dead_zone', 'time_constant': 0.15, 'rotor_constant_left': 2e-4,
        'rotor_constant_right': 4e-4, 'delta_left': -4e4, 'delta_right': 5e4,
    }, ['time_constant', 'rotor_constant'], 'one lag, k w|w| each way, dead zone'),
    ('thrusters', {
        'conversion': 'linear_interp', 'time_constant': 0.15, 'input_values': [SPEEDS],
        'output_values': ['-35 -30 -12 0 10 40 50'],
    }, ['time_constant', 'rotor_constant'], 'one lag, table'),
    ('boosters', {
        'time_constant': 0.1, 'esc_curve': '50 500',
    }, ['time_constant', 'esc_curve'], 'one lag, linear'),
    ('boosters', {
        'time_constant': 0.1, 'esc_curve': '80 300 400',
    }, ['time_constant', 'esc_curve'], 'one lag, quadratic'),
], 6))
def test_the_model_of_the_truth_is_recommended(name, truth, fit, best):
    left_out = []
    found, name_of_best = chosen(name, truth, fit, left_out)
    assert name_of_best == best
    assert left_out == []
    assert len(found) == (8 if name == 'thrusters' else 6)


def test_the_speeds_of_a_signed_table_have_one_0():
    """Those up to 97 had 1.4e-14 in the middle, and the table could not be fitted."""
    for fastest in (97.0, 99.98, 104.7, 512.3):
        commands = {'a': Series(np.arange(2.0), np.array([0.0, fastest]))}
        problem = SimpleNamespace(
            free=[SimpleNamespace(keys=('rotor_constant',))],
            setup=SimpleNamespace(recording=SimpleNamespace(commands=commands)),
        )
        values = full('thrusters', {**ONE, 'conversion': 'basic', 'rotor_constant': 3e-4})
        schema = list(parameters_of(FAMILIES['thrusters'].Params))
        *_, (name, names, _, fixed) = choices(problem, 'thrusters', schema, values)
        assert name == 'table'
        (free,) = free_parameters(names, 'thrusters', schema, {**values, **fixed}, {})
        assert len(free.start) == 6


def test_a_model_that_cannot_be_built_is_left_out(monkeypatch):
    monkeypatch.setattr(validation, '_words', lambda numbers: '1 2')
    left_out = []
    found, _ = chosen('thrusters', {
        'conversion': 'basic', 'time_constant': 0.0, 'rotor_constant': 3e-4,
    }, ['time_constant', 'rotor_constant'], left_out)
    assert len(found) == 6
    assert [line.partition(' is left out: ')[0] for line in left_out] == [
        '--choose: no lag, table', '--choose: one lag, table'
    ]
