# SPDX-License-Identifier: Apache-2.0
"""The apogee under faults of sensors, links and clocks, on flown logs."""
from __future__ import annotations

import json
import os
from dataclasses import fields

import numpy as np
import pytest

from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.study.apogee.fault_table import (
    Outcome,
    decision,
    fault_table,
    judge,
    outcomes,
    read_logs,
    spoil,
)
from propulsion_ros.study.apogee.faults import FAULTS
from propulsion_ros.study.apogee.log import Log

COUNT = int(os.environ.get('FAULTS', '12'))
"""How many faulty logs are flown; the whole library has one for each fault and log."""
_SLOW = 'astra_upv_2022'  # one sample a second: half of them lost are no flight any more


@pytest.fixture(scope='module')
def logs(flights):
    return read_logs(flights)


def _throw(name='throw'):
    time = np.arange(-2.0, 12.0, 0.05)
    t = np.maximum(time, 0.0)
    altitude = np.maximum(60.0 * t - 4.903325 * t * t, -5.0)
    unknown = np.full(len(time), np.nan)
    return Log(name, time, time, altitude, unknown, unknown, 60.0 / 9.80665, 0.02)


def test_the_library_is_large():
    assert len(FAULTS) - 1 >= 40


@pytest.mark.parametrize('fault', FAULTS)
def test_a_fault_is_a_pure_function_of_seed_and_log(fault):
    log = _throw()
    before = [np.copy(getattr(log, field.name)) for field in fields(log)]
    first, again = spoil(log, fault, 3), spoil(log, fault, 3)
    for field, kept in zip(fields(log), before, strict=True):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(again, field.name))
        np.testing.assert_array_equal(getattr(log, field.name), kept)
    assert len(first.arrival) == len(first.stamp) == len(first.altitude)
    assert (np.diff(first.arrival) >= 0.0).all()


@pytest.mark.parametrize(
    ('decided', 'apogee', 'back', 'kind'),
    [
        (6.0, 6.0, -np.inf, ''), (4.5, 6.0, -np.inf, 'premature'), (5.2, 6.0, -np.inf, ''),
        (8.5, 6.0, -np.inf, 'late'), (8.5, 6.0, 7.0, ''), (20.0, 6.0, np.inf, ''),
        (np.nan, 6.0, -np.inf, 'missed'), (np.nan, np.nan, -np.inf, 'none'),
        (3.0, np.nan, -np.inf, 'premature'),
    ],
)
def test_what_a_decision_is(decided, apogee, back, kind):
    log = _throw()
    assert judge('fault', _with(log, apogee, back), decided).kind == kind


def _with(log, apogee, back):
    return Log(
        log.name, log.arrival, log.stamp, log.altitude, log.velocity, log.acceleration, apogee,
        0.0, back,
    )


def test_a_slice_of_the_library(logs):
    rng = np.random.default_rng(19)
    every = [(fault, log) for fault in FAULTS for log in logs]
    chosen = rng.permutation(len(every))[:COUNT].tolist()
    found: list[Outcome] = []
    for i in chosen:
        fault, log = every[i]
        found += outcomes((log,), (fault,), (0,))
    missed = [o for o in found if o.kind == 'missed' and o.log != _SLOW]
    premature = [o for o in found if o.kind == 'premature']
    late = [o for o in found if o.kind == 'late']
    assert missed == []
    assert len(premature) <= max(1, 0.01 * len(found)), premature
    assert len(late) <= max(1, 0.03 * len(found)), late


def test_legacy_receives_nothing_for_what_is_missing():
    log = _throw()
    gap = log.between(2.0, 3.5)
    lost = log.with_values('altitude', gap, np.nan)
    silent = log.kept(~gap)
    assert decision(silent, 'legacy') == decision(lost, 'legacy')
    assert judge('fault', silent, decision(silent, 'legacy')).kind == ''


def test_the_table_has_the_faults_of_a_name_beside_legacy(flights, tmp_path):
    references = json.loads((flights / 'reference.json').read_text())
    name = 'bella_lui_2020'
    (tmp_path / 'real').mkdir()
    (tmp_path / 'synthetic').mkdir()
    (tmp_path / 'real' / f'{name}.csv').symlink_to(flights / 'real' / f'{name}.csv')
    (tmp_path / 'reference.json').write_text(json.dumps({name: references[name]}))
    (tmp_path / 'synthetic' / 'truth.json').write_text('{}')
    rows = list(fault_table(tmp_path, part='gap of 2'))
    names = [fault for fault in FAULTS if 'gap of 2' in fault]
    assert [row.split(' | ')[0] for row in rows[1:]] == [f'| {key}' for key in (*names, 'all')]
    with pytest.raises(ConfigError, match='no fault has'):
        list(fault_table(tmp_path, part='nothing like this'))


def test_a_folder_without_references_is_refused(tmp_path):
    with pytest.raises(SourceError, match=r'reference\.json'):
        list(fault_table(tmp_path))
