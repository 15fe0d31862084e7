# SPDX-License-Identifier: Apache-2.0
"""The flight documentation says what the code does."""
from __future__ import annotations

from pathlib import Path

import pytest

from flight_tables import PAGES, fill, table
from propulsion_ros.flight.phases.phases import COMMANDS
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.settings.flat import parameters_of

DOCS = Path(__file__).parents[2] / 'docs'
TEXTS = {name: (DOCS / name).read_text(encoding='utf-8') for name in PAGES}


@pytest.mark.parametrize('page', PAGES)
def test_tables_are_those_of_the_code(page):
    text = TEXTS[page]
    assert fill(text, PAGES[page]) == text, f'run: python test/flight_tables.py docs/{page}'


@pytest.mark.parametrize(('page', 'name'), [(page, name) for page in PAGES for name in PAGES[page]])
def test_a_stale_table_is_noticed(page, name):
    text = TEXTS[page]
    line = PAGES[page][name]().splitlines()[2]
    assert fill(text.replace(line, line + ' stale'), PAGES[page]) == text


def test_a_missing_section_is_noticed():
    with pytest.raises(ValueError, match='no section <!-- phases -->'):
        fill('', PAGES['flight.md'])


def test_every_command_is_there():
    for name in COMMANDS:
        assert f'`~/{name}`' in TEXTS['flight.md']


def test_parameters_that_the_page_names_exist():
    known = {parameter.key for parameter in parameters_of(FlightLoopParams)}
    words = ' '.join(TEXTS.values()).split()
    named = {word.strip('`.,;:()') for word in words if word.startswith('`flight.')}
    assert named
    assert named <= known


def test_table():
    expected = '| a | b | c |\n| --- | --- | --- |\n| 1 | | |'
    assert table(('a', 'b', 'c'), [('1', '', '')]) == expected
