# SPDX-License-Identifier: Apache-2.0
"""Boost or coast on the way up."""
from __future__ import annotations

import math

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_BURN_ACCELERATION = 0.5 * STANDARD_GRAVITY
_MEASURED_TIME = 0.1
_FITTED_TIME = 1.0


class BurnMonitor:
    """Distinguishes boost from coast by the net acceleration, with hysteresis.

    A coasting vehicle has at most -g, a burning one more than 0. Each must hold for a while
    beyond half a g, so that noise does not make the sub-phase chatter: 0.1 s where acceleration
    is measured, 1 s where it is the curvature of the altitude.
    """

    def __init__(self) -> None:
        self._measured = Dwell(_MEASURED_TIME)
        self._fitted = Dwell(_FITTED_TIME)
        self.reset(burning=True)

    def reset(self, *, burning: bool) -> None:
        """Begin in boost or in coast."""
        self._measured.reset()
        self._fitted.reset()
        self.is_burning = burning

    def update(self, clock_ns: int, measured: float, fitted: float) -> None:
        """Take the acceleration net of gravity, up positive [m/s^2].

        The measured one counts where it is known; where both are NaN nothing changes.
        """
        is_measured = math.isfinite(measured)
        acceleration = measured if is_measured else fitted
        direction = -1.0 if self.is_burning else 1.0
        dwell = self._measured if is_measured else self._fitted
        if dwell.update(clock_ns, direction * acceleration > _BURN_ACCELERATION):
            self.reset(burning=not self.is_burning)
