# SPDX-License-Identifier: Apache-2.0
"""Live values, their slopes, and signs of motion up or down that last."""
from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_INTERVALS = 2.5  # a slow sensor is alive for so many of its own intervals
_LONGEST_INTERVAL_NS = 2_000_000_000
_FEWEST = 8  # four wild readings are no line
_CERTAIN = 6.0  # sigma: it is judged at every sample
_LEAST_NOISE = 0.05  # one sigma of the value, where the readings show less
_TREND_SIGMA, _TREND_SHARE = 4.0, 0.05  # of a change of the slope, and least part of the slope
_SHARE = 0.25  # of the slope that each half of the window must have
_MOST_PERIODS = 4  # a slow sensor may take so many windows to give enough readings
_CLIMB_WINDOW = 0.5  # over which an altitude must rise [s]

Point = tuple[int, float]
_WINDOWS = (1.0, 2.0, 4.0)  # of the time: the noisier the altitude, the longer
_AGREEING = 5  # readings that agree
_WEIGHTLESS = 3.0 - STANDARD_GRAVITY  # net acceleration, at most, of unpowered flight [m/s^2]
_FALL_WINDOW = 1.5  # over which a fall speeds up or slows down [s]
_FASTER_TIME, _STEADY_TIME, _ANY_TIME = 1.0, 3.0, 10.0
# For so long a fall lasts that speeds up, is steady, or slows down [s].


class LiveValue:
    """Follows one value of the samples; NaN is no value, and one that repeats itself is no news.

    Parameters
    ----------
    limit : float
        A value that has not changed for this long is that of a dead sensor [s]; for a sensor
        with fewer samples it is two and a half of its intervals.

    Attributes
    ----------
    is_new : bool
        Whether the latest sample brought a value that differs from the one before.
    """

    def __init__(self, limit: float) -> None:
        self._limit_ns = round(limit * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget the sensor."""
        self.is_new = False
        self._value = math.nan
        self._known_ns: int | None = None
        self._changed_ns: int | None = None
        self._interval_ns = 0

    def update(self, clock_ns: int, value: float) -> None:
        """Take the value of a sample."""
        self.is_new = math.isfinite(value) and value != self._value
        if not math.isfinite(value):
            return
        if self._known_ns is not None:
            self._interval_ns = min(clock_ns - self._known_ns, _LONGEST_INTERVAL_NS)
            if self.is_new:
                # A first value proves nothing: a stuck sensor has one too.
                self._changed_ns = clock_ns
        self._known_ns, self._value = clock_ns, value

    def is_alive(self, clock_ns: int) -> bool:
        """Return whether the value has changed lately."""
        if self._changed_ns is None:
            return False
        limit_ns = max(self._limit_ns, round(_INTERVALS * self._interval_ns))
        return clock_ns - self._changed_ns <= limit_ns


class Slope:
    """Fits a line through the last readings.

    Parameters
    ----------
    window : float
        Length of the line [s]; more where a sensor is slow.
    """

    def __init__(self, window: float) -> None:
        self._window_ns = round(window * 1e9)
        self._points: deque[Point] = deque()
        self._line: tuple[float, float] | None = None

    def reset(self) -> None:
        """Forget the readings."""
        self._points.clear()
        self._line = None

    def update(self, clock_ns: int, value: float) -> None:
        """Take a reading; one that is not finite is none."""
        if not math.isfinite(value):
            return
        points, self._line = self._points, None
        points.append((clock_ns, value))
        while len(points) > _FEWEST and clock_ns - points[1][0] >= self._window_ns:
            points.popleft()
        while clock_ns - points[0][0] > _MOST_PERIODS * self._window_ns:
            points.popleft()

    @property
    def is_full(self) -> bool:
        """Whether there are readings over the whole window."""
        points = self._points
        return len(points) >= _FEWEST and points[-1][0] - points[0][0] >= self._window_ns

    @property
    def value(self) -> float:
        """Slope [1/s], NaN while the window is not full."""
        return self._fitted()[0] if self.is_full else math.nan

    def exceeds(self, limit: float) -> bool:
        """Return whether the slope, up or down, is certainly above a limit [1/s].

        Both halves of the window must agree, so that a step, a spike or a few wild readings are
        no slope.
        """
        if not self.is_full:
            return False
        slope, sigma = self._fitted()
        if abs(slope) <= limit + _CERTAIN * sigma:
            return False
        return all(
            half * math.copysign(1.0, slope) > _SHARE * abs(slope) for half, _ in self._halves()
        )

    @property
    def trend(self) -> int:
        """How the slope certainly changes over the window: -1, 0 where it is not certain, or 1."""
        if not self.is_full:
            return 0
        (before, sigma_before), (after, sigma_after) = self._halves()
        change, sigma = after - before, math.hypot(sigma_before, sigma_after)
        if abs(change) <= max(_TREND_SIGMA * sigma, _TREND_SHARE * abs(self.value)):
            return 0
        return 1 if change > 0.0 else -1

    def _fitted(self) -> tuple[float, float]:
        """Return the slope and its sigma of the window, computed once for its readings."""
        if self._line is None:
            self._line = _line_of(self._points)
        return self._line

    def _halves(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the slope and its sigma of either half of the window."""
        points = list(self._points)
        middle = len(points) // 2
        return _line_of(points[:middle]), _line_of(points[middle:])


def _line_of(points: Sequence[Point] | deque[Point]) -> tuple[float, float]:
    """Return the slope of the line through points and its sigma [1/s]."""
    n = len(points)
    begin_ns = points[0][0]
    times = [(clock_ns - begin_ns) * 1e-9 for clock_ns, _ in points]
    values = [value for _, value in points]
    time, mean = sum(times) / n, sum(values) / n
    times = [t - time for t in times]
    values = [v - mean for v in values]
    spread = sum(map(operator.mul, times, times))
    if spread <= 0.0:
        return 0.0, math.inf
    slope = sum(map(operator.mul, times, values)) / spread
    residual = sum([(v - slope * t) ** 2 for t, v in zip(times, values, strict=True)])
    noise = max(residual / max(n - 2, 1), _LEAST_NOISE**2)
    return slope, math.sqrt(noise / spread)


class Climb:
    """Follows the altitude; what is stuck or silent shows no climb.

    Parameters
    ----------
    limit : float
        Speed that is a climb [m/s].
    frozen_time : float
        An altitude that has not changed for this long is dead [s].
    """

    def __init__(self, limit: float, frozen_time: float) -> None:
        self._limit = limit
        self._altitude, self._slope = LiveValue(frozen_time), Slope(_CLIMB_WINDOW)
        self._clock_ns = 0

    def reset(self) -> None:
        """Forget the altitude."""
        self._altitude.reset()
        self._slope.reset()

    def update(self, clock_ns: int, altitude: float) -> None:
        """Take the altitude [m], NaN where unknown."""
        self._clock_ns = clock_ns
        self._altitude.update(clock_ns, altitude)
        self._slope.update(clock_ns, altitude)

    @property
    def is_certain(self) -> bool:
        """Whether the altitude certainly rises, computed where it is asked for."""
        is_alive = self._altitude.is_alive(self._clock_ns)
        return is_alive and self._slope.exceeds(self._limit) and self._slope.value > 0.0


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
        return lasts and self._count >= _AGREEING


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
