# SPDX-License-Identifier: Apache-2.0
"""A fall by an altitude that may be that of a sensor which has just started."""
from __future__ import annotations

from propulsion_ros.flight.motion.lasting import Lasting
from propulsion_ros.flight.motion.slope import Slope

_WINDOW = 1.5  # over which a fall speeds up or slows down [s]
_FASTER_TIME, _STEADY_TIME, _ANY_TIME = 1.0, 3.0, 10.0  # [s]


class Fall:
    """Finds a fall, and lets no sensor that settles on the pad take the place of one.

    A barometer that settles after a start falls as well, by hundreds of metres: it slows down, or
    is on its way for a few seconds. What falls from an apogee speeds up until drag holds it. So a
    fall must last

    * 1 s where it speeds up, and no accelerometer that is alive rests meanwhile;
    * 3 s where it is steady;
    * ``longest`` where it slows down.

    Until then nothing shows that it is one; the ends are there for what falls after all.

    Parameters
    ----------
    longest : float
        After which any fall counts [s].
    """

    def __init__(self, longest: float = _ANY_TIME) -> None:
        self._slope = Slope(_WINDOW)
        self._faster, self._steady = Lasting(_FASTER_TIME), Lasting(_STEADY_TIME)
        self._any = Lasting(longest)
        self._rests = False

    def reset(self) -> None:
        """Forget the altitude."""
        self._slope.reset()
        for path in (self._faster, self._steady, self._any):
            path.reset()

    def sense(self, clock_ns: int, altitude: float, *, rests: bool) -> None:
        """Take a sample of the altitude [m], NaN where unknown.

        Parameters
        ----------
        clock_ns : int
            Now [ns].
        altitude : float
            As measured [m].
        rests : bool
            Whether an accelerometer that is alive shows rest.
        """
        self._slope.update(clock_ns, altitude)
        self._rests = rests

    def update(self, clock_ns: int, news: float, holds: bool, pace: float = 0.0) -> int | None:
        """Return when a certain fall began, None where there is none.

        Takes what `Lasting.update` does: an altitude [m], and whether it sinks.
        """
        trend = self._slope.trend if holds else 0
        starts = (
            self._faster.update(clock_ns, news, holds and trend < 0 and not self._rests, pace),
            self._steady.update(clock_ns, news, holds and trend <= 0, pace),
            self._any.update(clock_ns, news, holds, pace),
        )
        return next((start_ns for start_ns in starts if start_ns is not None), None)
