# SPDX-License-Identifier: Apache-2.0
"""Feeds that begin in the air."""
from __future__ import annotations

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log, coast_begin


def start(earliest: float, latest: float) -> Fault:
    """Return a log that begins at a random time relative to apogee [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        begin = log.end + rng.uniform(earliest, latest)
        return log.kept(log.arrival >= begin).until(begin)
    return spoil


def in_coast(rng: np.random.Generator, log: Log) -> Log:
    """Return a log that begins after two fifths of the ascent."""
    return log.kept(log.arrival >= coast_begin(log))


FAULTS: Faults = {
    'begins in coast': in_coast,
    'begins 5 s before apogee': start(-6.0, -4.0),
    'begins 2 s before apogee': start(-2.5, -1.5),
    'begins at apogee': start(-0.5, 1.0),
}
