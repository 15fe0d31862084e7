# SPDX-License-Identifier: Apache-2.0
"""Signs of motion up or down that last."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.flight.motion.slope import Slope
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_WINDOWS = (1.0, 2.0, 4.0)  # of the time: the noisier the altitude, the longer
_FEWEST = 5  # readings that agree
_WEIGHTLESS = 3.0 - STANDARD_GRAVITY  # net acceleration, at most, of unpowered flight [m/s^2]
_FALL_WINDOW = 1.5  # over which a fall speeds up or slows down [s]
_FASTER_TIME, _STEADY_TIME, _ANY_TIME = 1.0, 3.0, 10.0
# For so long a fall lasts that speeds up, is steady, or slows down [s].


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


class Repeated:
    """Something that at least five readings in a row must show, over a time [s]."""

    def __init__(self, duration: float) -> None:
        self._lasting = Lasting(duration)
        self._count = 0

    def update(self, clock_ns: int, news: float, holds: bool) -> bool:
        """Take a sample and return whether it has held for so long; see `Lasting.update`."""
        self._count = self._count + 1 if holds else 0
        lasts = self._lasting.update(clock_ns, news, holds) is not None
        return lasts and self._count >= _FEWEST


class Signs(NamedTuple):
    """What shows that a vehicle moves."""

    climbs: bool
    """By its velocity."""
    drops: bool
    """By its velocity."""
    is_weightless: bool
    """By its acceleration."""
    rises: bool
    """By a slope of its altitude; another one may show that it sinks."""
    sinks: bool
    """By a slope of its altitude."""


class MotionSigns:
    """Finds signs of motion that last.

    Parameters
    ----------
    time : float
        How long each sign must last [s].
    limit : float
        Speed above which it moves [m/s].
    """

    def __init__(self, time: float, limit: float) -> None:
        self._limit = limit
        self._climbs, self._drops, self._weightless = (Repeated(time) for _ in range(3))
        self._slopes = [Slope(time * factor) for factor in _WINDOWS]

    @property
    def slope(self) -> float:
        """Of the altitude over the shortest window [m/s], NaN while that is not full."""
        return self._slopes[0].value

    def update(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float,
        may_climb: bool, may_drop: bool,
    ) -> Signs:
        """Take a sample.

        Parameters
        ----------
        clock_ns : int
            Now [ns].
        altitude, velocity, acceleration : float
            As measured, up positive [m], [m/s], [m/s^2] net of gravity; NaN where unknown.
        may_climb, may_drop : bool
            Whether a velocity upward, and downward, is believed.
        """
        limit = self._limit
        for slope in self._slopes:
            slope.update(clock_ns, altitude)
        certain = [slope.value for slope in self._slopes if slope.exceeds(limit)]
        return Signs(
            climbs=self._climbs.update(clock_ns, velocity, velocity > limit and may_climb),
            drops=self._drops.update(clock_ns, velocity, -velocity > limit and may_drop),
            is_weightless=self._weightless.update(
                clock_ns, acceleration, acceleration < _WEIGHTLESS
            ),
            rises=any(value > 0.0 for value in certain),
            sinks=any(value < 0.0 for value in certain),
        )


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
        self._slope = Slope(_FALL_WINDOW)
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
