# SPDX-License-Identifier: Apache-2.0
"""Live values, their slopes, and a climb that they show."""
from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Sequence

from propulsion_ros.timing.stamps import INTERVALS

_LONGEST_INTERVAL_NS = 2_000_000_000  # longest interval that counts [ns]
_FEWEST = 8  # least readings of a line, as four wild ones are none
_CERTAIN = 6.0  # sigmas of a certain slope, which is judged at every sample
_LEAST_NOISE = 0.05  # least standard deviation of a reading
_SHARE = 0.25  # share of the slope that each half of the window must have
_MOST_PERIODS = 4  # a slow sensor may take so many windows to give enough readings
_CLIMB_WINDOW = 0.5  # time over which an altitude must rise [s]

Point = tuple[int, float]


def longest_silence_ns(limit_ns: int, interval_ns: int) -> int:
    """Return how long a sensor may be silent: a limit, or for a slow one its intervals [ns]."""
    return max(limit_ns, round(INTERVALS * min(interval_ns, _LONGEST_INTERVAL_NS)))


class LiveValue:
    """Follows one value of the samples; NaN is no value, and a repeated one shows no life.

    Parameters
    ----------
    limit : float
        A value that has not changed for this long is that of a dead sensor [s]; for a sensor
        with fewer samples it is two and a half of its intervals.
    """

    def __init__(self, limit: float) -> None:
        self._limit_ns = round(limit * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget the sensor."""
        self._value = math.nan
        self._known_ns: int | None = None
        self._changed_ns: int | None = None
        self._interval_ns = 0

    def update(self, clock_ns: int, value: float) -> None:
        """Take the value of a sample."""
        if not math.isfinite(value):
            return
        if self._known_ns is not None:
            self._interval_ns = clock_ns - self._known_ns
            if value != self._value:
                # A first value proves nothing: a stuck sensor has one too.
                self._changed_ns = clock_ns
        self._known_ns, self._value = clock_ns, value

    def is_alive(self, clock_ns: int) -> bool:
        """Return whether the value has changed lately."""
        if self._changed_ns is None:
            return False
        return clock_ns - self._changed_ns <= longest_silence_ns(self._limit_ns, self._interval_ns)


class Slope:
    """Fits a line through the last readings.

    Parameters
    ----------
    window : float
        Length of the line [s]; longer for a slow sensor.
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
        """Take a reading, unless it is not finite."""
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
        points = list(self._points)
        middle = len(points) // 2
        return all(
            _line_of(half)[0] * math.copysign(1.0, slope) > _SHARE * abs(slope)
            for half in (points[:middle], points[middle:])
        )

    def _fitted(self) -> tuple[float, float]:
        """Return the slope and its sigma of the window, computed once for its readings."""
        if self._line is None:
            self._line = _line_of(self._points)
        return self._line


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
    """Detects a climb by the altitude; a stuck or silent one shows none.

    Parameters
    ----------
    limit : float
        Least speed of a climb [m/s].
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
        """Whether the altitude certainly rises, computed on demand."""
        is_alive = self._altitude.is_alive(self._clock_ns)
        return is_alive and self._slope.exceeds(self._limit) and self._slope.value > 0.0
