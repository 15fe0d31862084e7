# SPDX-License-Identifier: Apache-2.0
"""Means of what each sensor measured, and whether the sensor is live."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.timing.stamps import INTERVALS

Vector = tuple[float, float, float]
_UNKNOWN = (math.nan, math.nan, math.nan)
WINDOW_NS = (40_000_000, 100_000_000, 100_000_000, 100_000_000)
"""Readings of height, speed, force and rate of turn are averaged over so long [ns]."""
MOVES = (3.0, 3.0, 3.0, math.inf)
"""A larger change between two values is motion [m], [m/s], [m/s^2]."""

BENDS = (50.0, 500.0, None, None)
"""Largest curvature by motion [m/s^2], [m/s^3]; None: noise is the change between two readings."""

_LIVE_NS = (300_000_000, 2_000_000_000)  # bounds of the time to a dropout of a channel [ns]
_REPEATS_NS = (500_000_000, 10_000_000_000)  # bounds of how long a value may repeat itself [ns]
_HELD = 1.5  # after a move a value is held by the sensor for so many intervals, and not read
_STALE_NS = 2_500_000_000  # a value that has repeated itself for longer makes nothing certain [ns]
_SCATTER_TIME = 1.0  # time constant of the measured noise [s]
_COMPARED = 7  # deviations whose lower quartile gives the noise
_QUARTILES = {1: 0.1015, 3: 0.404}  # lower quartile over mean of normal squares, by dimension
_MEDIAN = 0.455  # median over mean of the square of a normal deviation
_NOISE_RISE = 3.0  # largest new variance of the noise over the known one; more are glitches
_FAR_OFF = 25.0  # squared deviation of a glitch over the variance of one reading
_GUST_NS = 1_000_000_000  # wind is measured by means over so long [ns]
_GUSTS = 15  # means that measure the wind
_GUSTY = 20.0  # strongest wind, as growth of the variance of a height [m^2/s]
_LULL = 0.98  # the known wind decays no faster than to this share in each mean
_GUESS = 5.0  # likely wind after a restart until it is measured [m^2/s]
_FEW = 3  # squared deviations of means that are enough to limit that guess
_MOST = 3.0  # that guess over the largest of these squares, at most


class Readings(NamedTuple):
    """What the sensors measured since the last sample; NaN if they did not.

    Attributes
    ----------
    height : float
        By a barometer or a position, above the pad [m].
    speed : float
        Upward [m/s].
    force : Vector
        Specific force in any axes [m/s^2].
    rate : Vector
        Rate of turn in any axes [rad/s].
    is_estimate : bool
        Whether height and speed are of one estimate, so that a fault of either is one of both.
    """

    height: float = math.nan
    speed: float = math.nan
    force: Vector = _UNKNOWN
    rate: Vector = _UNKNOWN
    is_estimate: bool = False


class Mean(NamedTuple):
    """A mean of readings.

    Attributes
    ----------
    size : float
        The value, or the size of a vector.
    seconds : float
        Time over which the readings were taken [s].
    noise : float
        Variance of such means by noise, as measured lately.
    variance : float
        Of this mean: more than by noise if the value moved meanwhile.
    """

    size: float
    seconds: float
    noise: float
    variance: float


class Feed:
    """Averages the readings of one channel, and knows whether it is live.

    Parameters
    ----------
    window_ns : int
        Readings are averaged over so long [ns].
    moves : float
        A larger change is motion.
    bends : float or None
        Largest curvature by motion [1/s^2]; None if noise is the change between two readings.

    Attributes
    ----------
    usual_ns : int
        Longest time for which it repeated a value while it learned what is usual [ns].
    """

    def __init__(self, window_ns: int, moves: float, bends: float | None) -> None:
        self._window_ns, self._moves, self._bends = window_ns, moves, bends
        self.reset()

    def reset(self, usual_ns: int = 0, *, has_changed: bool = False) -> None:
        """Forget all readings, and begin with the usual time of a repeated value [ns].

        A channel that ``has_changed`` need not do so again to be read.
        """
        self._last: tuple[float, ...] = ()
        self._has_changed, self._climbed, self._landed = has_changed, False, False
        self.usual_ns = usual_ns
        self._interval_ns = self._held_ns = 0
        self._variance, self._is_measured = 0.0, False
        self._new_ns = self._read_ns = -_LIVE_NS[1]
        self._readings: list[tuple[int, tuple[float, ...]]] = []
        self._line: list[tuple[int, tuple[float, ...]]] = []
        self._deviations: list[float] = []

    def take(
        self, now_ns: int, values: tuple[float, ...], *, learns: bool, since_ns: int | None = None,
        climbs: bool = False, lands: bool = False,
    ) -> Mean | None:
        """Take a reading; return the mean of the window when that is over.

        A value that repeats itself for longer than twice the time seen while it ``learns`` is no
        reading, unless it began after ``since_ns``, since when another sensor shows no motion.
        A value that began while it ``climbs`` may repeat only for the least time; after it
        ``lands``, a value that may repeat for the longest time may do so without end.
        """
        if not all(map(math.isfinite, values)):
            return None
        repeats_ns = now_ns - self._new_ns
        if values != self._last:
            is_move = bool(self._last) and math.dist(values, self._last) > self._moves
            self._held_ns = round(_HELD * repeats_ns) if is_move else 0
            self._has_changed |= bool(self._last)
            self._last, self._new_ns = values, now_ns
            self._climbed, self._landed = climbs, lands
        elif repeats_ns < self._held_ns:
            return None
        elif learns:
            self.usual_ns = max(self.usual_ns, repeats_ns)
        if self._bends is None and not self._has_changed:
            # An inertial sensor has noise: one that never changed has been stuck from the start.
            return None
        is_explained = since_ns is not None and self._new_ns >= since_ns
        if now_ns - self._new_ns > self._longest_ns and not is_explained:
            self._readings.clear()
            return None
        if self._readings and now_ns - self._readings[-1][0] > self._window_ns:
            self._readings.clear()  # a gap
        self._readings.append((now_ns, values))
        elapsed_ns = now_ns - self._read_ns
        if elapsed_ns < self._window_ns:
            return None
        mean, noise, variance = self._average(elapsed_ns * 1e-9)
        self._read_ns, self._interval_ns = now_ns, elapsed_ns
        size = mean[0] if len(mean) == 1 else math.sqrt(
            # Noise adds to the size of a vector.
            max(math.fsum(each * each for each in mean) - noise, 0.0)
        )
        return Mean(size, elapsed_ns * 1e-9, self._variance, max(variance, self._variance))

    @property
    def _longest_ns(self) -> float:
        """For how long the last value may repeat itself and be a reading [ns]."""
        least_ns, most_ns = _REPEATS_NS
        usual_ns = 0 if self._climbed else 2 * self.usual_ns
        if usual_ns >= most_ns:
            return math.inf if self._landed else most_ns
        return max(least_ns, usual_ns)

    def _compare(self, now_ns: int, values: tuple[float, ...]) -> None:
        """Note by how much more than motion a reading leaves the line of the two before it."""
        line = self._line
        if self._bends is None:
            if line:
                self._deviations.append(0.5 * math.dist(values, line[-1][1]) ** 2)
        elif len(line) == 2 and line[0][0] < line[1][0] < now_ns:
            (first_ns, (first,)), (then_ns, (then,)) = line
            ratio = (now_ns - then_ns) / (then_ns - first_ns)
            off = values[0] - then - ratio * (then - first)
            bend = 0.5 * self._bends * (now_ns - then_ns) * (now_ns - first_ns) * 1e-18
            # The deviation has so many times the variance of one reading.
            share = 1.0 + (1.0 + ratio) ** 2 + ratio**2
            self._deviations.append(max(off * off - bend * bend, 0.0) / share)
        self._line = [*line[-1:], (now_ns, values)]

    def _average(self, seconds: float) -> tuple[list[float], float, float]:
        """Return the mean, its variance by noise as of now, and its variance in this window."""
        if len(self._readings[0][1]) == 1:
            self._drop_glitch()
        before = len(self._deviations)
        for now_ns, values in self._readings:
            self._compare(now_ns, values)
        readings = [values for _, values in self._readings]
        count = len(readings)
        mean = [math.fsum(each) / count for each in zip(*readings, strict=True)]
        noise = variance = 0.0
        if count > 1 and self._bends is None:
            squares = math.fsum(math.dist(each, mean) ** 2 for each in readings)
            variance = squares / (count * (count - 1))
        elif count > 1:
            variance = math.fsum(self._deviations[before:]) / count**2
        if len(self._deviations) >= _COMPARED:
            # The lower quartile, as an outlier is no noise and spoils three deviations.
            least = sorted(self._deviations)[(len(self._deviations) - 1) // 4]
            noise = min(least / _QUARTILES[len(mean)] / count, _NOISE_RISE * (self._variance + 1.0))
            del self._deviations[:-_COMPARED + 1]
            gain = -math.expm1(-min(seconds / _SCATTER_TIME, 1.0))
            self._is_measured = True
            self._variance += gain * (noise - self._variance)
        self._readings.clear()
        return mean, noise, variance

    def _drop_glitch(self) -> None:
        """Drop the reading farthest from the median of at least three, if it is no noise."""
        count = len(self._readings)
        if count < 3:
            return
        middle = sorted(values for _, values in self._readings)[count // 2]

        def off(each: tuple[int, tuple[float, ...]]) -> float:
            return math.dist(each[1], middle)

        farthest = max(self._readings, key=off)
        if off(farthest) ** 2 > _FAR_OFF * (1.0 + count * self._variance):
            self._readings.remove(farthest)

    @property
    def noise(self) -> float:
        """Variance of its means by noise; NaN until that is measured."""
        return self._variance if self._is_measured else math.nan

    @property
    def is_coarse(self) -> bool:
        """Whether it repeated a value for long while it learned what is usual."""
        return self.usual_ns >= _REPEATS_NS[0]

    def is_live(self, now_ns: int) -> bool:
        """Return whether it had a reading lately."""
        least_ns, most_ns = _LIVE_NS
        return now_ns - self._read_ns < min(max(INTERVALS * self._interval_ns, least_ns), most_ns)

    def is_fresh(self, now_ns: int) -> bool:
        """Return whether it is live and its value has changed lately."""
        return now_ns - self._new_ns < _STALE_NS and self.is_live(now_ns)


class Wander:
    """How much wind on its static ports moves the height of a vehicle on the pad.

    Wind makes means over a second leave a line; being carried steadily does not.

    Attributes
    ----------
    growth : float
        Of the variance of a height at rest [m^2/s].
    measured : float or None
        The same as measured, now or before a restart; None if it was not.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self, measured: float | None = None, *, is_windy: bool = False) -> None:
        """Forget the height, and begin with the wind that was measured [m^2/s].

        If none was and it ``is_windy``, a strong wind is assumed until it is measured.
        """
        self.measured = measured
        self.growth = measured or (_GUESS if measured is None and is_windy else 0.0)
        self._means: list[float] = []
        self._squares: list[float] = []
        self._begin_ns = 0
        self._heights: list[tuple[float, float]] = []

    def take(self, now_ns: int, height: Mean) -> float:
        """Take a height, and return the growth of its variance [m^2/s]."""
        since_ns = now_ns - self._begin_ns
        if since_ns >= _GUST_NS:
            if self._heights:
                self._compare(self._middle(), height.noise / len(self._heights))
            if since_ns >= 2 * _GUST_NS:
                self._means.clear()  # a gap
            self._begin_ns, since_ns = now_ns, 0
            self._heights.clear()
        self._heights.append((since_ns * 1e-9, height.size))
        return self.growth

    def _middle(self) -> float:
        """Return the mean trimmed about the last speed, as wind makes no spikes."""
        speed = self._means[-1] - self._means[-2] if len(self._means) > 1 else 0.0
        count = len(self._heights)
        rest = sorted(height - speed * time for time, height in self._heights)
        kept = rest[count // 4:count - count // 4]
        return math.fsum(kept) / len(kept) + speed / count * math.fsum(
            time for time, _ in self._heights
        )

    def _compare(self, mean: float, noise: float) -> None:
        self._means = [*self._means[-2:], mean]
        if len(self._means) < 3:
            return
        first, then, last = self._means
        self._squares.append((first - 2.0 * then + last) ** 2)
        del self._squares[:-_GUSTS]
        if len(self._squares) == _GUSTS:
            # Their mean is the growth of a random walk, plus six times the variance of noise.
            middle = sorted(self._squares)[_GUSTS // 2] / _MEDIAN
            # A lull does not end the wind.
            known = _LULL * (self.measured or 0.0)
            self.growth = self.measured = min(max(middle - 6.0 * noise, known), _GUSTY)
        elif self.measured is None and len(self._squares) >= _FEW:
            self.growth = min(self.growth, _MOST * max(self._squares))
