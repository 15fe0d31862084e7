# SPDX-License-Identifier: Apache-2.0
"""Whether a condition has lasted."""
from __future__ import annotations

import math


class Dwell:
    """Time for which a condition has held.

    By default a gap in the feed proves nothing: one step counts for at most half of the duration,
    so that at least three updates must agree however far apart they lie. With ``counts_gaps``
    two are enough, for a condition on the time between them, such as a fall.

    Parameters
    ----------
    duration : float
        How long it must hold [s]; 0 is satisfied by the first update.
    counts_gaps : bool
        Whether every step counts in full.
    longest_gap : float
        Updates further apart do not agree with each other: it starts over [s].

    Attributes
    ----------
    start_ns : int or None
        When it began to hold, None where it does not.
    """

    def __init__(
        self, duration: float, *, counts_gaps: bool = False, longest_gap: float = math.inf
    ) -> None:
        self._duration_ns = round(duration * 1e9)
        self._longest_gap_ns = longest_gap * 1e9
        self._longest_step_ns = None if counts_gaps else (self._duration_ns + 1) // 2
        self.reset()

    def reset(self) -> None:
        """Start over."""
        self.start_ns: int | None = None
        self._last_ns = 0
        self._held_ns = 0

    def update(self, clock_ns: int, holds: bool) -> bool:
        """Take one observation and return whether the condition has lasted."""
        if not holds:
            self.reset()
            return False
        if clock_ns - self._last_ns > self._longest_gap_ns:
            self.reset()
        if self.start_ns is None:
            self.start_ns = clock_ns
        else:
            # A clock that was set back takes nothing from what has lasted.
            step_ns = max(clock_ns - self._last_ns, 0)
            longest_ns = self._longest_step_ns
            self._held_ns += step_ns if longest_ns is None else min(step_ns, longest_ns)
        self._last_ns = clock_ns
        return self._held_ns >= self._duration_ns

    def has_lasted(self, duration: float) -> bool:
        """Return whether it has held for another duration than its own [s], by the latest."""
        return self.start_ns is not None and self._held_ns >= round(duration * 1e9)
