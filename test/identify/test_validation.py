# SPDX-License-Identifier: Apache-2.0
"""Which lag and which curve is chosen, of families that are not rotors."""
from __future__ import annotations

import numpy as np
import pytest
from identify_benches import BENCHES
from identify_truth import BODY, full, recorded

from parts import few_of
from propulsion_ros.identify.candidates import Candidates
from propulsion_ros.identify.fit import fitted_coarse
from propulsion_ros.identify.free import free_parameters
from propulsion_ros.identify.problem import Problem, Setup
from propulsion_ros.identify.validation import recommended, variants
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.flat import parameters_of

ONE = {'names': ['a'], 'position': [0.0, 0.0, 0.0]}
SPEEDS = '-500 -300 -150 0 150 300 500'


def chosen(name, truth, fit):
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
    _, place = fitted_coarse(problem, thin=True)
    found = variants(problem, name, schema, values, float(place[0]), lambda what: None)
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
    found, name_of_best = chosen(name, truth, fit)
    assert name_of_best == best
    assert len(found) == (8 if name == 'thrusters' else 6)
