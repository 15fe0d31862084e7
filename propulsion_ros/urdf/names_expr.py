# SPDX-License-Identifier: Apache-2.0
r"""Actuators by regular expression: one tag for all joints that are alike.

    <thruster><names_expr>thruster_\d+_joint</names_expr> ... </thruster>

stands for one thruster at each joint whose whole name fits, in the order of the description; the
other tags serve all of them. An actuator is named after its joint. Namespaces of joints (all up to
the last ``/``) neither need to fit nor become part of the name.

Python's matcher takes exponential time for some expressions, so only those are taken whose cost
has a bound: a repetition may follow a character, a class or a dot, but not a group.
"""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.urdf.link_tree import LinkTree
from propulsion_ros.urdf.xml import Tag

TAG = 'names_expr'
LENGTH_LIMIT = 200
STEP_LIMIT = 10_000_000
_FEW = 5
"""Joints that an error lists."""

_TOKENS = re.compile(
    r'(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<repeat>[*+]|\{[^}]*\})[?+]?'
    r'|(?P<maybe>\?)[?+]?|(?P<special>\(\?(?!:))|(?P<end>\))|(?P<bar>\|)|(?P<other>.)',
    re.DOTALL,
)
_NESTED = re.compile(r'\[|--|&&|~~|\|\|')
"""What Python reserves inside a class for sets of sets."""


def expand(row: Tag, tree: LinkTree) -> list[Tag]:
    """Return one row for each joint that the row selects, the row itself where it selects none.

    Raises `SourceError` naming the path, where the expression is wrong, could take too long or fits
    no joint, or the row also has a name, a joint or a link.
    """
    selector = row.one(TAG)
    if selector is None:
        return [row]
    if row.name:
        raise SourceError(row.path, f'expected no name attribute beside <{TAG}>')
    others = tuple(child for child in row.children if child is not selector)
    for child in others:
        if child.key in ('joint', 'link'):
            raise SourceError(child.path, f'expected no <{child.key}> beside <{TAG}>')
    return [
        dataclasses.replace(
            row, name=_bare(joint), children=(Tag('joint', joint, selector.path), *others)
        )
        for joint in _matching(selector.text, tree.joints, selector.path)
    ]


def _matching(expression: str, joints: Iterable[str], path: str) -> list[str]:
    """Return the joints whose names without namespace fit, in their order."""
    names = [(joint, _bare(joint)) for joint in joints]
    _check(expression, [bare for _, bare in names], path)
    try:
        pattern = re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise SourceError(path, f'expected a regular expression: {error}') from None
    found = [joint for joint, bare in names if pattern.fullmatch(bare)]
    if not found:
        few = ', '.join([bare for _, bare in names[:_FEW]]) + ', ...' * (len(names) > _FEW)
        raise SourceError(path, f'{expression!r} fits no joint; joints: {few or "none"}')
    return found


def _bare(joint: str) -> str:
    return joint.rpartition('/')[2]


def _check(expression: str, names: Iterable[str], path: str) -> None:
    """Raise `SourceError` for an expression whose cost is too high or has no bound."""
    if len(expression) > LENGTH_LIMIT:
        raise SourceError(path, f'{len(expression)} characters, expected at most {LENGTH_LIMIT}')
    repeats, choices, previous = 0, 0, ''
    for token in _TOKENS.finditer(expression):
        kind = token.lastgroup or ''
        if kind == 'special':
            raise SourceError(path, 'of the groups with (? only (?: is supported')
        if token.group() == '[':
            raise SourceError(path, f'[ without its ]: {expression!r}')
        if kind == 'set' and _NESTED.search(token.group(), 1):
            raise SourceError(path, f'a class inside a class is not supported: {token.group()!r}')
        if kind in ('repeat', 'maybe') and previous == 'end':
            raise SourceError(path, f'a group may not be repeated: {expression[:token.end()]!r}')
        repeats += kind == 'repeat'
        choices += kind in ('maybe', 'bar')
        previous = kind
    # Each repetition can end at any character, each choice doubles the ways to go on.
    steps = 2**choices * sum((len(name) + 1) ** repeats for name in names)
    if steps > STEP_LIMIT:
        raise SourceError(path, f'{expression!r} could take too long, expected fewer repetitions')
