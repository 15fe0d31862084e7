# SPDX-License-Identifier: Apache-2.0
"""Faults of sensors, links and clocks: pure functions of a generator and a log, by name."""
from __future__ import annotations

from propulsion_ros.study.apogee.faults import (
    charges,
    clocks,
    dips,
    gaps,
    holds,
    links,
    losses,
    noises,
    spikes,
    stages,
    stalls,
    starts,
    velocities,
)
from propulsion_ros.study.apogee.faults.log import Fault, Log

__all__ = ['FAULTS', 'Fault', 'Log']

FAULTS: dict[str, Fault] = {
    'none': lambda rng, log: log,
    **gaps.FAULTS, **links.FAULTS, **stalls.FAULTS, **holds.FAULTS, **losses.FAULTS,
    **spikes.FAULTS, **dips.FAULTS, **charges.FAULTS, **noises.FAULTS, **starts.FAULTS,
    **clocks.FAULTS, **velocities.FAULTS, **stages.FAULTS,
}
"""Every fault, the one that does nothing first."""
