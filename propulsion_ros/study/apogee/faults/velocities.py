# SPDX-License-Identifier: Apache-2.0
"""Velocity inputs that are wrong, and outages of the inertial sensor that makes them."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log, with_velocity


def lagging(lag: float) -> Fault:
    """Return a velocity that is late [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        log = with_velocity(log)
        known = np.isfinite(log.velocity)
        late = np.interp(log.arrival - lag, log.arrival[known], log.velocity[known])
        return replace(log, velocity=late)
    return spoil


def changed(scale: float, offset: float, noise: float) -> Fault:
    """Return a velocity with a wrong scale, an offset and noise [m/s] from some moment on."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        log = with_velocity(log)
        rows = log.between(rng.uniform(0.2, 0.9) * log.end, np.inf)
        wrong = scale * log.velocity[rows] + offset + rng.normal(0.0, noise, rows.sum())
        return log.with_values('velocity', rows, wrong)
    return spoil


def stuck(earliest: float, latest: float, value: float = np.nan) -> Fault:
    """Return a velocity that stands still from a part of the ascent on, by itself or at a value."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        log = with_velocity(log)
        rows = log.between(rng.uniform(earliest, latest) * log.end, np.inf)
        found = log.velocity[rows]
        held = float(found[np.isfinite(found)][0]) if np.isnan(value) else value
        return log.with_values('velocity', rows, held)
    return spoil


def outage(length: float, drift: float) -> Fault:
    """Return a velocity that goes on as it was in an outage [s], and is off by a drift [m/s^2]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        log = with_velocity(log)
        begin = rng.uniform(0.1, 0.9) * log.end
        since = np.clip(log.arrival - begin, 0.0, length)
        begun = float(np.interp(begin, log.arrival, log.velocity))
        inside = (since > 0.0) & (since < length)
        kept = np.where(inside, begun, log.velocity)
        return replace(log, velocity=kept + drift * rng.choice([-1.0, 1.0]) * since
                       + 1e-3 * rng.normal(size=len(since)))
    return spoil


def fast_for_ever(rng: np.random.Generator, log: Log) -> Log:
    """Return a velocity that keeps what it was in the burn, with noise, as without its sensor."""
    log = with_velocity(log)
    rows = log.between(rng.uniform(0.1, 0.4) * log.end, np.inf)
    value = max(float(np.nanmax(log.velocity)), 100.0)
    return log.with_values('velocity', rows, value + rng.normal(0.0, 0.5, rows.sum()))


FAULTS: Faults = {
    'velocity 0.5 s late': lagging(0.5),
    'velocity 1.5 s late': lagging(1.5),
    'velocity +20 m/s': changed(1.0, 20.0, 0.5),
    'velocity +60 m/s': changed(1.0, 60.0, 0.5),
    'velocity -20 m/s': changed(1.0, -20.0, 0.5),
    'velocity -60 m/s': changed(1.0, -60.0, 0.5),
    'velocity wild': changed(1.0, 0.0, 30.0),
    'velocity downward': changed(-1.0, 0.0, 0.5),
    'velocity stuck': stuck(0.3, 0.95),
    'velocity 0 for ever': stuck(0.1, 0.9, 0.0),
    'velocity fast for ever': fast_for_ever,
    'inertial outage of 3 s': outage(3.0, 5.0),
    'inertial outage, drift': outage(15.0, 8.0),
}
