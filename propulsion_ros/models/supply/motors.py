# SPDX-License-Identifier: Apache-2.0
"""What RASP files that parameters name give of solid motors: curve, flow and propellant."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from propulsion_ros.models.supply.rasp import ThrustCurve, motor_named, parse_rasp
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import printable

LARGEST = 1024 * 1024
"""Bytes of a file; one motor has a thousandth of it."""

Reader = Callable[[str, int, str], str]
"""Returns the text of a file; as `propulsion_ros.settings.files.read_text`."""


def motor_of(path: str, name: str, read: Reader) -> ThrustCurve:
    """Return a motor of a file: the one of that name, or the only one.

    Comments may be in any encoding. Raises `SourceError` naming file and line.
    """
    source = printable(path)
    return motor_named(parse_rasp(read(path, LARGEST, 'replace'), source), name, source)


def with_motors(values: Mapping[str, Any], read: Reader) -> Mapping[str, Any]:
    """Return flat parameters of boosters with what the files in ``motor_file`` give.

    Raises `ConfigError` for a file that cannot be used, or a value beside it that differs.
    """
    count = len(_rows(values.get('names'), 0, ''))
    files, names = (_texts(key, values.get(key), count) for key in ('motor_file', 'motor'))
    if not any(files):
        return values
    motors = {
        i: motor_of(path, names[i], read) for i, path in enumerate(files) if path
    }
    whole = dict(values)
    for key, none in (('thrust_curve', ''), ('max_thrust', 0.0), ('max_fuel_rate', 0.0)):
        if values.get(key) is None and none == 0.0 and len(motors) < count:
            # Of the others it is required.
            continue
        given = {
            i: motor.text if none == '' else getattr(motor, key) for i, motor in motors.items()
        }
        whole[key] = _filled(key, _rows(values.get(key), count, none), given)
    _fill_tanks(whole, motors, count)
    return whole


def _fill_tanks(values: dict[str, Any], motors: dict[int, ThrustCurve], count: int) -> None:
    """Give the tanks of motors their propellant, where they have no capacity."""
    known = _rows(values.get('tanks.names'), 0, '')
    tanks = _rows(values.get('tank'), count, '')
    masses: dict[int, float] = {}
    for i, motor in motors.items():
        if i < len(tanks) and tanks[i] in known:
            at = known.index(tanks[i])
            masses[at] = masses.get(at, 0.0) + motor.propellant_mass
    capacity = _rows(values.get('tanks.capacity'), len(known), 0.0)
    if masses and len(capacity) == len(known):
        values['tanks.capacity'] = [
            masses.get(at, mass) if mass == 0.0 else mass for at, mass in enumerate(capacity)
        ]


def _texts(key: str, value: Any, count: int) -> list[str]:
    rows = _rows(value, count, '')
    if len(rows) != count:
        raise ConfigError(key, f'expected {count} values, got {len(rows)}')
    for i, row in enumerate(rows):
        if not isinstance(row, str):
            raise ConfigError(key, f'expected a string, got {row!r}', i)
    return rows


def _filled(key: str, rows: list[Any], given: dict[int, Any]) -> list[Any]:
    """Return rows with what files give, where there is nothing or the same."""
    for i, value in given.items():
        if i >= len(rows):
            continue
        is_same = rows[i] == value or (
            isinstance(rows[i], float) and np.isclose(rows[i], value, rtol=1e-6, atol=0.0)
        )
        if rows[i] not in ('', 0, 0.0) and not is_same:
            raise ConfigError(
                key, f'{rows[i]!r}, but the motor_file has {value!r}; remove one of them', i
            )
        rows[i] = value
    return rows


def _rows(value: Any, count: int, none: Any) -> list[Any]:
    """Return a value for each row; one holds for all."""
    if value is None:
        return [none] * count
    if isinstance(value, (str, int, float)):
        return [value] * max(count, 1)
    rows = list(np.ravel(value).tolist() if isinstance(value, np.ndarray) else value)
    return rows * count if len(rows) == 1 and count > 1 else rows
