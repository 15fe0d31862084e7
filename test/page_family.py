# SPDX-License-Identifier: Apache-2.0
"""The family that a page adds, made known to this process as its registry lines say."""
from __future__ import annotations

import importlib.util
import re
import sys

from propulsion_ros.models.registry import FAMILIES

_ENTRY = re.compile(r"^\+ +'(\w+)': '[.\w]+:(\w+)',$", re.MULTILINE)


def register_family(page, folder, monkeypatch):
    """Load the models that a page gives from a folder, and register them until the test ends."""
    modules = {}
    for file in page.files:
        if file.startswith('propulsion_ros/models/'):
            name = file.removesuffix('.py').replace('/', '.')
            spec = importlib.util.spec_from_file_location(name, folder / file)
            modules[name] = importlib.util.module_from_spec(spec)
            # Before it runs: dataclasses look their module up.
            monkeypatch.setitem(sys.modules, name, modules[name])
            spec.loader.exec_module(modules[name])
    for block in page.blocks:
        for family, cls in _ENTRY.findall(block.text) if block.language == 'diff' else ():
            (model,) = (vars(module)[cls] for module in modules.values() if cls in vars(module))
            monkeypatch.setitem(FAMILIES, family, model)


def apply_diff(text, diff):
    """Return a text with the added lines of a diff behind those that stand before them."""
    lines, at = text.splitlines(), 0
    for line in diff.splitlines():
        mark, rest = line[:1], line[1:]
        if mark == '+':
            lines.insert(at, rest)
            at += 1
        elif mark == ' ':
            at = lines.index(rest, at) + 1
        elif mark == '-':
            raise ValueError(f'a family takes nothing away: {line}')
    return '\n'.join(lines) + '\n'
