# SPDX-License-Identifier: Apache-2.0
"""Stamps that stand still while what they stamp goes on, as of a driver whose clock has hung."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from propulsion_ros.timing.stamps import REANCHOR_NS

_FEWEST = 3
"""Changes of the values at one stamp, at least, that show a sensor alive."""


class StuckStamps:
    """Takes messages of one topic, and gives those of a hung clock the time of their arrival.

    Messages that follow one another with one stamp are duplicates. Where that lasts for
    `REANCHOR_NS` while their values change, the sensor is alive and its clock is not: its time goes
    on from that stamp as the steady clock does, until the stamps go on. A message whose values are
    those of the one before stays a duplicate.

    Attributes
    ----------
    is_stuck : bool
        Whether the stamps stand still now.
    """

    def __init__(self) -> None:
        self._stamp_ns: int | None = None
        self._begin(0)

    def _begin(self, steady_ns: int) -> None:
        self._since_ns = steady_ns
        self._values = ''
        self._changes = 0
        self.is_stuck = False

    def time_of(self, stamp_ns: int, steady_ns: int, values: Callable[[], Any]) -> int:
        """Return the stamp that a message counts by [ns].

        Parameters
        ----------
        stamp_ns : int
            That it has [ns].
        steady_ns : int
            When it came, on a steady clock [ns].
        values : callable
            Returns what it measures; only called where the stamp is that of the message before.
        """
        if stamp_ns != self._stamp_ns:
            self._stamp_ns = stamp_ns
            self._begin(steady_ns)
            return stamp_ns
        # As text, in which NaN is the same as NaN.
        known, self._values = self._values, repr(values())
        if self._values == known:
            return stamp_ns
        self._changes += 1
        stood_ns = steady_ns - self._since_ns
        self.is_stuck = stood_ns >= REANCHOR_NS and self._changes >= _FEWEST
        return stamp_ns + stood_ns if self.is_stuck else stamp_ns
