# SPDX-License-Identifier: Apache-2.0
"""Ejection charges: pressure pulses about apogee."""
from __future__ import annotations

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log


def pulse(size: float, decay: float, earliest: float, latest: float) -> Fault:
    """Return a pulse [m] that decays exponentially [s], at a time relative to apogee [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        begin = log.end + rng.uniform(earliest, latest)
        since = log.arrival - begin
        moved = np.where(since >= 0.0, size * np.exp(-np.maximum(since, 0.0) / decay), 0.0)
        every = np.full(len(since), True)
        return log.with_values('altitude', every, log.altitude + moved)
    return spoil


FAULTS: Faults = {
    'charge of -763 m': pulse(-763.0, 0.15, -2.0, 1.0),
    'charge of -763 m, slow': pulse(-763.0, 0.5, -2.0, 1.0),
    'charge of -100 m': pulse(-100.0, 0.2, -3.0, 1.0),
    'charge of +100 m': pulse(100.0, 0.2, -2.0, 1.0),
}
