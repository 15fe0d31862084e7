# SPDX-License-Identifier: Apache-2.0
"""Sensors that hold their value: slow ones, and ones that stand still."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log, Rows

_COLUMNS = ('altitude', 'velocity', 'acceleration')


def slow(period: float, columns: tuple[str, ...] = ('altitude',)) -> Fault:
    """Return a sensor that measures once a period [s] and is published as fast as before."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        slot = np.floor((log.arrival + rng.uniform(0.0, period)) / period)
        first = np.searchsorted(slot, slot)
        for name in columns:
            log = log.with_values(name, np.full(len(slot), True), getattr(log, name)[first])
        return log.until(log.end + period)
    return spoil


def frozen(
    earliest: float, latest: float, length: float, columns: tuple[str, ...] = ('altitude',)
) -> Fault:
    """Return columns that keep their value from a random time relative to apogee on [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        begin = log.end + rng.uniform(earliest, latest)
        rows = log.between(begin, begin + length)
        for name in columns:
            log = log.with_values(name, rows, _first(getattr(log, name), rows))
        return log.until(begin + length)
    return spoil


def _first(column: FloatArray, rows: Rows) -> float:
    found = column[rows]
    known = found[np.isfinite(found)]
    return float(known[0]) if len(known) else np.nan


FAULTS: Faults = {
    'held at 1 Hz': slow(1.0),
    'held at 2 Hz': slow(0.5),
    'held at 5 Hz': slow(0.2),
    'held at 1 Hz, every input': slow(1.0, _COLUMNS),
    'frozen for 1 s in coast': frozen(-6.0, -1.0, 1.0),
    'frozen for 3 s in coast': frozen(-8.0, -3.2, 3.0),
    'frozen for 3 s over apogee': frozen(-3.0, 0.0, 3.0),
    'frozen for 6 s over apogee': frozen(-6.0, 0.0, 6.0),
    'stuck for ever before apogee': frozen(-5.0, -0.5, np.inf),
    'stuck for ever in coast': frozen(-9.0, -5.0, np.inf),
    'stuck for ever, every input': frozen(-5.0, -0.5, np.inf, _COLUMNS),
}
