"""A condition that must hold for a while."""
from __future__ import annotations


class Dwell:
    """Time for which something has held, counted so that a gap in the feed proves nothing.

    One step counts for at most half of the duration, so that at least three updates must agree
    however far apart they lie.

    Parameters
    ----------
    duration : float
        How long it must hold [s]; 0 is satisfied by the first update.
    """

    def __init__(self, duration: float) -> None:
        self._duration_ns = round(duration * 1e9)
        self._longest_step_ns = (self._duration_ns + 1) // 2
        self.reset()

    def reset(self) -> None:
        """Start over."""
        self.start_ns: int | None = None
        self._last_ns = 0
        self._held_ns = 0

    def update(self, clock_ns: int, holds: bool) -> bool:
        """Take one observation and return whether it has held long enough."""
        if not holds:
            self.reset()
            return False
        if self.start_ns is None:
            self.start_ns = clock_ns
        else:
            self._held_ns += min(clock_ns - self._last_ns, self._longest_step_ns)
        self._last_ns = clock_ns
        return self._held_ns >= self._duration_ns
