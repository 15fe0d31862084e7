# SPDX-License-Identifier: Apache-2.0
"""The apogee under faults of sensors, links and clocks, on flown logs."""
from __future__ import annotations

import json
import os
import re
from dataclasses import fields, replace

import numpy as np
import pytest

from parts import amount
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.study.apogee_cases import decision, judge_log, spoil, verdict
from propulsion_ros.study.apogee_faults import FAULTS
from propulsion_ros.study.apogee_flights import Log, read_logs, references_of
from propulsion_ros.study.session import Session
from propulsion_ros.study.study import rates, read_study

_APOGEE = 60.0 / 9.80665
COUNT = int(os.environ.get('FAULTS', amount('flights', 4, 10_000)))
"""How many faulty logs are flown; the whole library, one for each fault and log, has 1,380."""
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
    log = replace(_throw(), apogee=apogee, uncertainty=0.0, back=back)
    assert verdict(log, decided) == kind


@pytest.mark.part('flights')
def test_library_of_faults(logs):
    """The whole of it: 2 missed, both of a log with a sample a second, 47 late."""
    rng = np.random.default_rng(19)
    every = [(fault, log) for fault in FAULTS for log in logs]
    chosen = rng.permutation(len(every))[:COUNT].tolist()
    found = []
    for i in chosen:
        fault, log = every[i]
        found.append(judge_log(spoil(log, fault, 0), fault, ApogeeParams()))
    missed, premature, late = (
        [row for row in found if row[kind]] for kind in ('missed', 'premature', 'late')
    )
    assert [row for row in missed if row['log'] != _SLOW] == []
    assert premature == []
    assert len(late) <= max(1, 0.0345 * len(found)), late


def test_legacy_receives_nothing_for_what_is_missing():
    log = _throw()
    gap = log.between(2.0, 3.5)
    lost = log.with_values('altitude', gap, np.nan)
    silent = log.kept(~gap)
    legacy = ApogeeParams(method='legacy')
    decided = decision(silent, legacy).time
    assert decided == decision(lost, legacy).time
    assert verdict(silent, decided) == ''


@pytest.fixture
def folder(tmp_path):
    """Make a folder of two throws, one cut before its apogee."""
    references = {
        'throw': {'apogee_t': _APOGEE, 'grade': 'A', 't_uncert': 0.02},
        'cut': {'apogee_t': None, 'grade': None},
    }
    (tmp_path / 'real').mkdir()
    (tmp_path / 'reference.json').write_text(json.dumps(references))
    for name, end in (('throw', 10.0), ('cut', 5.0)):
        time = np.arange(0.0, end, 0.021)
        rows = [f'{t:.3f},{60.0 * t - 4.903325 * t * t:.3f}' for t in time]
        text = '\n'.join(['time_s,altitude_m', *rows, ''])
        (tmp_path / 'real' / f'{name}.csv').write_text(text)
    return tmp_path


def rows_of(folder, vary, cases=2):
    """Return the rows of a study of logs."""
    path = folder / 'some.yaml'
    path.write_text(json.dumps({
        'kind': 'apogee', 'input': str(folder), 'cases': cases, 'vary': vary,
        'limits': {'missed': [0, 0], 'premature': [0, 0], 'late': [0, 0]},
    }))
    study = read_study(path)
    session = Session(study)
    return study, [session.row(number) for number in range(study.size)]


def test_a_study_goes_through_logs_then_faults(folder):
    study, rows = rows_of(folder, {'apogee.method': {'grid': ['robust', 'legacy']}}, 4)
    first, second = list(FAULTS)[:2]
    assert [(row['log'], row['fault']) for row in rows] == 2 * [
        ('cut', first), ('throw', first), ('cut', second), ('throw', second),
    ]
    assert [row['error'] for row in rows] == [''] * 8
    assert (rows[0]['reason'], rows[1]['reason']) == ('none', 'fit')
    assert rows[1]['delay'] == pytest.approx(0.05, abs=0.06)
    assert rows[5]['delay'] == pytest.approx(0.02, abs=0.02)
    assert {row['fault']: row['cases'] for row in rates(study, rows, ('fault',))} == {
        first: 4, second: 4, 'all': 8,
    }


def test_a_study_may_choose_logs_and_faults(folder):
    fault = next(fault for fault in FAULTS if 'gap of 2' in fault)
    _, rows = rows_of(folder, {
        'flight.log': {'grid': ['throw']}, 'flight.fault': {'grid': [fault]},
        'flight.seed': {'counter': 0},
    })
    assert [(row['log'], row['fault'], row['flight.seed']) for row in rows] == [
        ('throw', fault, 0), ('throw', fault, 1),
    ]


@pytest.mark.parametrize(('times', 'in_feet', 'lines'), [
    (1, False, []),
    (1, True, ['throw: altitude_m falls with 32.2 m/s^2 in the coast, a free fall with 9.81; if it '
               'is in ft, times 0.3048']),
    (1000, False, [f'{name}: its rows are 21 s apart; if time_s is in ms, divide by 1000'
                   for name in ('cut', 'throw')]),
])
def test_units_of_logs_are_judged_as_by_apogee(folder, times, in_feet, lines):
    for path in (folder / 'real').iterdir():
        head, *rows = path.read_text().split()
        cells = [[float(cell) for cell in row.split(',')] for row in rows]
        path.write_text('\n'.join([head, *(
            f'{t * times},{a / 0.3048 if in_feet else a}' for t, a in cells)]))
    path = folder / 'some.yaml'
    path.write_text(json.dumps({'kind': 'apogee', 'input': str(folder), 'cases': 2}))
    assert [re.sub('20.9', '21', line) for line in Session(read_study(path)).warnings] == lines


@pytest.mark.parametrize(('vary', 'message'), [
    ({'flight.log': {'grid': ['throws']}}, "flight.log: unknown 'throws', did you mean 'throw'"),
    ({'flight.fault': {'grid': ['nothing']}}, "flight.fault: unknown 'nothing'"),
    ({'flight.sed': {'grid': [1]}}, 'expected flight.seed, flight.log, flight.fault or apogee.'),
    ({'flight.seed': {'grid': [-1]}}, 'flight.seed: expected an integer from 0 on, got -1'),
    ({'flight.seed': {'grid': ['x']}}, "flight.seed: expected an integer from 0 on, got 'x'"),
])
def test_what_is_not_there_is_refused(folder, vary, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        rows_of(folder, vary)


@pytest.mark.parametrize(('text', 'message'), [
    (None, 'reference.json: cannot be read: No such file or directory; expected the apogee of '
     'each log, {"NAME": {"apogee_t": 17.3}}'), ('{', 'expected JSON'),
    ('[]', 'reference.json: expected the apogee of each log'),
    ('{"throw": 3}', 'reference.json: throw: expected an object, got 3'),
    ('{"throw": {}}', 'reference.json: throw.apogee_t: is missing'),
    ('{"throw": {"apogee_t": "6"}}', "throw.apogee_t: expected a number, got '6'"),
    ('{"throw": {"apogee_t": null, "should_trigger": true}}',
     'throw: should_trigger without an apogee_t'),
    ('{"absent": {"apogee_t": 6.0}}', 'absent.csv: cannot be read'),
])
def test_wrong_files_are_one_line(folder, text, message):
    (folder / 'reference.json').unlink()
    if text is not None:
        (folder / 'reference.json').write_text(text)
    with pytest.raises(SourceError) as caught:
        rows_of(folder, {})
    assert message in str(caught.value)
    assert '\n' not in str(caught.value)


def test_a_folder_of_simulated_logs_has_their_truth(flights):
    truth = references_of(flights / 'synthetic')
    assert truth['syn_low_hop'].path == flights / 'synthetic' / 'syn_low_hop.csv'
    assert truth['syn_low_hop'].grade == 'true'
