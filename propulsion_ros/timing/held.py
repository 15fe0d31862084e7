# SPDX-License-Identifier: Apache-2.0
"""Whether a value is held, as by a sensor that has stalled, or alive."""
from __future__ import annotations

from typing import Any


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
