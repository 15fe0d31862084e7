# SPDX-License-Identifier: Apache-2.0
"""What a user typically gets wrong, as tables, each with the line that it gets."""

from __future__ import annotations

from dataclasses import dataclass, field


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


def replaced(text, changes):
    """Return a text with changes, each of which must be possible."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text
