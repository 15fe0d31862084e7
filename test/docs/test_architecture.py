# SPDX-License-Identifier: Apache-2.0
"""The page of the architecture: its rooms are those of the package, its stops are functions."""
from __future__ import annotations

import importlib
import re

import pytest
from test_imports import ROOMS

from markdown_pages import REPOSITORY

PAGE = (REPOSITORY / 'docs/architecture.md').read_text(encoding='utf-8')
LISTS = {
    heading: re.findall(r'^\d+\. `([\w.]+)`', text, re.MULTILINE)
    for heading, text in re.findall(r'^## (.*)\n((?:(?!^## ).*\n)*)', PAGE, re.MULTILINE)
}


def rooms_of_the_page():
    """Yield the rooms of the diagram from the ground up, those of one floor from the left."""
    floors = re.findall(r'^ \d \| +(.*?) +- ', PAGE, re.MULTILINE)
    for floor in reversed(floors):
        for name, within in re.findall(r'([\w.]+)(?: \(([\w ]+)\))?', floor):
            yield from (f'{name}.{part}' for part in within.split())
            yield name


def test_the_diagram_has_every_room_in_its_place():
    drawn = list(rooms_of_the_page())
    assert sorted(drawn) == sorted(ROOMS)
    assert drawn == list(ROOMS)


@pytest.mark.parametrize('heading', LISTS)
def test_a_way_through_the_package_is_a_list_of_functions(heading):
    stops = LISTS[heading]
    assert 0 < len(stops) <= 12
    assert len(set(stops)) == len(stops)
    for stop in stops:
        require_callable(stop)


def require_callable(stop):
    """Raise where a module has no such function, class or method."""
    parts = stop.split('.')
    at = next(i for i, part in enumerate(parts) if (
        REPOSITORY.joinpath('propulsion_ros', *parts[:i + 1]).with_suffix('.py').is_file()
    ))
    found = importlib.import_module('.'.join(('propulsion_ros', *parts[:at + 1])))
    for part in parts[at + 1:]:
        found = getattr(found, part)
    assert callable(found), stop
