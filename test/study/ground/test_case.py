# SPDX-License-Identifier: Apache-2.0
"""Cases: the same numbers always give the same readings."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.ground.case import SITUATIONS, SOURCES, Case, draw, readings_of, stacked

SHORT = {'length': 20.0}


@pytest.mark.parametrize('situation', SITUATIONS)
def test_every_situation_can_be_drawn(situation):
    for seed, source in enumerate(SOURCES):
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
    first, again = readings_of(case), readings_of(case)
    assert tuple(first) == SOURCES[source]
    for name, columns in first.items():
        for key, values in columns.items():
            np.testing.assert_array_equal(values, again[name][key])
            assert len(values) == len(columns['stamp'])


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


def test_vehicles_can_be_stacked():
    found = stacked([Case('wind', 'sensors', seed, pins=SHORT) for seed in range(3)])
    assert found['imu']['force'].shape == (3, found['imu']['stamp'].shape[1], 3)
    spread = np.ptp(found['pressure']['stamp'], axis=0)
    assert spread.max() < 0.05


@pytest.mark.parametrize(('given', 'text'), [
    ({'situation': 'winds'}, "got 'winds', did you mean 'wind'"),
    ({'source': 'baro'}, 'expected one of pressure'),
    ({'faults': [('imu', 'step')]}, 'imu has'),
])
def test_what_is_none_is_refused(given, text):
    with pytest.raises(SourceError, match=text):
        draw(Case(**{'situation': 'rest', 'source': 'sensors', 'seed': 1, 'pins': SHORT, **given}))
