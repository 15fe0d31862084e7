"""A feed that must keep changing."""
from __future__ import annotations


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
