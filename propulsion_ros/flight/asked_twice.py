# SPDX-License-Identifier: Apache-2.0
"""Requests of consequence, which must be made twice."""
from __future__ import annotations


class AskedTwice:
    """Remembers a refused request for a short while, so that the second one may be followed.

    Parameters
    ----------
    within : float
        [s].
    """

    def __init__(self, within: float) -> None:
        self._within_ns = round(within * 1e9)
        self.forget()

    def forget(self) -> None:
        """Forget what was requested, as after any request that was followed."""
        self._name = ''
        self._times: tuple[int, int | None] = (0, None)

    def note(self, name: str, clock_ns: int, steady_ns: int | None) -> None:
        """Take a request that was refused."""
        self._name, self._times = name, (clock_ns, steady_ns)

    def was(self, name: str, clock_ns: int, steady_ns: int | None) -> bool:
        """Return whether the same was requested shortly before, on every clock there is."""
        then_ns, steady_then_ns = self._times
        if name != self._name or clock_ns - then_ns > self._within_ns:
            return False
        if steady_ns is None or steady_then_ns is None:
            return True
        return steady_ns - steady_then_ns <= self._within_ns
