"""A condition that must hold for a while, and a feed that must keep changing."""
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


class FrozenCheck:
    """Notices a feed that repeats itself: an estimator that stalls but keeps publishing.

    Parameters
    ----------
    limit : float
        The feed is frozen when no value has changed for this long [s].
    """

    def __init__(self, limit: float) -> None:
        self._limit_ns = round(limit * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget the feed."""
        self._values: tuple[float, ...] = ()
        self._changed_ns = 0

    def update(self, clock_ns: int, *values: float) -> bool:
        """Take the values of one sample and return whether the feed is frozen."""
        # repr, because NaN is unequal to itself and must count as no change.
        if repr(values) != repr(self._values):
            self._values = values
            self._changed_ns = clock_ns
        return clock_ns - self._changed_ns >= self._limit_ns
