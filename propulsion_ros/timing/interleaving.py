# SPDX-License-Identifier: Apache-2.0
"""What stamps are that come between those of a publisher: wrong ones of its own, or another's."""
from __future__ import annotations

from collections import deque
from itertools import pairwise

_MOST = 200
"""Messages that are looked at, the newest."""
_ENOUGH = 8
"""Intervals that show a rate."""
_STALL = 10
"""So many periods without a message are a stall, and no missing messages."""
_NEAR = 0.2
"""Part of a time by which what is called the same may differ."""
_LATEST = 10.0
"""How wrong stamps of a publisher are at most that may be taken for another one's [s]."""
_EVERY = {1: 'nearly every stamp'} | {
    i + 2: f'every {word} stamp' for i, word in enumerate((
        'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth',
    ))
}


class Interleaving:
    """Distinguishes a publisher some of whose stamps are wrong from two that take turns.

    Each of two publishers goes on regularly by itself. One publisher misses a stamp of its own
    sequence for each that is wrong. Where every second one is wrong from the beginning, nothing
    is missed, and it may be either, but for clocks that are far apart.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget every message."""
        self._rows: deque[tuple[int, int | None]] = deque(maxlen=_MOST)
        self._period_ns = 0

    def take(self, stamp_ns: int) -> None:
        """Take the stamp of a message that continues the others [ns]."""
        self._rows.append((stamp_ns, None))

    def begin(self) -> None:
        """Begin with messages that do not, after a time with none of them."""
        self._period_ns = self._usual_ns()
        rows = list(self._rows)
        self._rows.clear()
        self._rows.extend(rows[-1:])

    def refuse(self, stamp_ns: int, ahead_ns: int) -> None:
        """Take the stamp of one that does not, and how far it is ahead [ns]."""
        self._rows.append((stamp_ns, ahead_ns))

    @property
    def finding(self) -> str:
        """What is seen of at least one such message, in words."""
        places = [i for i, (_, ahead_ns) in enumerate(self._rows) if ahead_ns is not None]
        if len(places) < 2:
            return 'a few stamps are of another time'
        apart = round((places[-1] - places[0]) / (len(places) - 1))
        ahead = sorted(ahead_ns * 1e-9 for _, ahead_ns in self._rows if ahead_ns is not None)
        span = _span(min(map(abs, ahead)), max(map(abs, ahead)))
        of_two = ''
        if not self._has_holes(len(places)):
            if apart != 2 or abs(ahead[0]) > _LATEST:
                return f'two publishers, whose clocks are {span} s apart'
            of_two = ', of one publisher or of two'
        side = 'ahead' if ahead[len(ahead) // 2] > 0.0 else 'late'
        return f'{_EVERY.get(apart, f"one in {apart} stamps")} is {span} s {side}{of_two}'

    def _intervals(self) -> list[int]:
        stamps = [stamp_ns for stamp_ns, ahead_ns in self._rows if ahead_ns is None]
        return sorted(later - earlier for earlier, later in pairwise(stamps) if later > earlier)

    def _usual_ns(self) -> int:
        """Return the usual interval between stamps [ns], 0 where it is not known."""
        intervals = self._intervals()
        return intervals[len(intervals) // 4] if len(intervals) >= _ENOUGH else 0

    def _has_holes(self, refused: int) -> bool:
        """Return whether about as many stamps are missing as have been refused."""
        period_ns = self._period_ns or self._usual_ns()
        if not period_ns:
            return False
        steps = [round(interval_ns / period_ns) for interval_ns in self._intervals()]
        missing = sum(step - 1 for step in steps if 1 < step < _STALL)
        return refused <= 2 * missing and missing <= 2 * refused + 1


def _span(low: float, high: float) -> str:
    if high - low <= _NEAR * high:
        return f'{high:.1f}'
    return f'{low:.1f} to {high:.1f}'
