# SPDX-License-Identifier: Apache-2.0
"""Gaps: for a while nothing arrives."""
from __future__ import annotations

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log


def gap(length: float, earliest: float, latest: float) -> Fault:
    """Return a gap of a length that begins at a random time relative to apogee [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        begin = log.end + rng.uniform(earliest, latest)
        return log.kept(~log.between(begin, begin + length)).until(begin + length)
    return spoil


def gaps(count: int, shortest: float, longest: float) -> Fault:
    """Return gaps of random lengths anywhere up to a little after apogee [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        for _ in range(count):
            length = rng.uniform(shortest, longest)
            begin = rng.uniform(log.arrival[0], log.end + 1.0)
            log = log.kept(~log.between(begin, begin + length))
            if begin < log.end < begin + length:
                log = log.until(begin + length)
        return log
    return spoil


FAULTS: Faults = {
    'gap of 0.6 s about apogee': gap(0.6, -0.6, 0.3),
    'gap of 1.2 s about apogee': gap(1.2, -1.2, 0.3),
    'gap of 1.6 s before apogee': gap(1.6, -4.0, -1.8),
    'gap of 2 s about apogee': gap(2.0, -2.0, 0.3),
    'gap of 2 s before apogee': gap(2.0, -5.0, -2.2),
    'gap of 4 s about apogee': gap(4.0, -4.0, 0.3),
    'gap of 9 s over apogee': gap(9.0, -7.0, -3.0),
    'gaps, many': gaps(12, 0.3, 3.0),
}
