# SPDX-License-Identifier: Apache-2.0
"""Sensors of RocketPy as the sources of a flight computer: their readings, faults, messages."""
from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from types import SimpleNamespace as Plain
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.loops.payloads import ImuRow, Kind, PressureRow
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.models.common.atmosphere import (
    altitude_of_pressure,
    temperature_and_pressure,
)
from propulsion_ros.replay.plain import plain_message
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import known_hint
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.bench_host import message
from propulsion_ros.study.draws import generator, variable_of
from propulsion_ros.study.ground.sensors import FAULTS, FIX, IMU, ODOMETRY, PRESSURE, Stream

KINDS = tuple(
    kind for kind, fault in FAULTS.items() if fault.sources != (ODOMETRY,) and kind != 'interleaved'
)
"""Names of the faults of a sensor, without that of two publishers on one topic."""
_DEGREE = 111_320.0  # length of a degree of latitude, used for faults only [m]
_UNKNOWN, _KNOWN_DIAGONAL = 0, 2  # types of covariance of a NavSatFix


@dataclass(frozen=True)
class SensorFault:
    """A fault of one sensor.

    Raises
    ------
    SourceError
        For an unknown kind, a value that it does not have, or a value that is no number.
    """

    kind: str
    """Name of the fault, one of `KINDS`."""
    at: float
    """Time at which it begins, in the time of the flight [s]."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Values of the fault, such as ``{'length': 2.0}``; the others are drawn."""
    seed: int = 0
    """Seed of the drawn values, and of the noise of the fault."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SourceError('fault', f'unknown {self.kind!r}{known_hint(self.kind, KINDS)}')
        known, key = FAULTS[self.kind].vary, f'fault {self.kind!r}'
        if not isinstance(self.values, Mapping):
            raise SourceError(key, f'values: expected numbers by name, got {self.values!r}')
        for name in self.values:
            if name not in known:
                raise SourceError(key, f'no value {name!r}{known_hint(name, known)}')
        for name, number in {'at': self.at, **self.values}.items():
            if not isinstance(number, Real) or math.isnan(number):
                raise SourceError(key, f'{name}: expected a number, got {number!r}')
        if not isinstance(self.seed, Integral) or self.seed < 0:
            raise SourceError(key, f'seed: expected an integer of at least 0, got {self.seed!r}')

    def require(self, source: str) -> None:
        """Raise `SourceError` if a source cannot have it."""
        sources = FAULTS[self.kind].sources
        if source not in sources:
            raise SourceError(
                f'fault {self.kind!r}', f'expected one of {", ".join(sources)}, got {source}'
            )


class Reading(NamedTuple):
    """One reading of a source."""

    arrival: float
    stamp: float
    """Times of arrival and of measurement, in the time of the flight [s]."""
    values: tuple[float, ...]


class Spoiler:
    """Applies a fault to readings as they are made, without knowledge of later ones."""

    def __init__(self, fault: SensorFault) -> None:
        self._fault, self._spoil = fault, FAULTS[fault.kind].spoil
        self._rng = generator(fault.seed, 0, fault.kind)
        self._drawn = {
            name: variable_of(name, given).draw(fault.seed, 0)
            for name, given in FAULTS[fault.kind].vary.items()
        } | dict(fault.values)
        self._begin: float | None = None
        self._before: Stream | None = None
        self._seen = -np.inf
        self._waiting: list[Reading] = []

    def pass_on(self, time: FloatArray, values: FloatArray) -> list[Reading]:
        """Return the readings that arrive by the last of times (n,) [s] of values (n, k)."""
        if self._begin is None:
            self._begin = float(time[0])
        # Times of faults count from the start of the sensor.
        time, at = time - self._begin, self._fault.at - self._begin
        stream = Stream(time, time, values)
        if self._before is not None:
            # The last sound reading, which a stuck sensor repeats.
            stream = Stream(*(
                np.concatenate([getattr(self._before, name), getattr(stream, name)])
                for name in ('stamp', 'arrival', 'values')
            ))
        spoilt = self._spoil(self._rng, stream, at, self._drawn)
        fresh = spoilt.kept(spoilt.arrival > self._seen)
        rows = [*self._waiting, *(
            Reading(*row[:2], tuple(row[2])) for row in zip(
                fresh.arrival.tolist(), fresh.stamp.tolist(), fresh.values.tolist(), strict=True
            )
        )]
        self._seen = now = float(time[-1])
        if np.any(early := stream.arrival < at):
            self._before = stream.kept(np.flatnonzero(early)[-1:])
        self._waiting = [row for row in rows if row.arrival > now]
        return [
            Reading(row.arrival + self._begin, row.stamp + self._begin, row.values)
            for row in rows if row.arrival <= now
        ]


class SourceKind(NamedTuple):
    """Sensors and message of one source of a flight computer."""

    classes: tuple[str, ...]
    """Classes of the sensors of RocketPy that it consists of."""
    message: str
    is_required: bool


SOURCES: Mapping[str, SourceKind] = {
    PRESSURE: SourceKind(('Barometer',), Kind.PRESSURE, True),
    FIX: SourceKind(('GnssReceiver',), 'sensor_msgs/msg/NavSatFix', False),
    IMU: SourceKind(('SpecificForce', 'Gyroscope'), Kind.IMU, True),
}
"""Sources by name; at one instant the inertial one comes last, as it makes a sample of all."""


def _is_a(sensor: Any, name: str) -> bool:
    return any(each.__name__ == name for each in type(sensor).__mro__)


def found(
    source: str, sensors: Sequence[Any], wired: Collection[Any] = ()
) -> tuple[Any, ...]:
    """Return the sensors of a rocket that make up a source, () if it has none and needs none.

    Only sensors in ``wired`` are considered, or all if that is empty.

    Raises
    ------
    SourceError
        If one is missing, there are two, or they cannot be used.
    """
    kind, chosen = SOURCES[source], []
    for name in kind.classes:
        own = [
            each for each in sensors if _is_a(each, name)
            and (not wired or any(each is other for other in wired))
        ]
        if not own and not kind.is_required:
            return ()
        if len(own) != 1:
            raise SourceError(source, _problem(name, sensors, len(own)))
        chosen.append(own[0])
    if len({each.sampling_rate for each in chosen}) > 1:
        rates = ', '.join(f'{each.name} {each.sampling_rate:g} Hz' for each in chosen)
        raise SourceError(source, f'expected sensors of one sampling_rate, got {rates}')
    return tuple(chosen)


def _problem(name: str, sensors: Sequence[Any], count: int) -> str:
    if count > 1:
        return f'expected one {name}, got {count}: name those of this computer by sensors='
    if name == 'SpecificForce' and any(_is_a(each, 'Accelerometer') for each in sensors):
        return (
            "expected a propulsion_ros.rocketpy.SpecificForce: RocketPy's Accelerometer does not "
            'show the 1 g that a real one shows at rest'
        )
    return f'expected a {name} on the rocket: rocket.add_sensor(...)'


class Source:
    """The readings of one source in one flight, each given once."""

    def __init__(self, name: str, sensors: Sequence[Any], fault: SensorFault | None) -> None:
        self.name, self.sensors, self._taken = name, sensors, 0
        self._spoiler = None if fault is None else Spoiler(fault)
        self._origin: Sequence[float] = ()
        self.data = [each.measured_data for each in sensors]
        if any(data and isinstance(data[0], list) for data in self.data):
            raise SourceError(name, 'expected a sensor that is added to the rocket once')

    @property
    def is_same(self) -> bool:
        """True while the readings are those of the same flight."""
        return all(data is each.measured_data for data, each in zip(
            self.data, self.sensors, strict=True))

    @property
    def is_behind(self) -> bool:
        """True if there are readings that were not given yet."""
        return len(self.data[-1]) > self._taken

    @property
    def newest(self) -> float:
        """Time of the last reading, in the time of the flight [s]."""
        return float(self.data[-1][-1][0])

    @property
    def is_ready(self) -> bool:
        """True if each sensor has a reading."""
        return all(self.data)

    def on_pad(self, seconds: float, rng: np.random.Generator) -> list[Reading]:
        """Return simulated readings before the flight, with noise."""
        first: list[float] = []
        sigma: list[float] = []
        rate = float(self.sensors[0].sampling_rate)
        for sensor, data in zip(self.sensors, self.data, strict=True):
            row = getattr(sensor, 'at_rest', ()) or data[0][1:]
            first += row
            sigma += np.broadcast_to(_noise(sensor), len(row)).tolist()
        time = -np.arange(math.floor(seconds * rate), 0, -1) / rate
        values = np.array(first, float) + np.array(sigma) * rng.normal(size=(len(time), len(sigma)))
        return self._given(time, values) if len(time) else []

    def new(self) -> list[Reading]:
        """Return the readings since the last call that have arrived by now."""
        begin, self._taken = self._taken, min(map(len, self.data))
        if begin == self._taken:
            return []
        parts = [np.array(data[begin:self._taken], float) for data in self.data]
        return self._given(parts[0][:, 0], np.hstack([part[:, 1:] for part in parts]))

    def _given(self, time: FloatArray, values: FloatArray) -> list[Reading]:
        """Return the readings that arrive by the last of times (n,) [s] of values (n, k)."""
        if self._spoiler is None:
            rows = zip(time.tolist(), values.tolist(), strict=True)
            return [Reading(each, each, tuple(row)) for each, row in rows]
        if self.name not in _UNITS:
            return self._spoiler.pass_on(time, values)
        self._origin = self._origin or values[0].tolist()
        to_faults, back = _UNITS[self.name]
        readings = self._spoiler.pass_on(time, to_faults(values, self._origin))
        if not readings:
            return []
        spoilt = back(np.array([each.values for each in readings]), self._origin)
        return [
            each._replace(values=tuple(row))
            for each, row in zip(readings, spoilt.tolist(), strict=True)
        ]


def _noise(sensor: Any) -> FloatArray:
    """Return the standard deviation of the white noise of each number of a sensor, or of all."""
    if _is_a(sensor, 'GnssReceiver'):
        level = sensor.position_accuracy / _DEGREE
        return np.array([level, level, sensor.altitude_accuracy])
    density, variance = (
        np.atleast_1d(np.array([*each] if hasattr(each, '__iter__') else each, float))
        for each in (sensor.noise_density, sensor.noise_variance)
    )
    return np.asarray(density * np.sqrt(variance * sensor.sampling_rate))


def _to_heights(pascal: FloatArray, origin: Sequence[float]) -> FloatArray:
    return np.asarray(altitude_of_pressure(pascal) - altitude_of_pressure(origin[0]))


def _to_pascal(heights: FloatArray, origin: Sequence[float]) -> FloatArray:
    altitude = heights + float(altitude_of_pressure(origin[0]))
    return np.asarray(temperature_and_pressure(altitude)[1])


def _scale(origin: Sequence[float]) -> FloatArray:
    """Return metres up, east and north per metre, degree of longitude and of latitude."""
    return np.array([1.0, _DEGREE * math.cos(math.radians(origin[0])), _DEGREE])


def _to_metres(fixes: FloatArray, origin: Sequence[float]) -> FloatArray:
    """Return height, east and north (n, 3) [m] from the first of fixes (n, 3)."""
    return np.asarray((fixes - np.array(origin))[:, ::-1] * _scale(origin))


def _to_fixes(metres: FloatArray, origin: Sequence[float]) -> FloatArray:
    return np.asarray((metres / _scale(origin))[:, ::-1] + np.array(origin))


_Change = Callable[[FloatArray, Sequence[float]], FloatArray]
_UNITS: Mapping[str, tuple[_Change, _Change]] = {
    PRESSURE: (_to_heights, _to_pascal), FIX: (_to_metres, _to_fixes),
}
"""Conversions to the units of faults and back; those of the inertial sensor are the same."""


# Messages.

_FRAME = 'base_link'
_OUTLETS = {
    name: Outlet(f'~/{name}', SOURCES[name].message, 'sensor', _FRAME) for name in (PRESSURE, IMU)
}


def message_of(
    source: str, stamp_ns: int, values: Sequence[float], sensors: Sequence[Any]
) -> Plain:
    """Return a reading as a plain message of the type that `SOURCES` has."""
    if source == FIX:
        return _fix(stamp_ns, values, sensors[0])
    row = PressureRow(values[0]) if source == PRESSURE else ImuRow(values[:3], values[3:])
    return plain_message(_OUTLETS[source], stamp_ns, row)


def _fix(stamp_ns: int, values: Sequence[float], receiver: Any) -> Plain:
    level, height = receiver.position_accuracy, receiver.altitude_accuracy
    return message(
        stamp_ns, _FRAME, status={'status': 0, 'service': 1},
        latitude=values[0], longitude=values[1], altitude=values[2],
        position_covariance=np.diag([level**2, level**2, height**2]).ravel(),
        position_covariance_type=_KNOWN_DIAGONAL if level and height else _UNKNOWN,
    )
