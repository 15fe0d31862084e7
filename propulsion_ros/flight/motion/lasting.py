# SPDX-License-Identifier: Apache-2.0
"""Something measured that has lasted."""
from __future__ import annotations

import math

from propulsion_ros.timing.dwell import Dwell


class Lasting:
    """A measurement that must hold for a while; NaN and a repeated value are no news.

    Parameters
    ----------
    duration : float
        [s].
    """

    def __init__(self, duration: float) -> None:
        self._dwell = Dwell(duration)
        self.reset()

    def reset(self) -> None:
        """Start over."""
        self._dwell.reset()
        self._news = math.nan
        self._first = math.nan

    def update(self, clock_ns: int, news: float, holds: bool, pace: float = 0.0) -> int | None:
        """Return when it began to hold, None where it has not held for long enough.

        Parameters
        ----------
        clock_ns : int
            Now [ns].
        news : float
            What was measured.
        holds : bool
            Whether it shows that.
        pace : float
            How fast the value must have risen since it began to hold, fallen where negative
            [1/s]; 0 for anyhow.
        """
        if math.isnan(news) or news == self._news:
            return None
        self._news = news
        has_lasted = self._dwell.update(clock_ns, holds)
        start_ns = self._dwell.start_ns
        if start_ns == clock_ns:
            self._first = news
        if not has_lasted or start_ns is None:
            return None
        if pace == 0.0:
            return start_ns
        gained = (news - self._first) * math.copysign(1.0, pace)
        return start_ns if gained >= abs(pace) * (clock_ns - start_ns) * 1e-9 else None
