# SPDX-License-Identifier: Apache-2.0
"""Two inertial inputs that confirm each other: a velocity and its acceleration."""
from __future__ import annotations

import math
from collections import deque
from itertools import pairwise

_STEP_NS = 100_000_000  # between two values that are kept
_LENGTH = 21  # of them, 2 s
_GAP_NS = 500_000_000
_LEAST_CHANGE = 5.0  # of speed, over which the two are compared [m/s]
_SHARE, _NOISE = 0.2, 2.0  # by which they may differ: part of the change, and [m/s]


class InertialPair:
    """Compares the change of a velocity with the integral of an acceleration, over 2 s.

    Attributes
    ----------
    is_coherent : bool
        Whether the speed has changed, by as much as the acceleration shows.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self.is_coherent = False
        self._values: deque[tuple[int, float, float]] = deque(maxlen=_LENGTH)

    def add(self, stamp_ns: int, velocity: float, acceleration: float) -> None:
        """Take both; a NaN is no value."""
        if not (math.isfinite(velocity) and math.isfinite(acceleration)):
            return
        values = self._values
        since_ns = stamp_ns - values[-1][0] if values else _STEP_NS
        if since_ns < 0 or since_ns > _GAP_NS:
            self.reset()
        elif since_ns < _STEP_NS:
            return
        self._values.append((stamp_ns, velocity, acceleration))
        self.is_coherent = self._compare()

    def _compare(self) -> bool:
        values = self._values
        if len(values) < _LENGTH // 2:
            return False
        change = values[-1][1] - values[0][1]
        integral = sum(
            0.5 * (before[2] + after[2]) * (after[0] - before[0]) * 1e-9
            for before, after in pairwise(values)
        )
        largest = max(abs(change), abs(integral))
        return largest > _LEAST_CHANGE and abs(change - integral) < _NOISE + _SHARE * largest
