# SPDX-License-Identifier: Apache-2.0
"""What a user typically gets wrong, as tables, each with the line that it gets.

`files.yaml` has the mistakes in files, on the command line and in messages, `values.yaml` those in
the values of parameters, `descriptions.yaml` those in the tags of a robot, and `flight.yaml` those
in a flight configuration.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_TABLE = yaml.safe_load(Path(__file__).with_name('files.yaml').read_text(encoding='utf-8'))
TEXTS = _TABLE['texts']
"""What the mistakes are changes of, by name."""


@dataclass(frozen=True)
class Complaint:
    """A mistake and what the line that it gets has in it."""

    id: str
    place: str
    """What the line names: file and line where they can be known, and the element."""
    reason: str
    remedy: str = ''
    """What the line advises: the nearest name, the values that are allowed, a step to take."""


@dataclass(frozen=True)
class Mistake(Complaint):
    """One mistake in files or on a command line."""

    files: dict[str, str] = field(default_factory=dict)
    """Texts by name of the file."""
    command: str = 'check robot.urdf'
    """Words after ``propulsion_ros``."""
    code: int = 1
    """Exit code; 0 for what only gets a warning."""


@dataclass(frozen=True)
class WrongMessage(Complaint):
    """A command, or a measured angle, that is refused or does not come."""

    fields: dict[str, Any] = field(default_factory=dict)
    family: str = 'rotors'
    topic: str = '~/command'
    stamp_ms: int = 1000
    is_simulated: bool = True
    wait_ms: int = 0
    """For how long nothing follows."""
    publishers: int = 1


def _text(name):
    """Return a text; ``robot+fin`` is the robot with a further block, ``robot.xacro`` a program."""
    if name == 'robot.xacro':
        return TEXTS['robot'].replace('<robot', '<robot xmlns:xacro="http://wiki.ros.org/xacro"')
    name, _, end = name.partition('+')
    return TEXTS[name].replace('</robot>', TEXTS[end]) if end else TEXTS[name]


def _example(group, example):
    """Return the text of a group's file: a whole one, or changes that must be possible."""
    if isinstance(example, str):
        return example
    text = _text(group['of'])
    for old, new in example.items() if isinstance(example, dict) else example or ():
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def _mistakes(kind):
    for group in _TABLE['groups']:
        beside = {name: _text(text) for name, text in group.get('beside', {}).items()}
        for *line, example, options in (
            (*row, None, {})[:6] if len(row) == 4 else (*row, {})[:6] for row in group['rows']
        ):
            own = {group['file']: _example(group, example)} if 'file' in group else {}
            given = {'command': group['command'], **options}
            files = {**beside, **own, **given.pop('files', {})}
            if group['kind'] == kind:
                yield Mistake(*line, files, **given)


KINDS = {kind: [*_mistakes(kind)] for kind in dict.fromkeys(g['kind'] for g in _TABLE['groups'])}
"""Mistakes in files and on the command line, by kind."""
MESSAGES = [WrongMessage(*row[:5], **dict(*row[5:])) for row in _TABLE['messages']]
DOUBTED = [m for m in KINDS['sense'] if m.remedy.startswith('(') and 'robot.yaml' not in m.files]
"""Each with the rule of sense that warns of it as its remedy."""
