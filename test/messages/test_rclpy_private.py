# SPDX-License-Identifier: Apache-2.0
"""Private names of rclpy are used in one file, and each is where that file expects it."""
from __future__ import annotations

import ast
import importlib
import re
from operator import attrgetter
from pathlib import Path

import pytest
import rclpy
from rclpy.lifecycle import LifecycleNode

PACKAGE = Path(__file__).resolve().parents[2] / 'propulsion_ros'
OWN = PACKAGE / 'messages' / 'rclpy_private.py'
IN_BINDING = ('RCLError', 'UnknownROSArgsError')
OF_A_NODE = (
    '_LifecycleNodeMixin__on_change_state', '_parameter_overrides', '_parameters',
    '_state_machine', '_state_machine.destroy_when_not_in_use',
)


@pytest.fixture
def node():
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = LifecycleNode('plain', context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.parametrize('name', IN_BINDING)
def test_name_is_in_the_binding(name):
    assert issubclass(getattr(importlib.import_module('rclpy._rclpy_pybind11'), name), Exception)


@pytest.mark.parametrize('name', OF_A_NODE)
def test_name_is_one_of_a_node(node, name):
    attrgetter(name)(node)


def test_overrides_have_values():
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = LifecycleNode('plain', context=context, cli_args=['--ros-args', '-p', 'gain:=2.5'])
    assert node._parameter_overrides['gain'].value == 2.5
    assert 'gain' not in node._parameters
    node.destroy_node()
    rclpy.shutdown(context=context)


def private_names(path):
    """Yield private attributes of others, and names from private modules of rclpy."""
    for item in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(item, ast.ImportFrom) and re.match(r'rclpy(\..*)?\._', item.module or ''):
            yield from (alias.name for alias in item.names)
        elif isinstance(item, ast.Import):
            yield from (alias.name for alias in item.names if 'rclpy._' in alias.name)
        elif isinstance(item, ast.FunctionDef) and re.match(r'_[A-Z].*__', item.name):
            yield item.name
        elif isinstance(item, ast.Attribute) and re.match('_[A-Za-z]', item.attr):
            yield item.attr


def test_the_file_uses_no_other_name():
    known = {part for name in (*IN_BINDING, *OF_A_NODE) for part in name.split('.')}
    assert set(private_names(OWN)) <= known


def test_no_other_file_uses_one():
    names = '|'.join(map(re.escape, OF_A_NODE))
    for path in sorted(set(PACKAGE.rglob('*.py')) - {OWN}):
        source = path.read_text(encoding='utf-8')
        assert 'rclpy._' not in source, path
        # Outside the nodes a class may have an attribute of its own with such a name.
        owner = '' if path.parent.name in ('messages', 'nodes') else r'(?<!\bself)'
        assert not re.search(rf'{owner}\.({names})\b', source), path
