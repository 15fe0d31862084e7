# SPDX-License-Identifier: Apache-2.0
"""The zeros of many falling functions at once."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.quantity import BoolArray, FloatArray

_TOLERANCE = 1e-12
"""Width of a bracket, over the largest argument, that is none."""


class FallingRoot:
    """Looks for where m falling functions are 0, by secants that a bracket keeps from going astray.

    Parameters
    ----------
    place, slope : FloatArray
        Where to look first, and what slope to expect there, below 0.
    top : FloatArray
        The largest argument; 0 is the smallest.

    Attributes
    ----------
    place : FloatArray
        Where to look next.
    slope : FloatArray
        Between the last two places.
    found : FloatArray
        The best place so far where no function is below 0 by more than the tolerance.
    """

    def __init__(self, place: FloatArray, slope: FloatArray, top: FloatArray) -> None:
        self.place, self.slope = place, slope
        self._low, self._high, self._top = np.zeros_like(top), top, top
        self.found: FloatArray = self._low
        self._before: tuple[FloatArray, FloatArray] | None = None

    def ends(self, error: FloatArray, tolerance: FloatArray) -> bool:
        """Take the values at `place`; return whether all are found, else move on."""
        self._low = np.where(error >= 0.0, self.place, self._low)
        self._high = np.where(error <= 0.0, self.place, self._high)
        good = np.abs(error) <= tolerance
        done = good | (self._high - self._low <= _TOLERANCE * self._top)
        self.found = np.where(good, self.place, self._low)
        if done.all():
            return True
        guess, is_better = self._secant(error)
        inside = is_better & (guess >= self._low) & (guess <= self._high)
        self._before = self.place, error
        middle = 0.5 * (self._low + self._high)
        self.place = np.where(done, self.place, np.where(inside, guess, middle))
        return False

    def _secant(self, error: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the next places by secants, and where the last ones have halved the error."""
        is_better = np.ones(error.shape, bool)
        if self._before is not None:
            way, rise = self.place - self._before[0], error - self._before[1]
            falls = way * rise < 0.0
            self.slope = np.where(falls, rise / np.where(falls, way, 1.0), self.slope)
            is_better = np.abs(error) <= 0.5 * np.abs(self._before[1])
        return self.place - error / self.slope, is_better
