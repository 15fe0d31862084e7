# SPDX-License-Identifier: Apache-2.0
"""What the force allocation and its inverse cost; the original is C++ inside a flight stack."""
from __future__ import annotations

from itertools import cycle

import numpy as np

from benchmarks.cases import Case
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.fam.inverse_fam import InverseFam, InverseFamParams

_LARGEST = np.array([0.3, 0.2, 0.2, 0.02, 0.01, 0.02])


def allocation(samples: int) -> Case:
    """Return one allocation and one inversion, alone or as one of a batch."""
    fam, inverse = Fam(FamParams()), InverseFam(InverseFamParams())
    shape = (4, 6) if samples == 1 else (4, samples, 6)
    wrenches = np.random.default_rng(1).uniform(-1.0, 1.0, shape) * _LARGEST
    told = [fam.sent(fam.allocate(wrench)) for wrench in wrenches]
    asked, sent = cycle(wrenches), cycle(told)
    case = Case('fam and inverse', {
        'allocate': lambda: fam.allocate(next(asked)),
        'estimate': lambda: inverse.estimate(*next(sent)),
    }, limits={'allocate': 20e-6, 'estimate': 15e-6})
    if samples > 1:
        return Case(
            f'fam and inverse, one of {samples}', case.ours, per_step=samples,
            limits={'allocate': 0.5e-6, 'estimate': 0.5e-6},
        )
    commands, states = cycle([Command(effort=wrench) for wrench in wrenches]), cycle(
        [_command(angle, speed) for angle, speed in told]
    )
    still = BodyState()
    case.ours['step of fam'] = lambda: fam.step(next(commands), still, 0.016, 0)
    case.ours['step of inverse_fam'] = lambda: inverse.step(next(states), still, 0.016, 0)
    return case


def _command(angle: np.ndarray, speed: np.ndarray) -> Command:
    return Command(
        position=np.concatenate((angle, [np.nan] * 2)),
        velocity=np.concatenate(([np.nan] * 12, speed)),
    )
