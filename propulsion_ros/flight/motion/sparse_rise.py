# SPDX-License-Identifier: Apache-2.0
"""A rise by readings that come a second and more apart."""
from __future__ import annotations

import math

_INTERVAL_NS = 900_000_000  # at least, between two readings
_LONGEST_NS = 20_000_000_000  # what is older shows no motion of now
_FEWEST = 4  # readings in a row


class SparseRise:
    """Finds a rise where no slope can be fitted, because few readings get through.

    Four readings in a row must each be higher than the one before, by a speed that all of them
    show. A sensor with more than about one reading a second has a slope instead.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the readings."""
        self._latest: tuple[int, float] | None = None
        self._begun_ns: int | None = None
        self._count = 0

    def update(self, clock_ns: int, news: float, holds: bool, pace: float) -> int | None:
        """Return when a rise began, None where there is none; a reading that repeats is none.

        Parameters
        ----------
        clock_ns : int
            Now [ns].
        news : float
            The altitude [m], NaN where unknown.
        holds : bool
            Whether nothing else contradicts a rise.
        pace : float
            Speed of a rise, at least [m/s].
        """
        latest = self._latest
        if math.isnan(news) or (latest is not None and news == latest[1]):
            return None
        self._latest = clock_ns, news
        if latest is None or not holds or not _rises(*latest, clock_ns, news, pace):
            self._count, self._begun_ns = 0, None
            return None
        if self._begun_ns is None:
            self._begun_ns, self._count = latest[0], 1
        self._count += 1
        return self._begun_ns if self._count >= _FEWEST else None


def _rises(before_ns: int, before: float, now_ns: int, now: float, pace: float) -> bool:
    """Return whether two readings that are neither too close nor too far apart show a speed."""
    interval_ns = now_ns - before_ns
    is_apart = _INTERVAL_NS <= interval_ns <= _LONGEST_NS
    return is_apart and now - before >= pace * interval_ns * 1e-9
