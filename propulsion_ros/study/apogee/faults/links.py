# SPDX-License-Identifier: Apache-2.0
"""Links that lose samples, one by one or in bursts."""
from __future__ import annotations

import numpy as np

from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log


def bursts(on: float, off: float) -> Fault:
    """Return a link that is on and off in turn [s], from a random moment on."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        phase = (log.arrival + rng.uniform(0.0, on + off)) % (on + off)
        spoilt = log.kept(phase < on)
        after = spoilt.arrival[spoilt.arrival >= log.end]
        return spoilt.until(float(after[0]) if len(after) else np.inf)
    return spoil


def losses(share: float) -> Fault:
    """Return a link that loses a share of the samples."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        return log.kept(rng.random(len(log.arrival)) >= share)
    return spoil


FAULTS: Faults = {
    'link 0.5 s on, 2.2 s off': bursts(0.5, 2.2),
    'link 0.3 s on, 1.2 s off': bursts(0.3, 1.2),
    'link 1 s on, 4 s off': bursts(1.0, 4.0),
    'link 0.1 s on, 0.9 s off': bursts(0.1, 0.9),
    'link loses half': losses(0.5),
    'link loses nine of ten': losses(0.9),
}
