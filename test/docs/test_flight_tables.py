# SPDX-License-Identifier: Apache-2.0
"""The flight documentation says what the code does."""
from __future__ import annotations

from pathlib import Path

import pytest

from flight_tables import SECTIONS, fill, table
from propulsion_ros.flight.phases.phases import COMMANDS
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.settings.flat import parameters_of

PAGE = Path(__file__).parents[2] / 'docs' / 'flight.md'
TEXT = PAGE.read_text(encoding='utf-8')


def test_tables_are_those_of_the_code():
    assert fill(TEXT) == TEXT, 'run: python test/flight_tables.py docs/flight.md'


@pytest.mark.parametrize('name', SECTIONS)
def test_a_stale_table_is_noticed(name):
    line = SECTIONS[name]().splitlines()[2]
    assert fill(TEXT.replace(line, line + ' stale')) == TEXT


def test_a_missing_section_is_noticed():
    with pytest.raises(ValueError, match='no section <!-- keys -->'):
        fill(TEXT.replace('<!-- keys -->', ''))


def test_every_command_is_there():
    for name in COMMANDS:
        assert f'`~/{name}`' in TEXT


def test_parameters_that_the_page_names_exist():
    known = {parameter.key for parameter in parameters_of(FlightLoopParams)}
    named = {word.strip('`.,;:()') for word in TEXT.split() if word.startswith('`flight.')}
    assert named
    assert named <= known


def test_table():
    expected = '| a | b | c |\n| --- | --- | --- |\n| 1 | | |'
    assert table(('a', 'b', 'c'), [('1', '', '')]) == expected
