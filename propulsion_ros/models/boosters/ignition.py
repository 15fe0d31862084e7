# SPDX-License-Identifier: Apache-2.0
"""Boosters that burn some time after they are lit."""
from __future__ import annotations

from typing import Any

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.settings.quantity import BoolArray, FloatArray


class IgnitionDelay:
    """n igniters, each of which must be on for a time before its booster burns.

    Parameters
    ----------
    delay : FloatArray
        [s], (n,).
    batch : tuple of int
        Leading batch shape of the state.

    Attributes
    ----------
    left : FloatArray
        Time until each burns once it is on [s], (..., n).
    """

    left: FloatArray

    def __init__(self, delay: FloatArray, batch: tuple[int, ...]) -> None:
        self._batch, self._delay = batch, np.broadcast_to(delay, (*batch, len(delay)))

    def reset(self, indices: Any = None, burns: BoolArray | None = None) -> None:
        """Wait anew, but for what burns already, (..., n); see `restart`."""
        left = self._delay if burns is None else np.where(burns, 0.0, self._delay)
        restart(self, indices, self._batch, left=left)

    def step(self, on: BoolArray, dt: float) -> FloatArray:
        """Return for which part of a step of ``dt`` [s] each booster burns, (..., n)."""
        burns = np.where(on, np.maximum(dt - self.left, 0.0), 0.0)
        waits = on & (self.left <= dt) if dt == 0.0 else burns
        self.left = np.where(on, np.maximum(self.left - dt, 0.0), self._delay)
        return np.asarray(burns / dt if dt > 0.0 else waits, dtype=float)
