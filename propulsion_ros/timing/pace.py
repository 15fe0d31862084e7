# SPDX-License-Identifier: Apache-2.0
"""When the next picture is due, by the stamps of what it shows."""
from __future__ import annotations

from collections.abc import Hashable

from propulsion_ros.timing.stamps import StampJudge, StampLimits

_STALE_NS = 1_000_000_000
"""A state this much older than the newest is out of date [ns]."""
_STAMPS = StampLimits(behind_ns=1_000_000_000, agreeing=1)
"""A picture is not worth waiting for a second stamp of a new time."""


class Pace:
    """Decides whether a picture of several sources is due: once in a period of their stamps.

    Each source is compared with its own stamps alone, since their times may differ.

    Parameters
    ----------
    period_ns : int
        Least distance between two pictures.
    """

    def __init__(self, period_ns: int) -> None:
        self._period_ns = period_ns
        self.restart()

    @property
    def newest_ns(self) -> int | None:
        """Newest stamp of all sources, None before the first."""
        return max(self._newest.values(), default=None)

    def restart(self) -> None:
        """Forget the time, as before the first stamp."""
        self._judges: dict[Hashable, StampJudge] = {}
        self._newest: dict[Hashable, int] = {}
        self._drawn: dict[Hashable, int] = {}

    def take(self, source: Hashable, stamp_ns: int) -> bool:
        """Take a stamp of a source; return whether its time began anew, then all is forgotten."""
        is_new = source not in self._judges
        judge = StampJudge(_STAMPS) if is_new else self._judges[source]
        has_jumped = judge.take(stamp_ns).is_jump
        if has_jumped:
            self.restart()
        self._judges[source] = judge
        if self._drawn:
            # Others count from their next stamp, but a new one that is late from the picture.
            first_ns = min(stamp_ns, *self._drawn.values()) if is_new else stamp_ns
            self._drawn.setdefault(source, first_ns)
        self._newest[source] = max(stamp_ns, self._newest.get(source, stamp_ns))
        return has_jumped

    def is_due(self, source: Hashable) -> bool:
        """Return whether a source that has a stamp wants a new picture."""
        drawn_ns = self._drawn.get(source)
        return drawn_ns is None or self._newest[source] >= drawn_ns + self._period_ns

    def draw(self, source: Hashable) -> None:
        """Note a picture that this source wanted."""
        self._drawn = {source: self._newest[source]}

    def is_stale(self, stamp_ns: int) -> bool:
        """Return whether a stamp is much older than the newest."""
        newest_ns = self.newest_ns
        return newest_ns is not None and stamp_ns < newest_ns - _STALE_NS
