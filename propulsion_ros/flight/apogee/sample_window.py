# SPDX-License-Identifier: Apache-2.0
"""Sliding window of samples, averaged over fixed intervals so that its size is bounded."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.quantity import FloatArray


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
