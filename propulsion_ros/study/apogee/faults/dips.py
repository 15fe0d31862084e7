# SPDX-License-Identifier: Apache-2.0
"""Dips: the altitude of static ports near Mach 1, at any moment of the ascent."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log


def _square(x: FloatArray) -> FloatArray:
    return np.where((x > 0.0) & (x < 1.0), 1.0, 0.0)


def _bell(x: FloatArray) -> FloatArray:
    return np.where((x > 0.0) & (x < 1.0), np.sin(np.pi * x) ** 2, 0.0)


def _saw(x: FloatArray) -> FloatArray:
    """Return a fall at once and a slow return, as of a port that refills."""
    return np.where((x > 0.0) & (x < 1.0), 1.0 - x, 0.0)


def _ramp(x: FloatArray) -> FloatArray:
    """Return a slow fall and a return at once, as of a shock that passes."""
    return np.where((x > 0.0) & (x < 1.0), x, 0.0)


def dip(shape: object, depth: float, length: float, latest: float = -0.2) -> Fault:
    """Return a dip of a depth [m] and a length [s] that begins anywhere in the ascent."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        # Two draws, so that half of the dips lie within the last seconds before apogee.
        first = float(rng.choice([0.3, log.end - 5.0]))
        begin = rng.uniform(max(first, log.arrival[0]), log.end + latest)
        moved = -depth * shape((log.arrival - begin) / length)  # type: ignore[operator]
        every = np.full(len(log.arrival), True)
        log = log.with_values('altitude', every, log.altitude + moved)
        return log.until(begin + length if begin + length > log.end else -np.inf)
    return spoil


FAULTS: Faults = {
    'dip of 800 m, 2.5 s, square': dip(_square, 800.0, 2.5),
    'dip of 800 m, 2.5 s, bell': dip(_bell, 800.0, 2.5),
    'dip of 800 m, 2.5 s, saw': dip(_saw, 800.0, 2.5),
    'dip of 800 m, 2.5 s, ramp': dip(_ramp, 800.0, 2.5),
    'dip of 150 m, 1.5 s, bell': dip(_bell, 150.0, 1.5),
    'dip of 40 m, 2.5 s, ramp': dip(_ramp, 40.0, 2.5),
    'dip of 30 m, 1 s, bell': dip(_bell, 30.0, 1.0),
    'hump of 200 m, 2 s, bell': dip(_bell, -200.0, 2.0),
}
