"""Imports go downward only: physics and flight logic know nothing of ROS or files."""
from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / 'propulsion_ros'
STDLIB = frozenset(sys.stdlib_module_names)
BOTTOM = {'propulsion_ros.errors', 'propulsion_ros.quantity'}
PURE = STDLIB | {'numpy', 'scipy'}
READERS = PURE | {'defusedxml', 'json5', 'yaml', 'xacro', 'ament_index_python'}
CLOCKS = {'time', 'datetime', 'random', 'threading', 'socket', 'os', 'subprocess'}

LAYERS = {
    'models': (PURE - CLOCKS, BOTTOM | {'propulsion_ros.models'}),
    'flight': (PURE - CLOCKS, BOTTOM | {'propulsion_ros.models', 'propulsion_ros.flight'}),
    'readers': (READERS, {'propulsion_ros'}),
}
UPPER = {
    'propulsion_ros.gz', 'propulsion_ros.launching', 'propulsion_ros.nodes', 'propulsion_ros.tools',
}
SIMULATOR = {'gz', 'ignition', 'sdformat'}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f'{path}: relative import'
            yield node.module


def layer_of(path):
    part = path.relative_to(PACKAGE).parts[0]
    if part in ('models', 'flight'):
        return part
    if part == 'rml' or (part.endswith('.py') and part != 'launching.py'):
        return 'readers'
    return None


FILES = [path for path in sorted(PACKAGE.rglob('*.py')) if layer_of(path)]


@pytest.mark.parametrize('path', FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_layer_imports_only_what_lies_below(path):
    outside, inside = LAYERS[layer_of(path)]
    for name in imports(path):
        root = name.split('.')[0]
        if root == 'propulsion_ros':
            assert any(name == own or name.startswith(f'{own}.') for own in inside), name
            assert not any(name == up or name.startswith(f'{up}.') for up in UPPER), name
        else:
            assert root in outside, name


def test_the_walk_finds_files():
    assert {'models', 'flight', 'readers'} == {layer_of(path) for path in FILES}


@pytest.mark.parametrize(
    'path', sorted(PACKAGE.rglob('*.py')), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_nobody_needs_gazebo_to_be_imported(path):
    """Inside gz-sim its modules are loaded already, and are looked up, not imported."""
    for name in imports(path):
        assert name.split('.')[0].rstrip('0123456789') not in SIMULATOR
