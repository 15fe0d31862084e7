# SPDX-License-Identifier: Apache-2.0
"""Dwell time of a condition, detection of a value that repeats itself, and on-times of outputs."""
from __future__ import annotations

import math
from typing import Any


class Dwell:
    """Time for which a condition has held.

    By default a gap between updates proves nothing: one step counts for at most half of the
    duration, so at least three updates must agree however far apart they lie. With ``counts_gaps``
    two are enough, for a condition on the time between them, such as a fall.

    Parameters
    ----------
    duration : float
        How long the condition must hold [s]; with 0 the first update suffices.
    counts_gaps : bool
        Whether every step counts in full.
    longest_gap : float
        After a longer time between two updates the dwell time starts over [s].

    Attributes
    ----------
    start_ns : int or None
        Time at which the condition began to hold, None while it does not.
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
            # A clock that was set back does not shorten the dwell time.
            step_ns = max(clock_ns - self._last_ns, 0)
            longest_ns = self._longest_step_ns
            self._held_ns += step_ns if longest_ns is None else min(step_ns, longest_ns)
        self._last_ns = clock_ns
        return self._held_ns >= self._duration_ns

    def has_lasted(self, duration: float) -> bool:
        """Return whether the condition has held for another duration [s], at the last update."""
        return self.start_ns is not None and self._held_ns >= round(duration * 1e9)


class Held:
    """Detects that a value repeats itself, and keeps what was known at its last change.

    A value is alive until it has stayed the same for longer than the limit, then it is held. A
    caller that knows more, such as that the vehicle has moved, need not wait for the limit:
    `repeats` returns whether the value is the same, ``then`` may be the position at its change.

    Parameters
    ----------
    limit_ns : int
        How long a value may stay the same and still be alive [ns].

    Attributes
    ----------
    value : object
        The latest value, None before the first.
    since_ns : int or None
        Stamp at which the value changed to the latest one, None before any.
    then : object
        What the caller passed with the value at that change.
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

        NaN never equals NaN: pass another placeholder if an unknown value may repeat itself.
        """
        if self.since_ns is not None and value == self.value:
            return True
        self.value, self.then, self.since_ns = value, then, stamp_ns
        return False

    def is_held(self, now_ns: int) -> bool:
        """Return whether there is a value that has not changed for longer than the limit."""
        return self.since_ns is not None and now_ns - self.since_ns > self._limit_ns

    def is_alive(self, now_ns: int) -> bool:
        """Return whether there is a value that has changed within the limit."""
        return self.since_ns is not None and now_ns - self.since_ns <= self._limit_ns


class OnTimes:
    """Timers that turn each of n outputs off after its on-time.

    Time is that of message stamps in simulation, and of a steady clock on a robot. The caller has
    judged it, so every step back is a jump, in which the remaining on-times stay the same.
    """

    def __init__(self, n: int) -> None:
        self._until_ns = [0] * n
        self._is_on = [False] * n
        self._now_ns = 0

    def start(self, i: int, now_ns: int, duration_ns: int) -> None:
        """Turn an output on; if it is on already, its on-time is never shortened."""
        self._follow(now_ns)
        until_ns = now_ns + duration_ns
        if self._is_on[i]:
            until_ns = max(until_ns, self._until_ns[i])
        self._until_ns[i], self._is_on[i] = until_ns, True

    def stop(self, i: int) -> None:
        """Turn an output off."""
        self._is_on[i] = False

    def clear(self) -> None:
        """Turn all outputs off."""
        self._is_on = [False] * len(self._is_on)

    @property
    def is_idle(self) -> bool:
        """Whether all outputs are off, at the latest time that was given."""
        return not any(self._is_on)

    def left_ns(self, i: int, now_ns: int) -> int:
        """Return the remaining on-time of an output [ns], 0 if it is off."""
        if self.is_idle:
            return 0
        self._follow(now_ns)
        return self._until_ns[i] - now_ns if self._is_on[i] else 0

    def is_on(self, i: int, now_ns: int) -> bool:
        """Return whether an output is on now."""
        return self.left_ns(i, now_ns) > 0

    def _follow(self, now_ns: int) -> None:
        back_ns, self._now_ns = max(self._now_ns - now_ns, 0), now_ns
        self._until_ns = [until_ns - back_ns for until_ns in self._until_ns]
        for i, until_ns in enumerate(self._until_ns):
            # Off for good: a clock that jumps back must not turn an output on again.
            self._is_on[i] = self._is_on[i] and now_ns < until_ns
