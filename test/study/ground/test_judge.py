# SPDX-License-Identifier: Apache-2.0
"""The judge: what the real flight computer does before a case, against the truth."""
from __future__ import annotations

import pytest

from propulsion_ros.study.ground.case import Case, draw
from propulsion_ros.study.ground.judge import VERDICTS, Notes, judge

SLOW = {'baro_rate': 10.0, 'imu_rate': 50.0}
SMALL = {'push': 60.0, 'burn': 1.0, 'drag': 2e-4, 'main_speed': 8.0, 'drogue_speed': 25.0}


@pytest.mark.parametrize('source', ['pressure', 'odometry', 'sensors'])
def test_a_flight_has_its_charges(source):
    row = judge(Case('flight', source, 3, pins={**SLOW, **SMALL}))
    assert {name: row[name] for name in VERDICTS} == dict.fromkeys(VERDICTS, 0)
    assert abs(row['delay']) < 1.0
    assert row['phases'].split()[-1].startswith('recovery')


@pytest.mark.parametrize('source', ['pressure', 'odometry'])
def test_a_rest_has_none(source):
    row = judge(Case('rest', source, 1, pins={**SLOW, 'length': 20.0}))
    assert row['fired'] == row['lit'] == ''
    assert row['drogue'] != row['drogue']


def test_a_computer_without_a_sensor_is_not_armed():
    pins = {**SLOW, 'length': 4.0, 'silent.at': 0.0, 'silent.length': 1e9}
    row = judge(Case('rest', 'pressure', 1, [('pressure', 'silent')], pins=pins))
    assert row['armed'] == 0
    assert 'no recent sample' in row['refused']


def test_a_restart_goes_on_with_its_record():
    pins = {**SLOW, **SMALL, 'restart.at': 12.0, 'restart.away': 1.0}
    row = judge(Case('flight', 'pressure', 3, restarts=1, pins=pins))
    assert [phase.split('@')[0] for phase in row['phases'].split()] == [
        'preflight', 'launch', 'flight', 'preflight', 'flight', 'recovery',
    ]
    assert row['twice'] == row['missed'] == 0


@pytest.mark.parametrize(('pulse', 'expected'), [
    (4.0, {'fired_on_ground': 1}), (9.0, {'premature': 1}), (18.1, {}), (30.0, {'late': 1}),
    (99.0, {'fired_on_ground': 1, 'missed': 2}),
], ids=['on the pad', 'boost', 'apogee', 'under the drogue', 'landed'])
def test_what_a_charge_is(monkeypatch, pulse, expected):
    case = Case('flight', 'odometry', 1)
    drawn, notes = draw(case), Notes()
    notes.phases = [(6.0, 'launch')]
    notes.pulses, notes.events = [(pulse, 'drogue')], [
        (pulse, 'drogue parachute'), (max(pulse, 22.0), 'main parachute'),
    ]
    monkeypatch.setattr('propulsion_ros.study.ground.judge.fly', lambda case: (drawn, notes))
    row = judge(case)
    assert {key: row[key] for key in VERDICTS if row[key]} == expected
