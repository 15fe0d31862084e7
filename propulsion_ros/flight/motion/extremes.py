# SPDX-License-Identifier: Apache-2.0
"""The lowest and the highest of recent values."""
from __future__ import annotations

import math


class Extremes:
    """Lowest and highest value of the last one to two periods.

    Two values in a row must agree on an extreme, so that one spike is none; and an extreme is
    forgotten in time, so that a slow drift of the weather is no rise.

    Parameters
    ----------
    period : float
        [s].
    """

    def __init__(self, period: float) -> None:
        self._period_ns = period * 1e9
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self._latest = math.nan
        self._begun_ns: int | None = None
        self._low = self._lower = math.inf
        self._high = self._higher = -math.inf

    @property
    def lowest(self) -> float:
        """Lowest recent value, infinity before two."""
        return min(self._low, self._lower)

    @property
    def highest(self) -> float:
        """Highest recent value, minus infinity before two."""
        return max(self._high, self._higher)

    def update(self, clock_ns: int, value: float) -> None:
        """Take a value; one that is not finite is none."""
        if not math.isfinite(value):
            return
        if self._begun_ns is None:
            self._begun_ns = clock_ns
        elif clock_ns - self._begun_ns > self._period_ns:
            self._begun_ns = clock_ns
            self._lower, self._higher = self._low, self._high
            self._low, self._high = math.inf, -math.inf
        if math.isfinite(self._latest):
            self._low = min(self._low, max(value, self._latest))
            self._high = max(self._high, min(value, self._latest))
        self._latest = value
