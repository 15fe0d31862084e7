# SPDX-License-Identifier: Apache-2.0
"""Families are known by the registry alone: no other module names one, or imports its room."""
from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from propulsion_ros.models.registry import FAMILIES

PACKAGE = Path(__file__).resolve().parent.parent / 'propulsion_ros'
ROOMS = {family.__module__.split('.')[2] for family in FAMILIES.values()}
"""Folders of models that are families, or single files."""
NAMES = {
    *FAMILIES, *(family.__name__ for family in FAMILIES.values()),
    *(family.facts.tag for family in FAMILIES.values() if family.facts.tag),
}
NAME = re.compile(rf'(?<!\w)({"|".join(sorted(NAMES))})(?!\w)')
CONFIGURATION = {
    'models/registry.py': 'the registry',
    'models/__init__.py': 'the public names',
    'graph/vehicles.py': 'the vehicles of the package, which have groups of these names',
    'urdf/uuv_dialect.py': 'a foreign dialect, with one table of what it translates to',
    'urdf/gz_dialect.py': 'another one',
}
WORDS_OF_OTHERS = {
    'gz/joint_drives.py': "system 'thruster' of gz-sim",
    'rml/devices.py': "key 'booster' of the flight configuration",
}
FILES = {
    str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob('*.py'))
    # Each demonstration flies one vehicle, and names its groups.
    if path.relative_to(PACKAGE).parts[0] != 'demos'
    and not (path.parent.parent.name == 'models' and path.parent.name in ROOMS)
    and not (path.parent.name == 'models' and path.stem in ROOMS)
}


def nodes_of(file):
    return list(ast.walk(ast.parse(FILES[file].read_text(encoding='utf-8'))))


def literals(nodes):
    """Yield the strings of a module, without those that document it."""
    documents = {
        id(node.value) for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in nodes:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documents:
            yield node.value


def test_no_module_names_a_family():
    named, imported = {}, {}
    for file in FILES.keys() - CONFIGURATION.keys():
        nodes = nodes_of(file)
        named[file] = {match for text in literals(nodes) for match in NAME.findall(text)}
        rooms = {
            node.module.split('.')[2] for node in nodes
            if isinstance(node, ast.ImportFrom) and node.module.startswith('propulsion_ros.models.')
        }
        imported[file] = rooms & ROOMS
    assert all(len(named.pop(file)) == 1 for file in WORDS_OF_OTHERS)
    assert not {file: names for file, names in named.items() if names}
    assert not {file: rooms for file, rooms in imported.items() if rooms}


def test_every_exception_is_one():
    for file in (*CONFIGURATION, *WORDS_OF_OTHERS):
        assert any(NAME.search(text) for text in literals(nodes_of(file))), file


@pytest.mark.parametrize('name', FAMILIES)
def test_a_family_is_commanded_by_one_that_is_there(name):
    facts = FAMILIES[name].facts
    assert not facts.commanded_by or facts.commanded_by in FAMILIES
    assert facts.commanded_by or not facts.shared_inputs
