# SPDX-License-Identifier: Apache-2.0
"""Whether a sensor is alive: its value is known, and changes."""
from __future__ import annotations

import math

_INTERVALS = 2.5  # a slow sensor is alive for so many of its own intervals
_LONGEST_INTERVAL_NS = 2_000_000_000


class LiveValue:
    """Follows one value of the samples; NaN is no value, and one that repeats itself is no news.

    Parameters
    ----------
    limit : float
        A value that has not changed for this long is that of a dead sensor [s]; for a sensor
        with fewer samples it is two and a half of its intervals.

    Attributes
    ----------
    is_new : bool
        Whether the latest sample brought a value that differs from the one before.
    """

    def __init__(self, limit: float) -> None:
        self._limit_ns = round(limit * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget the sensor."""
        self.is_new = False
        self._value = math.nan
        self._known_ns: int | None = None
        self._changed_ns: int | None = None
        self._interval_ns = 0

    def update(self, clock_ns: int, value: float) -> None:
        """Take the value of a sample."""
        self.is_new = math.isfinite(value) and value != self._value
        if not math.isfinite(value):
            return
        if self._known_ns is not None:
            self._interval_ns = min(clock_ns - self._known_ns, _LONGEST_INTERVAL_NS)
            if self.is_new:
                # A first value proves nothing: a stuck sensor has one too.
                self._changed_ns = clock_ns
        self._known_ns, self._value = clock_ns, value

    def is_alive(self, clock_ns: int) -> bool:
        """Return whether the value has changed lately."""
        if self._changed_ns is None:
            return False
        limit_ns = max(self._limit_ns, round(_INTERVALS * self._interval_ns))
        return clock_ns - self._changed_ns <= limit_ns
