"""Order of message stamps: what is new, what is late, and when the clock itself has jumped."""
from __future__ import annotations

import enum

_LATE_BEFORE_JUMP = 3


class Arrival(enum.Enum):
    """What a stamp means after the stamps before it."""

    FIRST = 'first'
    NEXT = 'next'
    GAP = 'gap'  # next, after so long that the motion between is unknown
    LATE = 'late'  # repeated or older: to be ignored
    JUMP = 'jump'  # older, and so are its successors: the clock was set back


class StampOrder:
    """Tell a late message from a clock that was set back, and a gap from a slow sensor.

    A stamp older than the newest one is late; the third such stamp in increasing order says
    that the clock was set back (a single stamp from the far future is undone the same way).
    An interval is a gap where it is longer than ``maximum_gap`` and more than 2.5 times the
    interval before it, so that a sensor of one sample a second has no gaps.

    Parameters
    ----------
    maximum_gap : float
        Longest interval that is never a gap [s].
    """

    def __init__(self, maximum_gap: float) -> None:
        self._maximum_ns = round(maximum_gap * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget all stamps."""
        self._newest: int | None = None
        self._interval = 0
        self._late_count = 0
        self._late_stamp = 0
        self.shift_ns = 0

    def classify(self, stamp_ns: int) -> Arrival:
        """Return what the stamp is; after JUMP, `shift_ns` moves old stamps to the new clock."""
        if self._newest is None:
            self._newest = stamp_ns
            return Arrival.FIRST
        interval = stamp_ns - self._newest
        if interval <= 0:
            return self._backward(stamp_ns, self._newest)
        known = self._interval
        self._interval = interval
        self._newest = stamp_ns
        self._late_count = 0
        if known and interval > self._maximum_ns and interval > 2.5 * known:
            return Arrival.GAP
        return Arrival.NEXT

    def _backward(self, stamp_ns: int, newest: int) -> Arrival:
        if stamp_ns == newest:
            return Arrival.LATE
        goes_on = self._late_count > 0 and stamp_ns > self._late_stamp
        self._late_count = self._late_count + 1 if goes_on else 1
        self._late_stamp = stamp_ns
        if self._late_count < _LATE_BEFORE_JUMP:
            return Arrival.LATE
        self._late_count = 0
        self.shift_ns = stamp_ns - newest - _LATE_BEFORE_JUMP * self._interval
        self._newest = stamp_ns
        return Arrival.JUMP
