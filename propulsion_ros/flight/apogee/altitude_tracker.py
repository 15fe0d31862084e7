# SPDX-License-Identifier: Apache-2.0
"""Successive parabolas through the altitude, robust to outliers and to held values."""
from __future__ import annotations

import math
from collections import deque

import numpy as np

from propulsion_ros.flight.apogee.parabola import (
    Parabola,
    fit_parabola,
    has_outliers,
    noise_of,
    reweight,
)
from propulsion_ros.flight.events.signs import INTERVALS
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.dwell import Held


class SampleWindow:
    """The latest points of a signal, at most one per interval.

    Samples that fall into the same interval are averaged, so a fast sensor gains precision
    and costs no more than a slow one. Intervals are centred on the first sample after a
    `clear`, so that a feed at exactly that rate fills each with one sample however its stamps
    are rounded. Times are seconds since that first sample, exact to the nanosecond.

    Parameters
    ----------
    interval : float
        Length of an interval [s].
    capacity : int
        Largest number of points.
    """

    def __init__(self, interval: float, capacity: int) -> None:
        self._interval_ns = max(1, round(interval * 1e9))
        self._capacity = capacity
        self._time = np.empty(4 * capacity)
        self._value = np.empty(4 * capacity)
        self.clear()

    def clear(self) -> None:
        """Forget all points."""
        self._first = 0
        self._end = 0
        self._epoch_ns = 0
        self._slot = -1
        self._merged = 0

    def __len__(self) -> int:
        """Return the number of points."""
        return self._end - self._first

    @property
    def time(self) -> FloatArray:
        """Times of the points since the epoch, shape (n,) [s]; a view, valid until `add`."""
        return self._time[self._first:self._end]

    @property
    def value(self) -> FloatArray:
        """Values of the points, shape (n,); a view, valid until `add`."""
        return self._value[self._first:self._end]

    @property
    def oldest(self) -> float:
        """Time of the oldest point since the epoch [s]."""
        return float(self._time[self._first])

    def seconds(self, stamp_ns: int) -> float:
        """Return a stamp as seconds since the epoch."""
        return (stamp_ns - self._epoch_ns) * 1e-9

    def stamp(self, seconds: float) -> int:
        """Return seconds since the epoch as a stamp [ns]."""
        return self._epoch_ns + round(seconds * 1e9)

    def opens(self, stamp_ns: int) -> bool:
        """Return whether a sample of this stamp would begin a new point."""
        return self._end == self._first or self._slot_of(stamp_ns) != self._slot

    def add(self, stamp_ns: int, value: float) -> None:
        """Add a sample newer than all before."""
        if self._end == self._first:
            self.clear()
            self._epoch_ns = stamp_ns
        slot = self._slot_of(stamp_ns)
        seconds = self.seconds(stamp_ns)
        if slot == self._slot:
            self._merged += 1
            last = self._end - 1
            self._time[last] += (seconds - self._time[last]) / self._merged
            self._value[last] += (value - self._value[last]) / self._merged
            return
        self._slot = slot
        self._merged = 1
        self._make_room()
        self._time[self._end] = seconds
        self._value[self._end] = value
        self._end += 1

    def drop_before(self, seconds: float) -> None:
        """Drop the points older than a time since the epoch [s]."""
        while self._first < self._end and self._time[self._first] < seconds:
            self._first += 1

    def drop_after(self, seconds: float) -> None:
        """Drop the points newer than a time since the epoch [s]."""
        while self._first < self._end and self._time[self._end - 1] > seconds:
            self._end -= 1
            self._slot, self._merged = -1, 0

    def _slot_of(self, stamp_ns: int) -> int:
        return (2 * (stamp_ns - self._epoch_ns) + self._interval_ns) // (2 * self._interval_ns)

    def _make_room(self) -> None:
        if self._end - self._first == self._capacity:
            self._first += 1
        if self._end == len(self._time):
            count = self._end - self._first
            self._time[:count] = self._time[self._first:self._end]
            self._value[:count] = self._value[self._first:self._end]
            self._first, self._end = 0, count


_MINIMUM_POINTS = 5
_STRETCH = 3  # a slow sensor may fill its window over this many spans
_GATE = 5.0  # sigma beyond which a sample contradicts the fit
_HELD_GATE = 4.0
_REJECTED = 0.05  # weight below which a sample counts as an outlier
_RECENT = 0.3  # the samples that must agree with the fit before it is believed [s]
_SURRENDER = 0.5  # part of the window that, in one run of outliers, is the truth
_PRIOR_COUNT = 4.0
_REPEATS = 3  # of a value, before a leap, that show a sensor which is published faster than it is
_LEAP = 5.0  # [m]
_MOVED, _STEPS = 3.0, 1.5  # way [m], and in its last steps, of a vehicle whose sensor stands still
_FLOOR_RATIO = 0.2  # smallest outlier scale over the prior noise


class AltitudeTracker:
    """Fit a parabola to the latest altitudes each time a new point comes.

    The fit is plain least squares while the residuals look normal. Where they do not, or a
    sample contradicts the fit before it, two rounds of Tukey's bisquare weights start from that
    earlier fit, so that a pressure shock or an ejection charge is left out. A run of outliers
    as long as half the window is taken as the truth and the window starts anew with it.

    A value that repeats while the fit moves on is a sensor that holds its output: it is left
    out until it changes. One that repeats and then leaps is that of a slow sensor which is
    published faster than it measures: only its changes count. A sensor slower than five points a
    window gets a longer window.

    Parameters
    ----------
    span : float
        Length of the window [s].
    capacity : int
        Points in it.
    noise : float
        Altitude noise assumed before the scatter is known, one sigma [m].
    """

    def __init__(self, span: float, capacity: int, noise: float) -> None:
        self._span = span
        self._noise_prior = noise
        self._interval = span / capacity
        self._points = SampleWindow(span / capacity, _STRETCH * capacity + 1)
        self._fresh: deque[float] = deque(maxlen=_MINIMUM_POINTS)
        self._held = Held()
        self.restart()

    def restart(self) -> None:
        """Forget all samples."""
        self._points.clear()
        self._fresh.clear()
        self._held.reset()
        self._outliers_until = -math.inf
        self.fit: Parabola | None = None
        self.noise = self._noise_prior
        self.agrees = False
        self.is_held = False
        self.is_news = False
        self.interval_ns = 0
        self._repeats = self._changes = 0
        self._change = 0.0
        self.length = 0.0

    def seconds(self, stamp_ns: int) -> float:
        """Return a stamp in the time of the fit [s]."""
        return self._points.seconds(stamp_ns)

    def stamp(self, seconds: float) -> int:
        """Return a time of the fit as a stamp [ns]."""
        return self._points.stamp(seconds)

    def add(
        self, stamp_ns: int, altitude: float, speed: float = math.nan
    ) -> Parabola | None:
        """Take a sample newer than all before; return the new fit where it makes one.

        Parameters
        ----------
        stamp_ns : int
            [ns].
        altitude : float
            [m].
        speed : float
            Of the vehicle, by what is known without this sample [m/s]; NaN where unknown.
        """
        points = self._points
        if len(points) == 0:
            self._fresh.clear()
            points.add(stamp_ns, altitude)
            self._held.repeats(stamp_ns, altitude)
            self._fresh.append(0.0)
            self.is_news = True
            return None
        time = points.seconds(stamp_ns)
        self.is_news = self._is_news(stamp_ns, time, altitude, speed)
        if not self.is_news:
            return None
        surprising = self._contradicts(self.fit, time, altitude, _GATE)
        if not points.opens(stamp_ns):
            if not surprising:
                points.add(stamp_ns, altitude)
            return None
        points.add(stamp_ns, altitude)
        self._drop_old(time)
        self._refit(time, surprising)
        return self.fit

    def fit_of_last(self, duration: float) -> Parabola | None:
        """Return a plain fit to the end of the window [s], None where that has too few points."""
        time, value = self._points.time, self._points.value
        first = int(time.searchsorted(time[-1] - duration)) if len(time) else 0
        if len(time) - first < _MINIMUM_POINTS:
            return None
        fitted = fit_parabola(time[first:], value[first:])
        return None if fitted is None else fitted[0].with_noise(self.noise)

    def _is_news(self, stamp_ns: int, time: float, altitude: float, speed: float) -> bool:
        """Return whether an altitude is one that was measured, not one that is held."""
        since_ns, before = self._held.since_ns, self._held.value
        if self._held.repeats(stamp_ns, altitude, self.fit):
            self._repeats += 1
            self._changes = 0
            if self.interval_ns:
                self.is_held = stamp_ns - (since_ns or 0) > INTERVALS * self.interval_ns
                return False
            moved = abs(speed) * (stamp_ns - (since_ns or 0)) * 1e-9
            if not self.is_held and (
                moved > max(_MOVED, _STEPS * self._change)
                or self._contradicts(self._held.then, time, altitude, _HELD_GATE)
            ):
                self.is_held = True
                self._drop_repeated(since_ns)
            return not self.is_held
        leaps = abs(altitude - before) > max(_LEAP, 5.0 * self._noise_prior)
        if self._repeats >= _REPEATS and leaps and since_ns is not None:
            self._drop_repeated(since_ns)
            self.interval_ns = stamp_ns - since_ns
        self._repeats = 0
        self._change = abs(altitude - before)
        self._changes += 1
        if self._changes >= _MINIMUM_POINTS:
            self.interval_ns = 0
        self._fresh.append(time)
        self.is_held = False
        return True

    def _drop_repeated(self, since_ns: int | None) -> None:
        """Drop the points that only repeated a value."""
        if since_ns is not None and len(self._points):
            self._points.drop_after(self._points.seconds(since_ns) + self._interval)

    def _contradicts(
        self, fit: Parabola | None, time: float, altitude: float, gate: float
    ) -> bool:
        if fit is None:
            return False
        distance = abs(altitude - fit.altitude(time))
        if distance <= gate * self.noise:
            return False
        return distance > gate * math.hypot(self.noise, fit.altitude_sigma(time))

    def _drop_old(self, time: float) -> None:
        start = time - self._span
        if len(self._fresh) == _MINIMUM_POINTS and self._fresh[0] < start:
            start = max(self._fresh[0], time - _STRETCH * self._span)
        elif len(self._fresh) < _MINIMUM_POINTS:
            start = time - _STRETCH * self._span
        self._points.drop_before(start)

    def _refit(self, now: float, surprising: bool) -> None:
        self.length = now - self._points.oldest
        if surprising or now <= self._outliers_until:
            self._fit_robust(now)
            return
        residual, square_sum = self._fit_plain()
        if len(self._points) > _MINIMUM_POINTS and has_outliers(residual, square_sum):
            self._fit_robust(now)

    def _fit_plain(self) -> tuple[FloatArray, float]:
        """Fit with equal weights; return the residuals and the sum of their squares."""
        fitted = fit_parabola(self._points.time, self._points.value)
        if fitted is None:
            self.fit = None
            self.agrees = False
            return np.empty(0), 0.0
        parabola, residual = fitted
        square_sum = float(residual.dot(residual))
        self._accept(parabola, residual, square_sum, float(len(residual)))
        self.agrees = True
        return residual, square_sum

    def _fit_robust(self, now: float) -> None:
        time, altitude = self._points.time, self._points.value
        if self.fit is None:
            residual, _ = self._fit_plain()
        else:
            residual = altitude - self.fit.altitudes(time)
        if len(residual) == 0:
            return
        floor = _FLOOR_RATIO * self._noise_prior
        for _ in range(2):
            weight = reweight(residual, floor)
            fitted = fit_parabola(time, altitude, weight)
            if fitted is None:
                self._fit_plain()
                return
            parabola, residual = fitted
        rejected = (weight < _REJECTED).nonzero()[0]
        if len(rejected):
            self._outliers_until = float(time[rejected[-1]]) + self._span
            if weight[-1] < _REJECTED and self._begin_anew(time, weight, now):
                return
        weighted = residual * np.sqrt(weight)
        total = float(np.add.reduce(weight))
        self._accept(parabola, weighted, float(weighted.dot(weighted)), total)
        recent = weight[int(time.searchsorted(now - _RECENT)):]
        self.agrees = float(np.add.reduce(recent)) >= 0.5 * len(recent)

    def _begin_anew(self, time: FloatArray, weight: FloatArray, now: float) -> bool:
        """Surrender to a long run of outliers at the end: keep only that run."""
        kept = (weight >= _REJECTED).nonzero()[0]
        last = int(kept[-1]) if len(kept) else -1
        if len(time) - 1 - last < _MINIMUM_POINTS:
            return False
        begin = float(time[last + 1])
        if now - begin <= _SURRENDER * self._span:
            return False
        self._points.drop_before(begin)
        self.length = now - begin
        self._outliers_until = -math.inf
        self._fit_plain()
        return True

    def _accept(
        self, parabola: Parabola, residual: FloatArray, square_sum: float, total: float
    ) -> None:
        self.noise = noise_of(residual, square_sum, total, self._noise_prior, _PRIOR_COUNT)
        self.fit = parabola.with_noise(self.noise)
