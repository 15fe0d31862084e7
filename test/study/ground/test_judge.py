# SPDX-License-Identifier: Apache-2.0
"""The judge: what the real flight computer does before a case, against the truth."""
from __future__ import annotations

import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.ground.case import Case
from propulsion_ros.study.ground.judge import VERDICTS, judge

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


def test_a_computer_without_a_sensor_is_not_judged():
    pins = {**SLOW, 'length': 10.0, 'silent.at': 0.0, 'silent.length': 1e9}
    with pytest.raises(SourceError, match='no recent sample'):
        judge(Case('rest', 'pressure', 1, [('pressure', 'silent')], pins=pins))
