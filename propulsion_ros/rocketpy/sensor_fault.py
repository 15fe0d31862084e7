# SPDX-License-Identifier: Apache-2.0
"""A fault of the studies on the ground, by its name, on readings that come one by one."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import generator, variable_of
from propulsion_ros.study.ground.faults import FAULTS
from propulsion_ros.study.ground.sensors import ODOMETRY, Stream

KINDS = tuple(
    kind for kind, fault in FAULTS.items() if fault.sources != (ODOMETRY,) and kind != 'interleaved'
)
"""Names of the faults; two publishers on one topic are none of a sensor."""


@dataclass(frozen=True)
class SensorFault:
    """What goes wrong with one sensor.

    Raises
    ------
    SourceError
        For an unknown kind, or a value that it does not have.
    """

    kind: str
    """Name of the fault, one of `KINDS`."""
    at: float
    """When it begins, in the time of the flight [s]."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Of what the kind draws, such as ``{'length': 2.0}``; the rest is drawn."""
    seed: int = 0
    """Of what is drawn, and of its noise."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SourceError(
                'fault', f'unknown {self.kind!r}{suggestion(self.kind, KINDS)}; '
                f'known: {", ".join(KINDS)}'
            )
        known = FAULTS[self.kind].vary
        for name in self.values:
            if name not in known:
                raise SourceError(
                    f'fault {self.kind!r}', f'no value {name!r}{suggestion(name, known)}; '
                    f'it has {", ".join(known) or "none"}'
                )

    def require(self, source: str) -> None:
        """Raise `SourceError` where a source cannot have it."""
        sources = FAULTS[self.kind].sources
        if source not in sources:
            raise SourceError(
                f'fault {self.kind!r}', f'expected one of {", ".join(sources)}, got {source}'
            )


class Reading(NamedTuple):
    """One reading of a source."""

    arrival: float
    stamp: float
    """When it comes and when it was measured, in the time of the flight [s]."""
    values: tuple[float, ...]


class Spoiler:
    """Has a fault in readings, of which it knows none that has not been made yet.

    Parameters
    ----------
    fault : SensorFault
        The fault.
    """

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
        """Return what comes by the last of some times (n,) [s] of values (n, k)."""
        if self._begin is None:
            self._begin = float(time[0])
        # Faults count from when the sensor is switched on.
        time, at = time - self._begin, self._fault.at - self._begin
        stream = Stream(time, time, values)
        if self._before is not None:
            # What a sensor that hangs goes on to show.
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
