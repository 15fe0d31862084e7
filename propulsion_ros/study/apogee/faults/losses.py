# SPDX-License-Identifier: Apache-2.0
"""Values that are lost for ever while samples go on."""
from __future__ import annotations

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log, with_velocity


def lost(earliest: float, latest: float, columns: tuple[str, ...]) -> Fault:
    """Return columns that are unknown from a random time relative to apogee on [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        rows = log.between(log.end + rng.uniform(earliest, latest), np.inf)
        for name in columns:
            log = log.with_values(name, rows, np.nan)
        return log.until(np.inf)
    return spoil


def velocity_only(earliest: float, latest: float) -> Fault:
    """Return an altitude that is lost where a velocity goes on."""
    drop = lost(earliest, latest, ('altitude',))
    return lambda rng, log: drop(rng, with_velocity(log))


_ALL = ('altitude', 'velocity', 'acceleration')
FAULTS: Faults = {
    'lost for ever before apogee': lost(-4.0, -0.2, _ALL),
    'lost for ever in coast': lost(-10.0, -4.0, _ALL),
    'altitude lost, velocity goes on': velocity_only(-8.0, 0.0),
}
