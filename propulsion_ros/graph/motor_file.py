# SPDX-License-Identifier: Apache-2.0
"""Motors of RASP files, ``.eng``."""
from __future__ import annotations

from pathlib import Path

from propulsion_ros.models.supply.motors import ThrustCurve, motor_of
from propulsion_ros.settings.files import read_text


def read_motor(path: str | Path, name: str = '') -> ThrustCurve:
    """Return a motor of a file: the one of that name, or the only one.

    Comments may be in any encoding. Raises `SourceError` naming file and line, for what is not
    RASP; for a name that is not there; without a name, for a file of several motors.
    """
    return motor_of(str(path), name, read_text)
