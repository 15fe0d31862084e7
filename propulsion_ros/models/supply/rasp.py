# SPDX-License-Identifier: Apache-2.0
"""Thrust curves of solid motors from RASP .eng files.

A motor is a header line, ``name diameter length delays propellant total maker`` (mm, mm, s, kg,
kg), and lines of time [s] and thrust [N] that end with thrust 0. Lines that begin with a
semicolon are comments. One file may hold several motors.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True, eq=False)
class ThrustCurve:
    """One motor."""

    name: str
    maker: str
    """As in the header."""
    times: FloatArray
    thrusts: FloatArray
    """Points of the curve [s], [N], (k,); linear between them, from no thrust at 0."""
    propellant_mass: float
    total_mass: float
    """[kg]."""
    diameter: float
    length: float
    """[m]."""
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
        raise SourceError(place, f'{name} has no thrust')
    if not (math.isfinite(impulse) and math.isfinite(curve.max_fuel_rate)):
        raise SourceError(place, f'{name}: its impulse or its fuel rate is not finite')
    return curve


def _number(place: str, what: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise SourceError(place, f'{what}: expected a number, got {word!r}') from None
    if not (math.isfinite(value) and value >= 0.0):
        raise SourceError(place, f'{what}: expected at least 0, got {word}')
    return value
