# SPDX-License-Identifier: Apache-2.0
"""Signals over time from published messages, and the numbers that a study derives from them."""
from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.loops.decoders import msg_to_inertia, msg_to_motion, msg_to_wrench, stamp_to_ns
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.models.common.family import FIELDS, WRENCH_NAMES
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import known_hint, suggestion
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import is_number

_OPTIONS = ('from', 'to', 'minus')


_TAKES: Mapping[str, Callable[[FloatArray, FloatArray], float]] = {
    'first': lambda time, values: float(values[0]),
    'last': lambda time, values: float(values[-1]),
    'min': lambda time, values: float(values.min()),
    'max': lambda time, values: float(values.max()),
    'mean': lambda time, values: float(values.mean()),
    'rms': lambda time, values: math.sqrt(float(values @ values) / len(values)),
    # Each value holds until the next one.
    'integral': lambda time, values: float(values[:-1] @ np.diff(time)),
    'time_of_min': lambda time, values: float(time[values.argmin()]),
    'time_of_max': lambda time, values: float(time[values.argmax()]),
}
"""Functions from a signal to a number."""


@dataclass(frozen=True)
class Result:
    """A number that is derived from a signal of each case."""

    name: str
    take: str
    """One of the keys of `_TAKES`."""
    topic: str
    """Topic in the graph, such as 'vehicle/odometry'."""
    part: str
    """Part of the message, such as 'z'."""
    begin: float = -math.inf
    end: float = math.inf
    """First and last stamp that count [s]."""
    minus: float = 0.0
    """Number that is subtracted from the signal first, such as a target."""

    @property
    def unit(self) -> str:
        """Unit of the number, '' if it has none."""
        if self.take.startswith('time_of'):
            return 's'
        unit = next((unit for parts, unit in _UNITS if parts.fullmatch(self.part)), '')
        return f'{unit} s'.strip() if self.take == 'integral' else unit

    def of(self, rows: Iterable[tuple[float, float]]) -> float:
        """Return the number for rows of stamp [s] and value, NaN without rows in its span."""
        kept = np.array(
            [row for row in rows if self.begin <= row[0] <= self.end], dtype=float
        ).reshape(-1, 2)
        if not len(kept):
            return math.nan
        return _TAKES[self.take](kept[:, 0], kept[:, 1] - self.minus)


def check_results(results: Iterable[Result], published: Mapping[str, Outlet]) -> None:
    """Raise `SourceError` for a result of a topic or part that no node publishes."""
    for result in results:
        check_published(f'results: {result.name}', result.topic, published)
        outlet = published[f'/{result.topic}']
        known = [f'{name}.{field}' for field in FIELDS for name in outlet.names]
        if outlet.kind != Kind.JOINTS:
            known = [*_reader(outlet.topic, outlet.kind)[0]]
        if known:
            _check_part(result.topic, result.part, known)


def _check_part(topic: str, part: str, known: Collection[str]) -> None:
    if part not in known:
        raise SourceError(f'{topic}.{part}', f'unknown{known_hint(part, known)}')


def _reader(topic: str, kind: str) -> tuple[Sequence[str], Callable[[Any], Iterable[float]]]:
    if kind not in _READERS:
        raise SourceError(topic, f'no number can be kept of a {kind}')
    return _READERS[kind]


def check_published(place: str, topic: str, published: Collection[str]) -> None:
    """Raise `SourceError` for a topic that no node publishes."""
    known = sorted(each.strip('/') for each in published)
    if topic not in known:
        hint = known_hint(topic, known, 'found')
        raise SourceError(place, f'no node publishes {topic!r}{hint}')


def read_result(place: str, name: str, given: Any) -> Result:
    """Return the result of an entry in a file; raise `SourceError` if it is invalid.

    Parameters
    ----------
    given : object
        ``{max: vehicle/odometry.z, from: 2.0}`` or the like.
    """
    example = 'one such as max: vehicle/odometry.z'
    if not isinstance(given, Mapping):
        raise SourceError(place, f'expected {example}, got {given!r}')
    takes = [str(key) for key in given if key not in _OPTIONS]
    if len(takes) != 1 or takes[0] not in _TAKES:
        near = suggestion(takes[0], _TAKES) if takes else ''
        known = ', '.join(_TAKES)
        raise SourceError(place, f'expected one of {known}, got {", ".join(takes) or "none"}{near}')
    topic, dot, part = str(given[takes[0]]).partition('.')
    if not (topic and dot and part):
        raise SourceError(place, f'expected TOPIC.PART, {example}, got {given[takes[0]]!r}')
    numbers = {key: given[key] for key in _OPTIONS if key in given}
    for key, value in numbers.items():
        if not is_number(value):
            raise SourceError(place, f'{key}: expected a number, got {value!r}')
    if numbers.get('from', -math.inf) > numbers.get('to', math.inf):
        raise SourceError(
            place, f"from: expected at most to, {numbers['to']} s, got {numbers['from']}"
        )
    return Result(
        name, takes[0], topic.strip('/'), part, float(numbers.get('from', -math.inf)),
        float(numbers.get('to', math.inf)), float(numbers.get('minus', 0.0)),
    )


class Signals:
    """Collects the signals of some results from published messages."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results
        self._rows: dict[tuple[str, str], list[tuple[float, float]]] = {
            (f'/{each.topic}', each.part): [] for each in results
        }
        self._wanted: dict[str, list[str]] = {}
        for topic, part in self._rows:
            self._wanted.setdefault(topic, []).append(part)

    def take(self, topic: str, kind: str, message: Any) -> None:
        """Take a message; raise `SourceError` if it lacks a part that a result needs."""
        parts = self._wanted.get(topic)
        if parts is None:
            return
        if kind == Kind.JOINTS:
            numbers = _state(message)
        else:
            names, read = _reader(topic.strip('/'), kind)
            numbers = dict(zip(names, read(message), strict=True))
        time = stamp_to_ns(message.header.stamp) * 1e-9
        for part in parts:
            _check_part(topic.strip('/'), part, numbers)
            self._rows[topic, part].append((time, numbers[part]))

    def numbers(self) -> dict[str, float]:
        """Return all results; NaN if nothing was published in the span of one."""
        return {
            each.name: each.of(self._rows[f'/{each.topic}', each.part]) for each in self._results
        }


def _odometry(message: Any) -> list[float]:
    motion = msg_to_motion(message, message.child_frame_id)
    up, speed = float(motion.rotation[2, 2]), float(np.linalg.norm(motion.velocity))
    vectors = (motion.position, motion.velocity_world, motion.angular_velocity)
    tilt = math.acos(min(max(up, -1.0), 1.0))
    return [*np.concatenate(vectors).tolist(), speed, tilt]


def _state(message: Any) -> dict[str, float]:
    return {
        f'{name}.{field}': float(value) for field in FIELDS
        for name, value in zip(message.name, getattr(message, field), strict=False)
    }


def _inertia(message: Any) -> list[float]:
    mass, com, inertia = msg_to_inertia(message)
    return [mass, *com.tolist(), *np.diagonal(inertia).tolist()]


def _imu(message: Any) -> list[float]:
    force, rate = message.linear_acceleration, message.angular_velocity
    return [force.x, force.y, force.z, rate.x, rate.y, rate.z]


_BATTERY = ('voltage', 'current', 'percentage')
_READERS: Mapping[str, tuple[Sequence[str], Callable[[Any], Iterable[float]]]] = {
    Kind.BATTERY: (_BATTERY, lambda message: (float(getattr(message, each)) for each in _BATTERY)),
    Kind.IMU: (('ax', 'ay', 'az', 'wx', 'wy', 'wz'), _imu),
    Kind.INERTIA: (('mass', 'com.x', 'com.y', 'com.z', 'ixx', 'iyy', 'izz'), _inertia),
    Kind.ODOMETRY: (
        ('x', 'y', 'z', 'vx', 'vy', 'vz', 'wx', 'wy', 'wz', 'speed', 'tilt'), _odometry,
    ),
    Kind.POINT: (('x', 'y', 'z'), lambda message: (getattr(message.point, each) for each in 'xyz')),
    Kind.PRESSURE: (('pressure',), lambda message: [float(message.fluid_pressure)]),
    Kind.WRENCH: (WRENCH_NAMES, lambda message: msg_to_wrench(message).tolist()),
}
"""Parts of a message of each kind, and functions that return their numbers."""

_UNITS = tuple((re.compile(parts), unit) for parts, unit in {
    r'force\.[xyz]|.*\.effort': 'N', r'torque\.[xyz]': 'N m', r'.*/pressure\.position': 'Pa',
    r'.*/temperature\.position': 'K', r'.*/fuel_ratio\.position': '', r'.*\.velocity': 'rad/s',
    r'.*\.position|tilt': 'rad', r'(com\.)?[xyz]': 'm', 'v[xyz]|speed': 'm/s', 'a[xyz]': 'm/s^2',
    'w[xyz]': 'rad/s', 'mass': 'kg', 'i(xx|yy|zz)': 'kg m^2', 'pressure': 'Pa', 'voltage': 'V',
    'current': 'A',
}.items())
"""Unit of each part."""
