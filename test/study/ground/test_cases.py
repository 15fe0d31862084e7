# SPDX-License-Identifier: Apache-2.0
"""A study of the ground: its rows, and how often what was wrong."""
from __future__ import annotations

import csv
from pathlib import Path

import pytest

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.study.session import RATES, Session, Where
from propulsion_ros.study.study import find_study, read_study
from propulsion_ros.study.table import rates

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
    rows = Session(study).fly(tmp_path, Where(), lambda done: None)
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
])
def test_what_cannot_be_studied_is_refused(tmp_path, line, text):
    with pytest.raises(ConfigError, match=text):
        Session(made(tmp_path / 'wrong.yaml', f'kind: ground\nvary:\n{line}\n'))
