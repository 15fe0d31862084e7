"""When the next picture is due, by the stamps of what it shows."""
from __future__ import annotations

_STALE_NS = 1_000_000_000
"""What is this much older than the newest says nothing of now [ns]."""
_JUMP_NS = 1_000_000_000
"""A stamp this far behind the newest is of a new time [ns]."""


class Pace:
    """Lets pass one stamp in a period, and the first one after time has jumped back.

    Several sources may share it; one that is a little behind the others is no jump.

    Parameters
    ----------
    period_ns : int
        Least distance between two stamps that are let pass.
    """

    def __init__(self, period_ns: int) -> None:
        self._period_ns = period_ns
        self.restart()

    def restart(self) -> None:
        """Forget the time, as before the first stamp."""
        self._newest_ns: int | None = None
        self._passed_ns: int | None = None

    def jumps_back(self, stamp_ns: int) -> bool:
        """Return whether a stamp is of another time than those before it."""
        return self._newest_ns is not None and stamp_ns < self._newest_ns - _JUMP_NS

    def is_due(self, stamp_ns: int) -> bool:
        """Return whether this stamp is let pass."""
        if self.jumps_back(stamp_ns):
            self.restart()
        if self._newest_ns is None or stamp_ns > self._newest_ns:
            self._newest_ns = stamp_ns
        if self._passed_ns is not None and stamp_ns < self._passed_ns + self._period_ns:
            return False
        self._passed_ns = stamp_ns
        return True

    def is_stale(self, stamp_ns: int) -> bool:
        """Return whether a stamp is much older than the newest."""
        return self._newest_ns is not None and stamp_ns < self._newest_ns - _STALE_NS
