# SPDX-License-Identifier: Apache-2.0
"""Spikes: single samples and short bursts that are far off."""
from __future__ import annotations

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log


def spikes(share: float, least: float, most: float) -> Fault:
    """Return spikes in a share of the samples, of sizes between two powers of ten [m]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        rows = rng.random(len(log.arrival)) < share
        size = rng.choice([-1.0, 1.0], rows.sum()) * 10.0 ** rng.uniform(least, most, rows.sum())
        return log.with_values('altitude', rows, log.altitude[rows] + size)
    return spoil


def bursts(count: int, length: float, size: float) -> Fault:
    """Return bursts of wild samples at random times [s], [m]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        for _ in range(count):
            begin = rng.uniform(max(log.arrival[0], 0.0), log.end)
            rows = log.between(begin, begin + length)
            wild = rng.normal(0.0, size, rows.sum())
            log = log.with_values('altitude', rows, log.altitude[rows] + wild)
        return log
    return spoil


def absurd(rng: np.random.Generator, log: Log) -> Log:
    """Return a log with values that no sensor reads in every twentieth sample."""
    rows = rng.random(len(log.arrival)) < 0.05
    values = rng.choice([np.nan, np.inf, -np.inf, 1e9, -1e5, 0.0], rows.sum())
    return log.with_values('altitude', rows, values)


FAULTS: Faults = {
    'spikes in 1 %': spikes(0.01, 1.0, 4.0),
    'spikes in 10 %': spikes(0.10, 1.0, 4.0),
    'spikes in 25 %': spikes(0.25, 1.0, 3.0),
    'bursts of 0.2 s': bursts(8, 0.2, 200.0),
    'bursts of 0.6 s': bursts(5, 0.6, 300.0),
    'absurd values': absurd,
}
