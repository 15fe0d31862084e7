# SPDX-License-Identifier: Apache-2.0
"""Fits a parabola to the latest altitudes, without outliers and values that the sensor holds."""
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
from propulsion_ros.flight.belief.belief import Channel
from propulsion_ros.flight.belief.feed import MOVES
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.dwell import Held
from propulsion_ros.timing.stamps import INTERVALS


class SampleWindow:
    """The latest points of a signal, at most one per interval.

    Samples in the same interval are averaged to one point, so that a fast sensor needs no more
    points than a slow one. Times count from the first sample after `clear`, the epoch. Intervals
    are centred on multiples of their length, so that rounded stamps of a sensor with exactly that
    rate do not put two samples into one interval.

    Parameters
    ----------
    interval : float
        Length of an interval [s].
    capacity : int
        Largest number of points; a further one replaces the oldest.
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
        self._slot = -1  # number of the interval of the newest point
        self._merged = 0  # samples in the newest point

    def __len__(self) -> int:
        """Return the number of points."""
        return self._end - self._first

    @property
    def time(self) -> FloatArray:
        """Times of the points since the epoch, shape (n,) [s]; a view that `add` changes."""
        return self._time[self._first:self._end]

    @property
    def value(self) -> FloatArray:
        """Values of the points, shape (n,); a view that `add` changes."""
        return self._value[self._first:self._end]

    @property
    def oldest(self) -> float:
        """Time of the oldest point since the epoch [s]."""
        return float(self._time[self._first])

    def seconds(self, stamp_ns: int) -> float:
        """Return a stamp as a time since the epoch [s]."""
        return (stamp_ns - self._epoch_ns) * 1e-9

    def stamp(self, seconds: float) -> int:
        """Return a time since the epoch as a stamp [ns]."""
        return self._epoch_ns + round(seconds * 1e9)

    def opens(self, stamp_ns: int) -> bool:
        """Return whether a sample at a stamp would begin a new point."""
        return self._end == self._first or self._slot_of(stamp_ns) != self._slot

    def add(self, stamp_ns: int, value: float) -> None:
        """Add a sample that is newer than all others."""
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


_MINIMUM_POINTS = 5  # points that a window should have; a parabola needs three
_STRETCH = 3  # a slow sensor gets a window of up to so many usual lengths to have these points
_GATE = 5.0  # a sample that is more sigma away from the fit contradicts the fit
_HELD_GATE = 4.0  # a repeated value is held once its last fit has moved away by so many sigma
_REJECTED = 0.05  # a sample with a smaller weight is an outlier
_RECENT = 0.3  # a fit agrees if the samples of this last time have half of their weight [s]
_SURRENDER = 0.5  # outliers in a row over this part of the window are the true altitude
_PRIOR_COUNT = 4.0  # number of samples that the prior of the noise counts as
_REPEATS = 3  # a sensor that repeats a value so often and then leaps is slower than its messages
_LEAP = 5.0  # least change that is such a leap [m], or [sigma] of the prior noise
_STEPS = 1.5  # a value is held after a motion by so many of its last steps, and by `MOVES`
_FLOOR_RATIO = 0.2  # least sigma of the residuals in a robust fit over the prior noise


class AltitudeTracker:
    """Fits a parabola to the latest altitudes each time there is a new point.

    All weights are equal while the residuals look normal. If they do not, or a sample contradicts
    the last fit, two rounds of Tukey's bisquare weights start from that fit, so that the errors of
    a pressure shock or an ejection charge get no weight. A run of outliers over half of the window
    is taken for the true altitude: only that run is kept.

    A sensor that repeats a value while the vehicle moves holds its output: the value is not used
    until it changes. If values often repeat and then leap, the sensor is slower than its messages,
    and only changes are used. With fewer than five points the window is longer, up to three times.

    Parameters
    ----------
    span : float
        Length of the window [s].
    capacity : int
        Points in a window of that length.
    noise : float
        Prior of the altitude noise, one sigma [m].
    """

    def __init__(self, span: float, capacity: int, noise: float) -> None:
        self._span = span
        self._noise_prior = noise
        self._interval = span / capacity
        self._points = SampleWindow(span / capacity, _STRETCH * capacity + 1)
        self._change_times: deque[float] = deque(maxlen=_MINIMUM_POINTS)
        self._held = Held()
        self.restart()

    def restart(self) -> None:
        """Forget all samples."""
        self._points.clear()
        self._change_times.clear()
        self._held.reset()
        self._outliers_until = -math.inf
        self.fit: Parabola | None = None
        self.noise = self._noise_prior  # of the samples about the fit, one sigma [m]
        self.agrees = False  # whether the newest samples lie on the fit
        self.is_held = False  # whether the sensor holds its output
        self.is_news = False  # whether the last sample was measured, and did not only repeat
        self.interval_ns = 0  # time between changes of a slow sensor [ns]; 0 for any other
        self._repeats = self._changes = 0  # in a row
        self._change = 0.0  # last change of the altitude [m]
        self.length = 0.0  # time from the oldest point to the newest [s]

    def seconds(self, stamp_ns: int) -> float:
        """Return a stamp as a time of the fit [s]."""
        return self._points.seconds(stamp_ns)

    def stamp(self, seconds: float) -> int:
        """Return a time of the fit as a stamp [ns]."""
        return self._points.stamp(seconds)

    def add(self, stamp_ns: int, altitude: float, speed: float = math.nan) -> Parabola | None:
        """Take a sample that is newer than all others; return a new fit if it begins a point.

        Parameters
        ----------
        stamp_ns : int
            Stamp of the sample [ns].
        altitude : float
            Altitude above the pad [m].
        speed : float
            Speed of the vehicle, estimated without this sample [m/s]; NaN if unknown.
        """
        points = self._points
        if len(points) == 0:
            self._change_times.clear()
            points.add(stamp_ns, altitude)
            self._held.repeats(stamp_ns, altitude)
            self._change_times.append(0.0)
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
        """Return a plain fit of the last part of the window [s], None if it has too few points."""
        time, value = self._points.time, self._points.value
        first = int(time.searchsorted(time[-1] - duration)) if len(time) else 0
        if len(time) - first < _MINIMUM_POINTS:
            return None
        fitted = fit_parabola(time[first:], value[first:])
        return None if fitted is None else fitted[0].with_noise(self.noise)

    def _is_news(self, stamp_ns: int, time: float, altitude: float, speed: float) -> bool:
        """Return whether an altitude was measured now, and is no earlier one that is repeated."""
        since_ns, before = self._held.since_ns, self._held.value
        if self._held.repeats(stamp_ns, altitude, self.fit):
            self._repeats += 1
            self._changes = 0
            if self.interval_ns:
                self.is_held = stamp_ns - (since_ns or 0) > INTERVALS * self.interval_ns
                return False
            moved = abs(speed) * (stamp_ns - (since_ns or 0)) * 1e-9
            if not self.is_held and (
                moved > max(MOVES[Channel.HEIGHT], _STEPS * self._change)
                or self._contradicts(self._held.then, time, altitude, _HELD_GATE)
            ):
                self.is_held = True
                self._drop_repeated(since_ns)
            return not self.is_held
        leaps = abs(altitude - before) > _LEAP * max(1.0, self._noise_prior)
        if self._repeats >= _REPEATS and leaps and since_ns is not None:
            self._drop_repeated(since_ns)
            self.interval_ns = stamp_ns - since_ns
        self._repeats = 0
        self._change = abs(altitude - before)
        self._changes += 1
        if self._changes >= _MINIMUM_POINTS:
            self.interval_ns = 0
        self._change_times.append(time)
        self.is_held = False
        return True

    def _drop_repeated(self, since_ns: int | None) -> None:
        """Drop the points that only repeated the value since its change."""
        if since_ns is not None and len(self._points):
            self._points.drop_after(self._points.seconds(since_ns) + self._interval)

    def _contradicts(
        self, fit: Parabola | None, time: float, altitude: float, gate: float
    ) -> bool:
        """Return whether an altitude is further from a fit than a number of sigma, the gate."""
        if fit is None:
            return False
        distance = abs(altitude - fit.altitude(time))
        if distance <= gate * self.noise:
            return False
        return distance > gate * math.hypot(self.noise, fit.altitude_sigma(time))

    def _drop_old(self, time: float) -> None:
        start = time - self._span
        if len(self._change_times) == _MINIMUM_POINTS and self._change_times[0] < start:
            start = max(self._change_times[0], time - _STRETCH * self._span)
        elif len(self._change_times) < _MINIMUM_POINTS:
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
        """Keep only the outliers at the end if their run is long; return whether it is."""
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
