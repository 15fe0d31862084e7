# SPDX-License-Identifier: Apache-2.0
"""A case has the same numbers in every run, whatever else varies."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.draws import Variable, generator, read_variable, seed_of

MANY = 4000
DRAWN = [
    ('normal', [2.0, 0.5], stats.norm(2.0, 0.5)),
    ('uniform', [1.0, 3.0], stats.uniform(1.0, 2.0)),
    ('loguniform', [0.1, 10.0], stats.loguniform(0.1, 10.0)),
    ('truncnorm', {'a': -1.0, 'b': 2.0, 'loc': 1.0}, stats.truncnorm(-1.0, 2.0, 1.0)),
]


@pytest.mark.parametrize(('kind', 'given', 'truth'), DRAWN, ids=[row[0] for row in DRAWN])
def test_draws_have_their_distribution(kind, given, truth):
    variable = read_variable('here', 'a', {kind: given})
    count = MANY if kind != 'truncnorm' else 300
    drawn = [variable.draw(7, case) for case in range(count)]
    assert stats.kstest(drawn, truth.cdf).pvalue > 1e-3
    assert drawn[:5] == [variable.draw(7, case) for case in range(5)]


def test_integers_and_choices_are_all_drawn():
    die = read_variable('here', 'die', {'integers': [1, 6]})
    assert {die.draw(0, case) for case in range(200)} == set(range(1, 7))
    assert type(die.draw(0, 0)) is int
    sides = read_variable('here', 'side', {'choice': ['left', 'right']})
    assert {sides.draw(0, case) for case in range(50)} == {'left', 'right'}


def test_a_counter_counts():
    assert [Variable('n', 'counter', 5).draw(1, case) for case in (0, 3)] == [5, 8]


def test_a_case_is_a_child_of_the_study():
    child = np.random.SeedSequence(9).spawn(18)[17]
    assert generator(9, 17).random() == np.random.default_rng(child).random()
    assert seed_of(9, 17) == child.generate_state(1)[0]


def test_names_are_drawn_apart():
    one, other = (Variable(name, 'uniform', [0.0, 1.0]) for name in 'ab')
    pairs = [(one.draw(0, case), other.draw(0, case)) for case in range(500)]
    assert abs(np.corrcoef(np.transpose(pairs))[0, 1]) < 0.15


@pytest.mark.parametrize(('given', 'message'), [
    (1.0, 'expected one distribution such as normal'),
    ({}, 'expected one distribution, got none'),
    ({'normal': [0, 1], 'uniform': [0, 1]}, 'expected one distribution, got normal, uniform'),
    ({'normal': [1.0]}, r'normal: expected mean and standard deviation, got \[1.0\]'),
    ({'normal': [1.0, -1.0]}, 'expected mean and standard deviation'),
    ({'uniform': [2, 1]}, r'expected lower and upper bound, got \[2, 1\]'),
    ({'loguniform': [0, 1]}, 'above 0'),
    ({'integers': [0.5, 2]}, 'expected the first and the last integer'),
    ({'grid': []}, r'expected a list of values, got \[\]'),
    ({'counter': 0.5}, 'expected the integer of case 0, got 0.5'),
    ({'normale': [0, 1]}, "unknown distribution, did you mean 'normal'?"),
    ({'truncnorm': {'loc': 0.0}}, 'expected loc, scale and the shapes'),
    ({'truncnorm': [0, 1]}, r'expected loc, scale and the shapes of scipy.stats by name, got'),
    ({'norm': {'scale': -1.0}}, 'that make a distribution'),
    ({'normal': [1, 0.1], 'is': 'percent'}, 'is: expected one of value, factor, offset, got'),
])
def test_what_is_no_distribution_is_refused(given, message):
    with pytest.raises(SourceError, match=message) as caught:
        read_variable('study.yaml:4: vary: a', 'a', given)
    assert str(caught.value).startswith('study.yaml:4: vary: a')
