# SPDX-License-Identifier: Apache-2.0
"""Imports go down only: every room imports rooms that stand below it, and what it may need."""
from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / 'propulsion_ros'
CLOCKS = {'time', 'datetime', 'random', 'threading', 'socket', 'os', 'subprocess'}
STDLIB = frozenset(sys.stdlib_module_names)
PURE = (STDLIB - CLOCKS) | {'numpy', 'scipy'}
READERS = STDLIB | {'numpy', 'scipy', 'yaml', 'json5', 'defusedxml'}
ANY = None

ROOMS = {
    'settings': READERS,
    'timing': PURE,
    'models.common': PURE,
    'models.supply': PURE,
    'models.steering': PURE,
    'models.boosters': PURE,
    'models.jets': PURE,
    'models.rotors': PURE,
    'models.thrusters': PURE,
    'models.fins': PURE,
    'models.fam': PURE,
    'models.body': PURE,
    'models': PURE,
    'flight.phases': PURE,
    'flight.belief': PURE,
    'flight.events': PURE,
    'flight.pyros': PURE,
    'flight.apogee': PURE,
    'flight.estimation': PURE,
    'flight.legacy': PURE,
    'flight': PURE,
    'rml': READERS,
    'urdf': READERS,
    'drawing': READERS,
    'loops': READERS,
    'loops.flight': READERS,
    'graph': READERS | {'ament_index_python', 'launch', 'launch_ros', 'xacro'},
    'messages': READERS | {
        'builtin_interfaces', 'diagnostic_msgs', 'geometry_msgs', 'nav_msgs', 'rclpy',
        'rosgraph_msgs', 'sensor_msgs', 'std_msgs', 'tf2_msgs', 'visualization_msgs',
    },
    'nodes': ANY,
    'replay': ANY,
    'gz': ANY,
    'pictures': ANY,
    'view': READERS | {'PIL', 'matplotlib', 'rclpy', 'trimesh'},
    'demos': ANY,
    'identify': ANY,
    'study': ANY,
    'rocketpy': READERS | {'rocketpy'},
    'tools': ANY,
}
"""Rooms from the ground up, each with the packages of others that it may import."""

SIMULATOR = {'gz', 'ignition', 'sdformat'}
FILES = sorted(path for path in PACKAGE.rglob('*.py') if path.parent != PACKAGE)


@cache
def import_nodes(path):
    """Return the import statements of a file, which is read once for all tests."""
    nodes = ast.walk(ast.parse(path.read_text(encoding='utf-8')))
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def imports(path):
    for node in import_nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert not node.level, f'{path}: relative import'
            yield node.module


def room_of(dotted):
    """Return the room of a module, by the longest room that its name begins with."""
    parts = dotted.split('.')
    return next(room for n in (2, 1) if (room := '.'.join(parts[:n])) in ROOMS)


def name_of(path):
    return '.'.join(path.relative_to(PACKAGE).with_suffix('').parts)


def is_below(name, own):
    """Return whether a room may import what has a name."""
    root, _, inside = name.partition('.')
    if root != 'propulsion_ros':
        return ROOMS[own] is ANY or root in ROOMS[own]
    rooms = list(ROOMS)
    return not inside or rooms.index(room_of(inside)) <= rooms.index(own)


def test_a_room_imports_only_what_lies_below():
    wrong = [
        (name_of(path), name) for path in FILES for name in imports(path)
        if not is_below(name, room_of(name_of(path)))
    ]
    assert not wrong


def test_no_host_needs_another():
    """Gazebo takes nothing from the replay, nor the other way round."""
    pairs = {(room_of(name_of(path)), name) for path in FILES for name in imports(path)}
    for one, other in (('gz', 'replay'), ('replay', 'gz'), ('nodes', 'replay'), ('nodes', 'gz')):
        assert not [name for room, name in pairs
                    if room == one and name.startswith(f'propulsion_ros.{other}')]


def test_no_file_imports_itself_through_others():
    """Lazy imports count too: a circle of files is one thing in several pieces."""
    known = {name_of(path).removesuffix('.__init__'): path for path in FILES}
    below = {
        name: {target for target in inner_imports(path, known) if target != name}
        for name, path in known.items()
    }
    # What imports nothing that is left is in no circle.
    while free := {name for name, targets in below.items() if not targets & below.keys()}:
        below = {name: targets for name, targets in below.items() if name not in free}
    assert not below


def inner_imports(path, known):
    """Yield the modules of this package that a file imports, by their names in it."""
    for node in import_nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module.startswith('propulsion_ros.'):
            module = node.module.partition('.')[2]
            for alias in node.names:
                whole = f'{module}.{alias.name}'
                yield whole if whole in known else module


def test_no_module_stands_outside_a_room():
    assert {path.name for path in PACKAGE.glob('*.py')} == {'__init__.py', '__main__.py'}


@pytest.mark.parametrize('room', ROOMS)
def test_a_room_says_what_lives_there(room):
    path = PACKAGE.joinpath(*room.split('.'))
    text = ast.get_docstring(ast.parse((path / '__init__.py').read_text(encoding='utf-8')))
    assert text
    assert len(text.splitlines()) <= 4


@pytest.mark.parametrize('room', ROOMS)
def test_a_room_has_at_most_twenty_files(room):
    files = list(PACKAGE.joinpath(*room.split('.')).glob('*.py'))
    assert len([path for path in files if path.name != '__init__.py']) <= 20


def test_nobody_needs_gazebo_to_be_imported():
    """Inside gz-sim its modules are loaded already, and are looked up, not imported."""
    wrong = [
        (name_of(path), name) for path in FILES for name in imports(path)
        if name.split('.')[0].rstrip('0123456789') in SIMULATOR
    ]
    assert not wrong
