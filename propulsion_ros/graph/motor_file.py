# SPDX-License-Identifier: Apache-2.0
"""Motors of RASP files, ``.eng``."""
from __future__ import annotations

from pathlib import Path

from propulsion_ros.models.boosters.rasp import ThrustCurve, motor_named, parse_rasp
from propulsion_ros.settings.files import printable, read_text

_LARGEST = 1024 * 1024
"""Bytes of a file; one motor has a thousandth of it."""


def read_motor(path: str | Path, name: str = '') -> ThrustCurve:
    """Return a motor of a file: the one of that name, or the only one.

    Comments may be in any encoding. Raises `SourceError` naming file and line, for what is not
    RASP; for a name that is not there; without a name, for a file of several motors.
    """
    source = printable(path)
    return motor_named(parse_rasp(read_text(path, _LARGEST, 'replace'), source), name, source)
