# SPDX-License-Identifier: Apache-2.0
"""Solid motors of RASP .eng files: thrust curves, and what they give to parameters.

A motor is a header line, ``name diameter length delays propellant total maker`` (mm, mm, s, kg,
kg), and lines of time [s] and thrust [N] that end with thrust 0. Lines that begin with a
semicolon are comments. One file may hold several motors.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.quantity import FloatArray

LARGEST = 1024 * 1024
"""Largest size of a file [bytes]; one motor has a thousandth of it."""

Reader = Callable[[str, int, str], str]
"""Returns the text of a file; as `propulsion_ros.settings.files.read_text`."""


def motor_of(path: str, name: str, read: Reader) -> ThrustCurve:
    """Return a motor of a file: the one of that name, or the only one.

    Comments may be in any encoding. Raises `SourceError` naming file and line.
    """
    source = printable(path)
    return motor_named(parse_rasp(read(path, LARGEST, 'replace'), source), name, source)


_LEAST_IMPULSE = 10.0
"""Of a propellant [N s/kg]; black powder has 800, and in g one has a thousandth of it."""
_MOST_IMPULSE = 1e5
"""The same: chemical ones have up to 5,000, and with times in ms a thousand times as much."""
_DENSEST = 2e4
"""Of a casing [kg/m^3]."""
_NONE = ('', 0.0, -1.0)
"""What stands for no curve, no thrust, and no fuel rate, as a node has it by default."""


def with_motors(values: Mapping[str, Any], read: Reader) -> Mapping[str, Any]:
    """Return flat parameters of boosters with what the files in ``motor_file`` give.

    Raises `ConfigError` for a file that cannot be used, or a value beside it that differs.
    """
    count = len(_rows(values.get('names'), 0, ''))
    if not count:
        return values
    files, names = (_texts(key, values.get(key), count) for key in ('motor_file', 'motor'))
    if not any(files):
        return values
    motors = {}
    for i, path in enumerate(files):
        try:
            motors.update({i: motor_of(path, names[i], read)} if path else {})
        except ConfigError as error:
            raise ConfigError('motor_file', str(error), i) from error
    lacking = [i for i in range(count) if i not in motors]
    if values.get('max_thrust') is None and lacking:
        raise ConfigError('max_thrust', 'is required, or motor_file', lacking[0])
    whole = dict(values)
    for key, none in (('thrust_curve', ''), ('max_thrust', 0.0), ('max_fuel_rate', -1.0)):
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
        if rows[i] not in _NONE and not is_same:
            raise ConfigError(
                key, f'{rows[i]!r}, but the motor_file has {value!r}; remove one of them, and to '
                'vary it give other motor_files, or an efficiency', i
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


@dataclass(frozen=True, eq=False)
class ThrustCurve:
    """One motor."""

    name: str
    maker: str
    """Name of the maker, as in the header."""
    times: FloatArray
    thrusts: FloatArray
    """Points of the curve [s], [N], (k,); linear between them, from no thrust at 0."""
    propellant_mass: float
    total_mass: float
    """Mass of the motor with its propellant [kg]."""
    diameter: float
    length: float
    """Length of the casing [m]."""
    delays: str
    """Delays of the ejection charge as the header lists them, such as '6-10-14'."""

    @property
    def total_impulse(self) -> float:
        """Integral of the thrust [N s]."""
        times, thrusts = np.insert(self.times, 0, 0.0), np.insert(self.thrusts, 0, 0.0)
        if self.times[0] == 0.0:
            times, thrusts = self.times, self.thrusts
        return float(np.sum(0.5 * (thrusts[1:] + thrusts[:-1]) * np.diff(times)))

    @property
    def max_thrust(self) -> float:
        """Peak of the curve [N]."""
        return float(np.max(self.thrusts))

    @property
    def max_fuel_rate(self) -> float:
        """Propellant burnt at the peak [kg/s], as mass goes with impulse."""
        return self.max_thrust * self.propellant_mass / self.total_impulse

    @property
    def text(self) -> str:
        """The curve as the parameter ``thrust_curve`` takes it."""
        points = zip(self.times.tolist(), self.thrusts.tolist(), strict=True)
        return ' '.join(f'{time!r} {thrust!r}' for time, thrust in points)


def motor_named(
    motors: Sequence[ThrustCurve], name: str = '', source: str = 'rasp'
) -> ThrustCurve:
    """Return the motor of that name, or the only one; ``source`` names the file in errors.

    Raises `SourceError` for a name that is not there; without a name, for several motors.
    """
    chosen = [motor for motor in motors if name in ('', motor.name)]
    if len(chosen) != 1:
        known = ', '.join(motor.name for motor in motors)
        asked = f'{len(chosen)} motors named {name!r}' if name else 'no name was given'
        raise SourceError(source, f'expected one motor, {asked}; the file has {known}')
    return chosen[0]


def parse_rasp(text: str, source: str = 'rasp') -> tuple[ThrustCurve, ...]:
    """Return all motors of a text; ``source`` names it in errors, which are `SourceError`."""
    lines = [
        (f'{source}:{number}', line.split())
        for number, line in enumerate(text.lstrip('\ufeff').splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith(';')
    ]
    motors = tuple(_motors(lines))
    if not motors:
        raise SourceError(source, 'expected a motor, found none')
    return motors


def _motors(lines: list[tuple[str, list[str]]]) -> Iterator[ThrustCurve]:
    header: tuple[str, list[str]] | None = None
    points: list[tuple[float, float]] = []
    for place, words in lines:
        if header is None:
            if len(words) < 7:
                raise SourceError(
                    place, 'expected a header of name, diameter, length, delays, propellant mass, '
                    f'total mass and maker, got {" ".join(words)!r}'
                )
            header, points = (place, words), []
            continue
        points.append(_point(place, words, points))
        if points[-1][1] == 0.0 and points[-1][0] > 0.0:
            yield _motor(header, points)
            header = None
    if header is not None:
        raise SourceError(header[0], f'the curve of {header[1][0]} does not end with thrust 0')


def _point(
    place: str, words: list[str], before: list[tuple[float, float]]
) -> tuple[float, float]:
    if len(words) != 2:
        raise SourceError(place, f'expected a time and a thrust, got {" ".join(words)!r}')
    time, thrust = (_number(place, what, word) for what, word in zip(
        ('time', 'thrust'), words, strict=True
    ))
    if before and time <= before[-1][0]:
        raise SourceError(place, f'time {time:g} s does not come after {before[-1][0]:g} s')
    return time, thrust


def _motor(header: tuple[str, list[str]], points: list[tuple[float, float]]) -> ThrustCurve:
    place, (name, diameter, length, delays, propellant, total, *maker) = header
    times, thrusts = np.array(points).T
    curve = ThrustCurve(
        name=name,
        maker=' '.join(maker),
        times=times,
        thrusts=thrusts,
        propellant_mass=_number(place, 'propellant mass', propellant),
        total_mass=_number(place, 'total mass', total),
        diameter=_number(place, 'diameter', diameter) / 1000.0,
        length=_number(place, 'length', length) / 1000.0,
        delays=delays,
    )
    if curve.propellant_mass > curve.total_mass:
        raise SourceError(
            place, f'propellant mass {propellant} kg is above the total mass, {total} kg'
        )
    with np.errstate(over='ignore'):
        impulse = curve.total_impulse
    if impulse <= 0.0:
        raise SourceError(
            place, f'{name} has no thrust until its first row of 0 at {times[-1]:g} s; times rise'
        )
    if not (math.isfinite(impulse) and math.isfinite(curve.max_fuel_rate)):
        raise SourceError(place, f'{name}: its impulse or its fuel rate is not finite')
    if impulse < _LEAST_IMPULSE * curve.propellant_mass:
        casing = 0.25 * math.pi * curve.diameter**2 * curve.length
        if curve.total_mass > _DENSEST * casing:
            raise SourceError(place, f'propellant {propellant} in its header is in kg')
        raise SourceError(
            place, f'{name} gives {impulse:.4g} N s with {propellant} kg; thrusts are in N: if in '
            'kN, times 1000'
        )
    if impulse > _MOST_IMPULSE * curve.propellant_mass > 0.0:
        raise SourceError(
            place, f'{name} burns for {times[-1]:g} s with {impulse:.4g} N s of '
            f'{propellant} kg; thrusts are in N, times in s: if in ms, divide by 1000'
        )
    return curve


def _number(place: str, what: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise SourceError(place, f'{what}: expected a number, got {word!r}') from None
    if not (math.isfinite(value) and value >= 0.0):
        raise SourceError(place, f'{what}: expected at least 0, got {word}')
    return value
