# SPDX-License-Identifier: Apache-2.0
"""The judge: what the real flight computer does before a case, against the truth."""
from __future__ import annotations

import csv
from pathlib import Path

import pytest

from parts import few_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.study.ground.case import Case, draw
from propulsion_ros.study.ground.judge import VERDICTS, Notes, judge
from propulsion_ros.study.session import RATES, Session
from propulsion_ros.study.study import find_study, rates, read_study

SLOW = {'baro_rate': 10.0, 'imu_rate': 50.0}
SMALL = {'push': 60.0, 'burn': 1.0, 'drag': 2e-4, 'main_speed': 8.0, 'drogue_speed': 25.0}


@pytest.mark.parametrize('source', few_of(['odometry', 'pressure', 'sensors'], 3))
def test_a_flight_has_its_charges(source):
    row = judge(Case('flight', source, 3, pins={**SLOW, **SMALL}))
    assert {name: row[name] for name in VERDICTS} == dict.fromkeys(VERDICTS, 0)
    assert abs(row['delay']) < 1.0
    assert row['phases'].split()[-1].startswith('recovery')


def test_a_computer_without_a_sensor_is_not_armed():
    pins = {**SLOW, 'length': 4.0, 'silent.at': 0.0, 'silent.length': 1e9}
    row = judge(Case('rest', 'pressure', 1, [('pressure', 'silent')], pins=pins))
    assert row['armed'] == 0
    assert 'no recent sample' in row['refused']


def test_a_restart_goes_on_with_its_record():
    pins = {**SLOW, **SMALL, 'restart.at': 10.0, 'restart.away': 1.0}
    row = judge(Case('flight', 'pressure', 3, restarts=1, pins=pins))
    assert [phase.split('@')[0] for phase in row['phases'].split()] == [
        'preflight', 'launch', 'flight', 'preflight', 'flight', 'recovery',
    ]
    assert row['twice'] == row['missed'] == 0


def verdicts(monkeypatch, case, drogue, main):
    """Return the errors of a computer that fires at these times."""
    drawn, notes = draw(case), Notes()
    notes.phases, notes.pulses = [(6.0, 'launch')], [(drogue, 'drogue')]
    notes.events = [(drogue, 'drogue parachute'), (main, 'main parachute')]
    monkeypatch.setattr('propulsion_ros.study.ground.judge.fly', lambda case: (drawn, notes))
    row = judge(case)
    return {key: row[key] for key in VERDICTS if row[key]}


@pytest.mark.parametrize(('pulse', 'expected'), [
    (4.0, {'fired_on_ground': 1}), (9.0, {'premature': 1}), (18.1, {}), (30.0, {'late': 1}),
    (99.0, {'fired_on_ground': 1, 'missed': 2}),
], ids=['on the pad', 'boost', 'apogee', 'under the drogue', 'landed'])
def test_what_a_charge_is(monkeypatch, pulse, expected):
    assert verdicts(monkeypatch, Case('flight', 'odometry', 1), pulse, max(pulse, 22.0)) == expected


@pytest.mark.parametrize(('pulse', 'expected'), [(29.5, {}), (32.0, {'late': 1})])
def test_a_charge_is_late_only_once_the_computer_is_on_again(monkeypatch, pulse, expected):
    pins = {'restart.at': 17.0, 'restart.away': 12.0}
    case = Case('flight', 'odometry', 1, restarts=1, pins=pins)
    assert verdicts(monkeypatch, case, pulse, pulse) == expected


STUDY = """
kind: ground
cases: 2
vary:
  ground.situation: {choice: [rest]}
  ground.source: {choice: [pressure]}
  ground.length: {choice: [4.0]}
  ground.baro_rate: {choice: [10.0]}
limits:
  fired_on_ground: [0, 0]
"""


def made(path, text=STUDY):
    path.write_text(text)
    return read_study(path)


def test_a_study_counts_its_rates(tmp_path):
    study = made(tmp_path / 'rest.yaml')
    rows = Session(study).fly(tmp_path, lambda done: None)
    assert [row['error'] for row in rows] == ['', '']
    assert [row['fired_on_ground'] for row in rows] == [0, 0]
    table = list(csv.DictReader((tmp_path / RATES).open()))
    assert [(row['situation'], row['class'], row['cases']) for row in table] == [
        ('all', 'none', '2'), ('rest', 'none', '2'),
    ]


def test_rates_are_those_of_cases_beyond_limits(tmp_path):
    study = made(tmp_path / 'rest.yaml')
    rows = [
        {'case': i, 'situation': 'rest', 'source': source, 'fired_on_ground': fired, 'error': error}
        for i, (source, fired, error) in enumerate([
            ('pressure', 0, ''), ('pressure', 2, ''), ('sensors', 0, ''), ('sensors', 0, 'broke'),
        ])
    ]
    found = rates(study, rows, ('situation', 'source'))
    assert [(*row.values(),) for row in found] == [
        ('all', 'pressure', 2, 0, 1), ('all', 'sensors', 1, 1, 0),
        ('rest', 'pressure', 2, 0, 1), ('rest', 'sensors', 1, 1, 0),
    ]


def test_the_shipped_study_can_be_drawn(tmp_path):
    session = Session(read_study(find_study(Path('ground'))))
    session.write(tmp_path / 'case.yaml', 3)
    assert 'max_ascent_time' in (tmp_path / 'case.yaml').read_text()


@pytest.mark.parametrize(('line', 'text'), [
    ('  other: {choice: [1]}', 'expected ground.'),
    ('  ground.faults: {choice: [1], is: factor}', 'expected ground.'),
    ("  ground.situation: {choice: ['wnd']}", "did you mean 'wind'"),
    ('  ground.lenght: {choice: [60.0]}', "did you mean 'ground.length'"),
    ('  ground.faults: {choice: [-1]}', 'faults: expected an integer, 0 to 100, got -1'),
    ('  ground.restarts: {choice: [1.5]}', 'restarts: expected an integer, 0 to 100, got 1.5'),
    ('  ground.stages: {choice: [3]}', 'stages: expected an integer, 1 to 2, got 3'),
    ('  ground.length: {choice: [x]}', "length: expected a number, got 'x'"),
])
def test_what_cannot_be_studied_is_refused(tmp_path, line, text):
    with pytest.raises(ConfigError, match=text):
        Session(made(tmp_path / 'wrong.yaml', f'kind: ground\nvary:\n{line}\n'))
