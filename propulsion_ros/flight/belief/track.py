# SPDX-License-Identifier: Apache-2.0
"""What a height says by itself: where it goes on smoothly, and where it jumps."""
from __future__ import annotations

import math

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

_SPREAD, _TIME = 50.0, 0.5  # accelerations of a rocket [m/s^2], [s]
_JUMP = 25.0  # square of the standard deviations beyond which a reading begins it anew
_SPEED = 200.0  # standard deviation of the speed at its first reading [m/s]
_PROVEN = 3  # readings that agreed before it is believed
_OLD = 2.0  # [s]
_SHORT = 0.3  # over which three readings show the scatter and no motion [s]
_SHARE, _MEDIAN = 0.1, 0.455  # of a step of the scatter; median of a square by its variance


class Track:
    """A filter of height, speed and acceleration on one height alone.

    Attributes
    ----------
    state : ndarray
        Height [m], speed [m/s], acceleration [m/s^2] (3,).
    covariance : ndarray
        Of it (3, 3).
    scatter : float
        Variance of readings that come shortly one after the other, at least 1 [m^2].
    gap : float
        Time between the last two readings [s].
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the height."""
        self.state: FloatArray = np.zeros(3)
        self.covariance: FloatArray = np.zeros((3, 3))
        self._agreed = -1
        self._age = math.inf
        self.gap = self._new_gap = 0.0
        self.scatter = 1.0
        self._latest: tuple[float, float, float] | None = None

    @property
    def is_proven(self) -> bool:
        """Whether several readings in a row agreed, the last one lately."""
        return self._agreed >= _PROVEN and self._age < _OLD

    def take_gap(self) -> float:
        """Return the time that the latest reading ended [s]; 0 where that was asked before."""
        gap, self._new_gap = self._new_gap, 0.0
        return gap

    def advance(self, dt: float) -> None:
        """Let time pass [s]."""
        self._age += dt
        if self._agreed < 0:
            return
        decay = math.exp(-dt / _TIME)
        step = np.array([[1.0, dt, 0.5 * dt * dt], [0.0, 1.0, dt], [0.0, 0.0, decay]])
        self.state = step @ self.state
        self.covariance = step @ self.covariance @ step.T
        self.covariance[2, 2] += _SPREAD**2 * (1.0 - decay * decay)

    def take(self, height: float, variance: float) -> float:
        """Take a reading [m], and return how far it is from where it was expected [m]."""
        self._measure_scatter(height)
        innovation, self.gap, self._age = height - float(self.state[0]), self._age, 0.0
        self._new_gap = min(self.gap, _OLD)
        total = float(self.covariance[0, 0]) + variance
        if self._agreed < 0 or innovation * innovation > _JUMP * total:
            far = 0.0 if self._agreed < 0 else abs(innovation)
            self.state = np.array([height, 0.0, 0.0])
            self.covariance = np.diag([variance, _SPEED**2, _SPREAD**2])
            self._agreed = 0
            return far
        self._agreed += 1
        gain = self.covariance[:, 0] / total
        self.state = self.state + gain * innovation
        self.covariance = self.covariance - np.outer(gain, self.covariance[0])
        return abs(innovation)

    def _measure_scatter(self, height: float) -> None:
        """Compare a reading with the line through the two before."""
        step, latest = self._age, self._latest
        if latest is None or not 0.0 < step < _SHORT:
            self._latest = height, 0.0, math.inf
            return
        last, slope, before = latest
        if step + before < _SHORT:
            ratio = step / before
            off = height - last - slope * step
            square = off * off / (1.0 + ratio * ratio + (1.0 + ratio) ** 2)
            # Towards their median: wild readings, however many and far, are few.
            is_more = square > _MEDIAN * self.scatter
            self.scatter = max(self.scatter * (1.0 + (_SHARE if is_more else -_SHARE)), 1.0)
        self._latest = height, (height - last) / step, step
