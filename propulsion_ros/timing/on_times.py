# SPDX-License-Identifier: Apache-2.0
"""Times for which something is on, on any one count of nanoseconds that may jump back."""
from __future__ import annotations

from propulsion_ros.timing.stamps import StampJudge, StampLimits

_STAMPS = StampLimits(behind_ns=0, agreeing=1)
"""The caller has judged the time: every step back is a jump."""


class OnTimes:
    """Until when each of n things is on.

    Time is message stamps in simulation, a steady clock on a robot. Where it jumps back, what is
    left of each on-time stays.
    """

    def __init__(self, n: int) -> None:
        self._until_ns = [0] * n
        self._is_on = [False] * n
        self._judge = StampJudge(_STAMPS)

    def start(self, i: int, now_ns: int, duration_ns: int) -> None:
        """Turn one on; what is on is prolonged, never cut short."""
        self._follow(now_ns)
        until_ns = now_ns + duration_ns
        if self._is_on[i]:
            until_ns = max(until_ns, self._until_ns[i])
        self._until_ns[i], self._is_on[i] = until_ns, True

    def stop(self, i: int) -> None:
        """Turn one off."""
        self._is_on[i] = False

    def clear(self) -> None:
        """Turn all off."""
        self._is_on = [False] * len(self._is_on)

    def left_ns(self, i: int, now_ns: int) -> int:
        """Return how long one stays on [ns], 0 where it is off."""
        self._follow(now_ns)
        return self._until_ns[i] - now_ns if self._is_on[i] else 0

    def is_on(self, i: int, now_ns: int) -> bool:
        """Return whether one is on now."""
        return self.left_ns(i, now_ns) > 0

    def _follow(self, now_ns: int) -> None:
        if self._judge.take(now_ns).is_jump:
            back_ns = self._judge.from_ns - now_ns
            self._until_ns = [until_ns - back_ns for until_ns in self._until_ns]
        for i, until_ns in enumerate(self._until_ns):
            # For good: a clock that jumps back must not turn on again what was off.
            self._is_on[i] = self._is_on[i] and now_ns < until_ns
