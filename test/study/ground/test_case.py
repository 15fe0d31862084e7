# SPDX-License-Identifier: Apache-2.0
"""Cases: the same numbers always give the same readings."""
from __future__ import annotations

import numpy as np
import pytest

from parts import PART
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.ground.case import SITUATIONS, SOURCES, Case, draw

SHORT = {'length': 20.0}


@pytest.mark.parametrize(('i', 'situation'), [
    pytest.param(i, situation, id=situation) for i, situation in enumerate(SITUATIONS)
])
def test_every_situation_can_be_drawn(i, situation):
    every = list(enumerate(SOURCES))
    # `make test` draws each by one source, in turn.
    for seed, source in every if PART else [every[i % len(every)]]:
        drawn = draw(Case(situation, source, seed, faults=seed % 3, restarts=1, pins=SHORT))
        scene, motion = drawn.scene, drawn.scene.motion
        assert scene.begin <= drawn.restarts[0][0] <= max(scene.end, scene.begin + 0.1)
        assert scene.end < motion.end
        for values in (motion.height, motion.speed, motion.force, motion.rate, motion.port):
            assert np.isfinite(values).all()
            assert len(values) == len(motion.time)
        for stream in drawn.streams.values():
            assert (np.diff(stream.arrival) >= 0.0).all()
        assert not motion.is_aloft[:500].any()
        assert not motion.is_aloft[-500:].any()


@pytest.mark.parametrize('source', SOURCES)
def test_readings_are_the_same_again(source):
    case = Case('wind', source, 5, faults=1, pins=SHORT)
    first, again = draw(case).streams, draw(case).streams
    assert set(SOURCES[source]) <= set(first)
    for name, stream in first.items():
        for column in ('stamp', 'arrival', 'values'):
            values = getattr(stream, column)
            np.testing.assert_array_equal(values, getattr(again[name], column))
            assert len(values) == len(stream.stamp)


def test_a_number_that_is_given_changes_nothing_else():
    first = draw(Case('wind', 'sensors', 5, pins=SHORT)).numbers
    again = draw(Case('wind', 'sensors', 5, pins={**SHORT, 'wind': 3.0})).numbers
    assert {key for key in first if first[key] != again[key]} == {'wind'}


@pytest.mark.parametrize(('source', 'faults', 'expected'), [
    ('pressure', 0, 'none'), ('pressure', 1, 'only'), ('odometry', 1, 'only'),
    ('sensors', 1, 'beside'), ('sensors', 2, 'two'), ('pressure', 2, 'two'),
])
def test_the_class_of_its_faults(source, faults, expected):
    assert draw(Case('rest', source, 3, faults, pins=SHORT)).fault_class(source) == expected


@pytest.mark.parametrize(('given', 'text'), [
    ({'situation': 'winds'}, "got 'winds', did you mean 'wind'"),
    ({'source': 'baro'}, 'expected one of pressure'),
    ({'faults': [('imu', 'step')]}, 'imu has'),
])
def test_what_is_none_is_refused(given, text):
    with pytest.raises(SourceError, match=text):
        draw(Case(**{'situation': 'rest', 'source': 'sensors', 'seed': 1, 'pins': SHORT, **given}))


@pytest.mark.parametrize(('second', 'expected'), [
    pytest.param(12.0, ((10.0, 5.0),), id='while it is off'),
    pytest.param(16.0, ((10.0, 5.0), (16.0, 2.0)), id='while it is on'),
])
def test_a_computer_that_is_off_loses_no_power(second, expected):
    pins = {**SHORT, 'restart.at': 10.0, 'restart.away': 5.0, 'restart1.at': second,
            'restart1.away': 2.0}
    assert draw(Case('rest', 'pressure', 1, restarts=2, pins=pins)).restarts == expected


def test_a_word_is_one_of_those_that_the_situation_draws():
    assert draw(Case('low flight', 'pressure', 1, pins={'request': 'abort'})).scene.requests
    with pytest.raises(SourceError, match=r"request: expected one of \['', .* got 'x'"):
        Case('low flight', 'pressure', 1, pins={'request': 'x'})
