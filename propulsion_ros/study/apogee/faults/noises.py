# SPDX-License-Identifier: Apache-2.0
"""Noise, coarse steps, and slow errors of the altitude."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log


def noise(sigma: float) -> Fault:
    """Return independent noise of the altitude, one sigma [m]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        return replace(log, altitude=log.altitude + rng.normal(0.0, sigma, len(log.arrival)))
    return spoil


def gusts(sigma: float, period: float) -> Fault:
    """Return slow noise, as of wind over the ports [m], [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        grid = np.arange(log.arrival[0] - period, log.arrival[-1] + 2.0 * period, period)
        wave = np.interp(log.arrival, grid, rng.normal(0.0, sigma, len(grid)))
        return replace(log, altitude=log.altitude + wave)
    return spoil


def steps(quantum: float) -> Fault:
    """Return an altitude in coarse steps [m]."""
    return lambda rng, log: replace(log, altitude=np.round(log.altitude / quantum) * quantum)


def pad_drift(rng: np.random.Generator, log: Log) -> Log:
    """Return a log after two minutes on a pad whose pressure drifts by up to 150 m."""
    time = np.arange(log.arrival[0] - 120.0, log.arrival[0], 0.1)
    offset = rng.choice([-1.0, 1.0]) * rng.uniform(50.0, 150.0)
    pad = offset * (log.arrival[0] - time) / 120.0 + rng.normal(0.0, 0.5, len(time))
    nothing = np.full(len(time), np.nan)
    return replace(
        log, arrival=np.concatenate([time, log.arrival]), stamp=np.concatenate([time, log.stamp]),
        altitude=np.concatenate([pad, log.altitude]),
        velocity=np.concatenate([nothing, log.velocity]),
        acceleration=np.concatenate([nothing, log.acceleration]),
    )


def wrong_pad(rng: np.random.Generator, log: Log) -> Log:
    """Return a log whose pad reads up to 130 m, for half a minute before."""
    offset = rng.choice([-1.0, 1.0]) * rng.uniform(100.0, 130.0)
    time = np.arange(log.arrival[0] - 30.0, log.arrival[0], 0.05)
    nothing = np.full(len(time), np.nan)
    return replace(
        log, arrival=np.concatenate([time, log.arrival]), stamp=np.concatenate([time, log.stamp]),
        altitude=np.concatenate([rng.normal(0.0, 0.5, len(time)), log.altitude]) + offset,
        velocity=np.concatenate([nothing, log.velocity]),
        acceleration=np.concatenate([nothing, log.acceleration]),
    )


FAULTS: Faults = {
    'noise of 3 m': noise(3.0),
    'noise of 8 m': noise(8.0),
    'gusts of 3 m': gusts(3.0, 1.0),
    'steps of 1 m': steps(1.0),
    'steps of 5 m': steps(5.0),
    'drift on the pad': pad_drift,
    'wrong pad': wrong_pad,
}
