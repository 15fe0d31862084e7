# SPDX-License-Identifier: Apache-2.0
"""Stalls: samples are held up, and what follows is late."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log


def stall(length: float, latency: float, earliest: float, latest: float) -> Fault:
    """Return a stall in which samples are lost, after which all arrive late by a latency [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        begin = log.end + rng.uniform(earliest, latest)
        log = log.kept(~log.between(begin, begin + length))
        late = log.arrival >= begin
        log = log.with_values('arrival', late, log.arrival[late] + latency)
        return log.until(begin + length + latency).until(log.end + latency)
    return spoil


def backlog(length: float, earliest: float, latest: float) -> Fault:
    """Return a stall whose samples all come at its end [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        begin = log.end + rng.uniform(earliest, latest)
        rows = log.between(begin, begin + length)
        burst = begin + length + 1e-3 * np.arange(rows.sum()) / max(rows.sum(), 1)
        return log.with_values('arrival', rows, burst).until(begin + length)
    return spoil


def latency(mean: float, spread: float) -> Fault:
    """Return samples that are late by a latency that varies [s], in their order."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        late = log.arrival + mean + spread * rng.random(len(log.arrival))
        late = np.maximum.accumulate(late)
        return replace(log, arrival=late).until(log.end + mean + spread)
    return spoil


FAULTS: Faults = {
    'stall of 0.8 s, then 0.15 s late': stall(0.8, 0.15, -6.0, 0.0),
    'stall of 0.8 s, then 0.35 s late': stall(0.8, 0.35, -6.0, 0.0),
    'stall of 3 s, then 0.35 s late': stall(3.0, 0.35, -6.0, 0.0),
    'backlog of 1 s': backlog(1.0, -3.0, 0.0),
    'backlog of 3 s': backlog(3.0, -4.0, 0.0),
    'latency of 0.1 to 0.5 s': latency(0.1, 0.4),
}
