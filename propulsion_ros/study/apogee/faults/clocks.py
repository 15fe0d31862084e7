# SPDX-License-Identifier: Apache-2.0
"""Clocks that are set, and stamps that wander."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log, Rows


def step(size: float, earliest: float, latest: float) -> Fault:
    """Return a clock that is set by a step at a random time relative to apogee [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        rows = log.between(log.end + rng.uniform(earliest, latest), np.inf)
        return log.with_values('stamp', rows, log.stamp[rows] + size)
    return spoil


def jitter(sigma: float, rate: float = np.inf) -> Fault:
    """Return stamps that wander [s], of a sensor that is no faster than a rate [Hz]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        log = log.kept(_thinned(log, rate))
        log = replace(log, stamp=log.stamp + rng.uniform(-sigma, sigma, len(log.stamp)))
        return log.until(log.end + (0.0 if rate == np.inf else 1.0 / rate))
    return spoil


def rate(hertz: float) -> Fault:
    """Return a sensor that is no faster than a rate [Hz]."""
    return jitter(0.0, hertz)


def swapped(rng: np.random.Generator, log: Log) -> Log:
    """Return a log in which every tenth sample comes after the next one."""
    order = np.arange(len(log.arrival))
    for i in np.flatnonzero(rng.random(len(order) - 1) < 0.1):
        order[i], order[i + 1] = order[i + 1], order[i]
    return replace(log.kept(order), arrival=log.arrival)


def _thinned(log: Log, hertz: float) -> Rows:
    if hertz == np.inf:
        return np.full(len(log.arrival), True)
    slot = np.floor(log.arrival * hertz)
    return np.diff(slot, prepend=slot[0] - 1.0) > 0.0


FAULTS: Faults = {
    'clock set back by 3 s': step(-3.0, -8.0, -0.5),
    'clock set back by 0.3 s': step(-0.3, -8.0, -0.5),
    'clock set ahead by 1 s': step(1.0, -8.0, -0.5),
    'clock set ahead by 5 s': step(5.0, -8.0, -0.5),
    'clock set ahead by an hour': step(3600.0, -8.0, -0.5),
    'jitter of 20 ms': jitter(0.02),
    '1 Hz with jitter of 0.1 s': jitter(0.1, 1.0),
    '1 Hz': rate(1.0),
    '2 Hz': rate(2.0),
    '5 Hz': rate(5.0),
    'swapped samples': swapped,
}
