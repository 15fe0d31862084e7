# SPDX-License-Identifier: Apache-2.0
"""One case: a situation, the source of the altitude, faults and restarts, all drawn from a seed."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.study.draws import LOG, Range, generator, variable_of
from propulsion_ros.study.ground.sensors import (
    FAULTS,
    FIX,
    IMU,
    ODOMETRY,
    PRESSURE,
    SENSORS,
    Streams,
    measure,
    odometry_of,
)
from propulsion_ros.study.ground.situations import FLIGHTS, GROUND, Scene, Situation

SITUATIONS: Mapping[str, Situation] = {**GROUND, **FLIGHTS}
SOURCES: Mapping[str, tuple[str, ...]] = {
    'pressure': (PRESSURE,), 'odometry': (ODOMETRY,), 'sensors': (IMU, PRESSURE),
    'sensors and fix': (IMU, PRESSURE, FIX),
}
"""Sensors that each configuration reads; the first word is its ``altitude_source``."""
_COUNTS = {'seed': (0, 2**63), 'restarts': (0, 100), 'stages': (1, 2), 'faults': (0, 100)}
"""Smallest and largest value of each integer of a case."""
DRAWN = frozenset({
    *SENSORS, *(name for situation in SITUATIONS.values() for name in situation.vary), 'clock.at',
    *(f'{name}.{key}' for name, fault in FAULTS.items() for key in ('at', *fault.vary)),
    *(f'restart{i or ""}.{key}' for i in range(_COUNTS['restarts'][1]) for key in ('at', 'away')),
})
"""Names of all numbers that are drawn in one case or another."""


@dataclass(frozen=True)
class Case:
    """A case to fly; the same case always gives the same flight.

    Attributes
    ----------
    faults : int or sequence of (str, str)
        Number of faults to draw, or the source and the name in `FAULTS` of each.
    restarts : int
        Number of restarts of the computer, which keeps its record.
    stages : int
        1, or 2 if an engine is lit in flight as well.
    clock : float
        Step of the clocks of computer and sensors at a drawn moment [s].
    pins : mapping
        Fixed values in place of drawn ones: of the situation, the sensors, and
        ``<fault>.<name>``; ``<fault>.at`` is when it begins, ``restart.at`` when the computer
        restarts [s].
    """

    situation: str
    source: str
    seed: int
    faults: int | Sequence[tuple[str, str]] = 0
    restarts: int = 0
    stages: int = 1
    clock: float = 0.0
    pins: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, known in (('situation', SITUATIONS), ('source', SOURCES)):
            value = getattr(self, key)
            if value not in known:
                near = suggestion(value, known)
                raise SourceError(key, f'expected one of {", ".join(known)}, got {value!r}{near}')
        counts: dict[str, Any] = {key: getattr(self, key) for key in ('seed', 'restarts', 'stages')}
        if isinstance(self.faults, Real | str):
            counts['faults'] = self.faults
        for key, count in counts.items():
            low, high = _COUNTS[key]
            if not isinstance(count, int | np.integer) or not low <= count <= high:
                raise SourceError(key, f'expected an integer, {low} to {high}, got {count!r}')
        for key, number in {'clock': self.clock, **self.pins}.items():
            words = SITUATIONS[self.situation].vary.get(key, ())
            if isinstance(words, list) and isinstance(words[0], str):
                if number not in words:
                    raise SourceError(key, f'expected one of {words}, got {number!r}')
            elif not isinstance(number, Real) or math.isnan(number):
                raise SourceError(key, f'expected a number, got {number!r}')


@dataclass(frozen=True)
class Drawn:
    """A case with all drawn values.

    Attributes
    ----------
    streams : mapping
        Readings of all sensors, with their faults.
    faults : tuple of (str, str)
        Source and name of each fault.
    restarts : tuple of (float, float)
        Time of each restart, and for how long the computer is off [s].
    clock : (float, float)
        Time of the step of the clocks, and its size [s].
    """

    scene: Scene
    streams: Streams
    faults: tuple[tuple[str, str], ...]
    restarts: tuple[tuple[float, float], ...]
    clock: tuple[float, float]
    numbers: Mapping[str, Any]

    def fault_class(self, source: str) -> str:
        """Return 'none', 'beside' a sound source, of the 'only' source of a case, or 'two'."""
        if not self.faults:
            return 'none'
        if len(self.faults) > 1:
            return 'two'
        return 'beside' if len(SOURCES[source]) > 1 else 'only'


def draw(case: Case) -> Drawn:
    """Return the truth and the readings of a case.

    Raises `SourceError` for a fault that a source cannot have.
    """
    situation, numbers = SITUATIONS[case.situation], {}
    pins = {**situation.pins, **case.pins}

    def value(name: str, given: Range) -> Any:
        numbers[name] = pins.get(name, variable_of(name, given).draw(case.seed, 0))
        return numbers[name]

    def rng(name: str) -> np.random.Generator:
        return generator(case.seed, 0, f'{name} of a case')

    scene = situation.make(
        rng('motion'), {name: value(name, given) for name, given in situation.vary.items()}
    )
    kit = {name: value(name, given) for name, given in SENSORS.items()}
    streams = measure(scene.motion, rng('noise'), kit)
    window = scene.begin, max(scene.end, scene.begin + 0.1)
    chosen = _faults(case, rng('faults'))
    # Faults of other sensors come first, as the odometry is computed from those.
    for source, name in sorted(chosen, key=lambda each: each[0] == ODOMETRY):
        if source not in streams and source == ODOMETRY:
            streams[ODOMETRY] = odometry_of(streams, scene.motion, kit)
        fault, begin = FAULTS[name], value(f'{name}.at', window)
        drawn = {key: value(f'{name}.{key}', given) for key, given in fault.vary.items()}
        spoilt = fault.spoil(rng(name), streams[source], begin, drawn)
        streams[source] = spoilt.kept(np.argsort(spoilt.arrival, kind='stable'))
    if ODOMETRY in SOURCES[case.source] and ODOMETRY not in streams:
        streams[ODOMETRY] = odometry_of(streams, scene.motion, kit)
    set_at = value('clock.at', window) if case.clock else math.inf
    restarts = _apart(
        (value(f'restart{i or ""}.at', window), value(f'restart{i or ""}.away', (0.3, 20.0, LOG)))
        for i in range(case.restarts)
    )
    return Drawn(scene, streams, tuple(chosen), restarts, (set_at, case.clock), numbers)


def _apart(restarts: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Return restarts (at, away) in order, without those during which it is off already [s]."""
    on, kept = -math.inf, []
    for at, away in sorted(restarts):
        if at > on:
            kept.append((at, away))
            on = at + away
    return tuple(kept)


def _faults(case: Case, rng: np.random.Generator) -> list[tuple[str, str]]:
    own = [
        (source, name) for name in SITUATIONS[case.situation].faults
        for source in SOURCES[case.source] if source in FAULTS[name].sources
    ]
    if not isinstance(case.faults, int):
        for source, name in case.faults:
            if name not in FAULTS or source not in FAULTS[name].sources:
                known = ', '.join(key for key, each in FAULTS.items() if source in each.sources)
                raise SourceError('faults', f'{source} has {known or "none"}, not {name!r}')
        return [*own, *case.faults]
    possible = [
        (source, name) for source in SOURCES[case.source] for name, fault in FAULTS.items()
        if source in fault.sources and (source, name) not in own
    ]
    rows = rng.choice(len(possible), min(case.faults, len(possible)), replace=False)
    return [*own, *(possible[row] for row in rows.tolist())]
