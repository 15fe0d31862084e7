# SPDX-License-Identifier: Apache-2.0
"""What the sensors themselves measured, put together, and whether each lives."""
from __future__ import annotations

import math
from typing import NamedTuple

Vector = tuple[float, float, float]
_UNKNOWN = (math.nan, math.nan, math.nan)
WINDOW_NS = (40_000_000, 100_000_000, 100_000_000, 100_000_000)
"""Readings of height, speed, force and rate of turn are put together for so long [ns]."""
MOVES = (3.0, 3.0, 3.0, math.inf)
"""A larger change of them is a move [m], [m/s], [m/s^2]."""

BENDS = (50.0, 500.0, None, None)
"""They go on along a line and leave it by motion no faster [m/s^2], [m/s^3]; a force just stays."""

_LIVE_NS = (300_000_000, 2_000_000_000)  # after so long without a reading a channel shows nothing:
_INTERVALS = 2.5  # within these bounds, so many of its own intervals
_REPEATS_NS = (500_000_000, 10_000_000_000)  # for how long a channel may repeat itself: at least,
# and at most, where half as long was usual on the pad: then a height may in the end for ever
_HELD = 1.5  # a value that repeats itself between moves is held, for so many times their interval
_STALE_NS = 2_500_000_000  # one that has repeated itself for longer makes nothing certain
_SCATTER_TIME = 1.0  # over which the noise of a channel is measured [s]
_COMPARED = 7  # least readings that say how noisy they are, by the quartile of
_QUARTILES = {1: 0.1015, 3: 0.404}  # their squares, which is so much of the mean of normal ones
_MEDIAN = 0.455  # and the median of them is so much
_GLITCH = 3.0  # times its variance, of what is no noise
_FAR_OFF = 25.0  # times that of one reading, of what is a glitch
_GUST_NS, _GUSTS = 1_000_000_000, 15  # wind shows in means of so long [ns], so many of them,
_GUSTY = 20.0  # and moves a height by no more [m^2/s];
_LULL = 0.98  # in each of them what was known of it is lost but for this share
_GUESS = 5.0  # how much it likely does where a restart came before it was measured [m^2/s];
_FEW, _MOST = 3, 3.0  # that is no more than so many times the largest square of so few means


class Readings(NamedTuple):
    """What the sensors measured since the last sample; NaN where they did not.

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
    """

    height: float = math.nan
    speed: float = math.nan
    force: Vector = _UNKNOWN
    rate: Vector = _UNKNOWN


class Mean(NamedTuple):
    """A mean of readings: the value, or the size of a vector.

    Attributes
    ----------
    size : float
    seconds : float
        For how long they were taken [s].
    noise : float
        Variance that such means have had lately by noise.
    variance : float
        Of this one: more than by noise where it has moved within it.
    """

    size: float
    seconds: float
    noise: float
    variance: float


class Feed:
    """Puts the readings of one channel together, and knows whether it lives.

    Parameters
    ----------
    window_ns : int
        Its readings are put together for so long [ns].
    moves : float
        A larger change is a move.
    bends : float or None
        How fast it leaves a line by motion alone [1/s^2]; None for what goes on along none.

    Attributes
    ----------
    usual_ns : int
        For how long it repeated itself at most where it learned what is usual [ns].
    """

    def __init__(self, window_ns: int, moves: float, bends: float | None) -> None:
        self._window_ns, self._moves, self._bends = window_ns, moves, bends
        self.reset()

    def reset(self, usual_ns: int = 0) -> None:
        """Forget all readings, and begin with what is known of its repetitions [ns]."""
        self._last: tuple[float, ...] = ()
        self._climbed = self._landed = False
        self.usual_ns = usual_ns
        self._interval_ns = self._held_ns = 0
        self._variance, self._is_measured = 0.0, False
        self._new_ns = self._read_ns = -_LIVE_NS[1]
        self._sum: list[tuple[int, tuple[float, ...]]] = []
        self._line: list[tuple[int, tuple[float, ...]]] = []
        self._noises: list[float] = []

    def take(
        self, now_ns: int, values: tuple[float, ...], *, learns: bool, since_ns: int | None = None,
        climbs: bool = False, lands: bool = False,
    ) -> Mean | None:
        """Take a reading; return the mean of several where it is time.

        What repeats itself for longer than it did where it ``learns`` is no reading, but where
        another sensor shows that nothing has moved it since a moment. What ``climbs`` comes to no
        rest, and where it ``lands`` a value may stay without end that may stay for long.
        """
        if not all(map(math.isfinite, values)):
            return None
        repeats_ns = now_ns - self._new_ns
        if values != self._last:
            is_move = bool(self._last) and math.dist(values, self._last) > self._moves
            self._held_ns = round(_HELD * repeats_ns) if is_move else 0
            self._last, self._new_ns = values, now_ns
            self._climbed, self._landed = climbs, lands
        elif repeats_ns < self._held_ns:
            return None
        elif learns:
            self.usual_ns = max(self.usual_ns, repeats_ns)
        is_explained = since_ns is not None and self._new_ns >= since_ns
        if now_ns - self._new_ns > self._longest_ns and not is_explained:
            self._sum.clear()
            return None
        if self._sum and now_ns - self._sum[-1][0] > self._window_ns:
            self._sum.clear()  # of before a gap
        self._sum.append((now_ns, values))
        elapsed_ns = now_ns - self._read_ns
        if elapsed_ns < self._window_ns:
            return None
        mean, noise, variance = self._put_together(elapsed_ns * 1e-9)
        self._read_ns, self._interval_ns = now_ns, elapsed_ns
        size = mean[0] if len(mean) == 1 else math.sqrt(
            # Noise adds to the size of a vector.
            max(math.fsum(each * each for each in mean) - noise, 0.0)
        )
        return Mean(size, elapsed_ns * 1e-9, self._variance, max(variance, self._variance))

    @property
    def _longest_ns(self) -> float:
        """For how long it may repeat the last value and be a reading [ns]."""
        least_ns, most_ns = _REPEATS_NS
        usual_ns = 0 if self._climbed else 2 * self.usual_ns
        if usual_ns >= most_ns:
            return math.inf if self._landed else most_ns
        return max(least_ns, usual_ns)

    def _compare(self, now_ns: int, values: tuple[float, ...]) -> None:
        """Learn how far a reading is from where those before it led: more than by motion."""
        line = self._line
        if self._bends is None:
            if line:
                self._noises.append(0.5 * math.dist(values, line[-1][1]) ** 2)
        elif len(line) == 2 and line[0][0] < line[1][0] < now_ns:
            (first_ns, (first,)), (then_ns, (then,)) = line
            ratio = (now_ns - then_ns) / (then_ns - first_ns)
            off = values[0] - then - ratio * (then - first)
            bend = 0.5 * self._bends * (now_ns - then_ns) * (now_ns - first_ns) * 1e-18
            # So much of the variance of each of the three is in it.
            share = 1.0 + (1.0 + ratio) ** 2 + ratio**2
            self._noises.append(max(off * off - bend * bend, 0.0) / share)
        self._line = [*line[-1:], (now_ns, values)]

    def _put_together(self, seconds: float) -> tuple[list[float], float, float]:
        """Return the mean of the readings, its variance by noise, which is learned, and in all."""
        if len(self._sum[0][1]) == 1:
            self._drop_glitch()
        before = len(self._noises)
        for now_ns, values in self._sum:
            self._compare(now_ns, values)
        readings = [values for _, values in self._sum]
        count = len(readings)
        mean = [math.fsum(each) / count for each in zip(*readings, strict=True)]
        noise = variance = 0.0
        if count > 1 and self._bends is None:
            squares = math.fsum(math.dist(each, mean) ** 2 for each in readings)
            variance = squares / (count * (count - 1))
        elif count > 1:
            variance = math.fsum(self._noises[before:]) / count**2
        if len(self._noises) >= _COMPARED:
            # One that is far off is no noise, and spoils three.
            least = sorted(self._noises)[(len(self._noises) - 1) // 4]
            noise = min(least / _QUARTILES[len(mean)] / count, _GLITCH * (self._variance + 1.0))
            del self._noises[:-_COMPARED + 1]
            news = -math.expm1(-min(seconds / _SCATTER_TIME, 1.0))
            self._is_measured = True
            self._variance += news * (noise - self._variance)
        self._sum.clear()
        return mean, noise, variance

    def _drop_glitch(self) -> None:
        """Drop the farthest of at least three readings where that is no noise."""
        count = len(self._sum)
        if count < 3:
            return
        middle = sorted(values for _, values in self._sum)[count // 2]

        def off(each: tuple[int, tuple[float, ...]]) -> float:
            return math.dist(each[1], middle)

        farthest = max(self._sum, key=off)
        if off(farthest) ** 2 > _FAR_OFF * (1.0 + count * self._variance):
            self._sum.remove(farthest)

    @property
    def noise(self) -> float:
        """Variance that its means have by noise; NaN until that is measured."""
        return self._variance if self._is_measured else math.nan

    @property
    def is_coarse(self) -> bool:
        """Whether it repeated itself for long where it learned what is usual."""
        return self.usual_ns >= _REPEATS_NS[0]

    def is_live(self, now_ns: int) -> bool:
        """Return whether it was read lately."""
        least_ns, most_ns = _LIVE_NS
        return now_ns - self._read_ns < min(max(_INTERVALS * self._interval_ns, least_ns), most_ns)

    def is_fresh(self, now_ns: int) -> bool:
        """Return whether it changed lately too."""
        return now_ns - self._new_ns < _STALE_NS and self.is_live(now_ns)


class Wander:
    """How much wind on its ports moves the height of what waits on the pad.

    It shows in how far means of a second leave a line, on which what is carried steadily is.

    Attributes
    ----------
    growth : float
        Of the variance of a height that stays [m^2/s].
    measured : float or None
        The same where it was measured, now or before a restart; None where it was not.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self, measured: float | None = None, *, is_windy: bool = False) -> None:
        """Forget the height, and begin with the wind that was measured [m^2/s].

        Where there is none, it may be strong.
        """
        self.measured = measured
        self.growth = measured or (_GUESS if measured is None and is_windy else 0.0)
        self._means: list[float] = []
        self._squares: list[float] = []
        self._begin_ns = 0
        self._heights: list[tuple[float, float]] = []

    def take(self, now_ns: int, height: Mean) -> float:
        """Take a height, and return what is known then."""
        since_ns = now_ns - self._begin_ns
        if since_ns >= _GUST_NS:
            if self._heights:
                self._compare(self._middle(), height.noise / len(self._heights))
            if since_ns >= 2 * _GUST_NS:
                self._means.clear()  # of before a gap
            self._begin_ns, since_ns = now_ns, 0
            self._heights.clear()
        self._heights.append((since_ns * 1e-9, height.size))
        return self.growth

    def _middle(self) -> float:
        """Return the mean without what is far off the speed until then: no wind makes spikes."""
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
            # Of a walk the mean of these squares is its growth, and noise adds six times its own.
            middle = sorted(self._squares)[_GUSTS // 2] / _MEDIAN
            # A lull is no calm.
            known = _LULL * (self.measured or 0.0)
            self.growth = self.measured = min(max(middle - 6.0 * noise, known), _GUSTY)
        elif self.measured is None and len(self._squares) >= _FEW:
            self.growth = min(self.growth, _MOST * max(self._squares))
