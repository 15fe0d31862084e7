"""Time of an estimator that hears several sensors: no single wrong stamp moves it."""
from __future__ import annotations

from enum import Enum

_NEAR_NS = 1_000_000_000


class Time(Enum):
    """What a stamp is to the estimator."""

    GOOD = 'good'
    STRAY = 'stray'  # far from the others: refused unless the next one agrees
    JUMP = 'jump'  # the clock itself was set


class StampGate:
    """Refuses a stamp far from the present until another one agrees with it.

    Parameters
    ----------
    longest : float
        Farthest a stamp may lie ahead [s].
    """

    def __init__(self, longest: float) -> None:
        self._longest_ns = round(longest * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget the present."""
        self._newest_ns: int | None = None
        self._candidate_ns: int | None = None

    def judge(self, stamp_ns: int) -> Time:
        """Take a stamp; the first one is good, whatever it is."""
        newest, candidate = self._newest_ns, self._candidate_ns
        if newest is None or -_NEAR_NS <= stamp_ns - newest <= self._longest_ns:
            self._newest_ns = stamp_ns if newest is None else max(newest, stamp_ns)
            self._candidate_ns = None
            return Time.GOOD
        if candidate is not None and 0 <= stamp_ns - candidate <= _NEAR_NS:
            self._newest_ns, self._candidate_ns = stamp_ns, None
            return Time.JUMP
        self._candidate_ns = stamp_ns
        return Time.STRAY
