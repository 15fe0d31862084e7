# SPDX-License-Identifier: Apache-2.0
"""Whether a condition has lasted, a value is held or alive, and how long a thing stays on."""
from __future__ import annotations

import math
from typing import Any

from propulsion_ros.timing.stamps import StampJudge, StampLimits


class Dwell:
    """Time for which a condition has held.

    By default a gap in the feed proves nothing: one step counts for at most half of the duration,
    so that at least three updates must agree however far apart they lie. With ``counts_gaps``
    two are enough, for a condition on the time between them, such as a fall.

    Parameters
    ----------
    duration : float
        How long it must hold [s]; 0 is satisfied by the first update.
    counts_gaps : bool
        Whether every step counts in full.
    longest_gap : float
        Updates further apart do not agree with each other: it starts over [s].

    Attributes
    ----------
    start_ns : int or None
        When it began to hold, None where it does not.
    """

    def __init__(
        self, duration: float, *, counts_gaps: bool = False, longest_gap: float = math.inf
    ) -> None:
        self._duration_ns = round(duration * 1e9)
        self._longest_gap_ns = longest_gap * 1e9
        self._longest_step_ns = None if counts_gaps else (self._duration_ns + 1) // 2
        self.reset()

    def reset(self) -> None:
        """Start over."""
        self.start_ns: int | None = None
        self._last_ns = 0
        self._held_ns = 0

    def update(self, clock_ns: int, holds: bool) -> bool:
        """Take one observation and return whether the condition has lasted."""
        if not holds:
            self.reset()
            return False
        if clock_ns - self._last_ns > self._longest_gap_ns:
            self.reset()
        if self.start_ns is None:
            self.start_ns = clock_ns
        else:
            # A clock that was set back takes nothing from what has lasted.
            step_ns = max(clock_ns - self._last_ns, 0)
            longest_ns = self._longest_step_ns
            self._held_ns += step_ns if longest_ns is None else min(step_ns, longest_ns)
        self._last_ns = clock_ns
        return self._held_ns >= self._duration_ns

    def has_lasted(self, duration: float) -> bool:
        """Return whether it has held for another duration than its own [s], by the latest."""
        return self.start_ns is not None and self._held_ns >= round(duration * 1e9)


class Held:
    """A value, since when it has not changed, and what was known when it last did.

    A value is alive until it has stayed the same for longer than the limit, then it is held. A
    user that knows better, such as that the vehicle has moved, need not wait for the limit:
    `repeats` is whether the value is the same, ``then`` where the vehicle was when it changed.

    Parameters
    ----------
    limit_ns : int
        For how long a value may stay the same and still be alive [ns].

    Attributes
    ----------
    value : object
        The latest, None before the first.
    since_ns : int or None
        Stamp of the first of the values that are the same as the latest, None before any.
    then : object
        What was given with that one.
    """

    def __init__(self, limit_ns: int = 0) -> None:
        self._limit_ns = limit_ns
        self.reset()

    def reset(self) -> None:
        """Forget the value."""
        self.value: Any = None
        self.then: Any = None
        self.since_ns: int | None = None

    def repeats(self, stamp_ns: int, value: Any, then: Any = None) -> bool:
        """Take a value, and return whether it is the same as the one before.

        NaN is not the same as NaN: give what stands for it where an unknown value may be held.
        """
        if self.since_ns is not None and value == self.value:
            return True
        self.value, self.then, self.since_ns = value, then, stamp_ns
        return False

    def is_held(self, now_ns: int) -> bool:
        """Return whether there is a value, and it has stayed for longer than the limit."""
        return self.since_ns is not None and now_ns - self.since_ns > self._limit_ns

    def is_alive(self, now_ns: int) -> bool:
        """Return whether there is a value that has changed within the limit."""
        return self.since_ns is not None and now_ns - self.since_ns <= self._limit_ns


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

    @property
    def is_idle(self) -> bool:
        """Whether all are off, by the latest time that was given."""
        return not any(self._is_on)

    def left_ns(self, i: int, now_ns: int) -> int:
        """Return how long one stays on [ns], 0 where it is off."""
        if self.is_idle:
            return 0
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
