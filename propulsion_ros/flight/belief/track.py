# SPDX-License-Identifier: Apache-2.0
"""The track of a height by its readings alone: where it moves smoothly, where it jumps."""
from __future__ import annotations

import math

import numpy as np

from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.stamps import INTERVALS

_SPREAD = 50.0  # standard deviation of the acceleration of a rocket [m/s^2]
_TIME = 0.5  # time constant of that acceleration [s]
_JUMP = 25.0  # squared innovation over its variance, beyond which a reading is an outlier
_SPEED = 200.0  # standard deviation of the speed at its first reading [m/s]
_PROVEN = 3  # readings in a row that must agree
_OLD = 0.5  # a track is out of date after so long without a reading, unless that is slow [s]


class Track:
    """A filter of height, speed and acceleration on one height alone.

    Attributes
    ----------
    state : ndarray
        Height [m], speed [m/s], acceleration [m/s^2] (3,).
    covariance : ndarray
        Covariance of the state (3, 3).
    shown : tuple of float
        Height [m] and its variance [m^2] after the last reading that agreed.
    age : float
        Time since that reading [s].
    jumped : float
        Sum of all jumps [m].
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the height."""
        self.state: FloatArray = np.zeros(3)
        self.covariance: FloatArray = np.zeros((3, 3))
        self._agreed = -1
        self.shown = 0.0, 0.0
        self.jumped = 0.0
        self._outlier = math.nan
        self.age, self._interval = math.inf, 0.0

    @property
    def is_proven(self) -> bool:
        """Whether several readings in a row agreed, the last one lately."""
        return self._agreed >= _PROVEN and self.age < max(_OLD, INTERVALS * self._interval)

    def advance(self, dt: float) -> None:
        """Predict over a time [s]."""
        self.age += dt
        if self._agreed < 0:
            return
        decay = math.exp(-dt / _TIME)
        step = np.array([[1.0, dt, 0.5 * dt * dt], [0.0, 1.0, dt], [0.0, 0.0, decay]])
        self.state = step @ self.state
        self.covariance = step @ self.covariance @ step.T
        self.covariance[2, 2] += _SPREAD**2 * (1.0 - decay * decay)

    def take(self, height: float, variance: float) -> float:
        """Take a reading [m], and return its distance from the prediction [m].

        An outlier is a glitch, unless the next reading agrees with it: then the height has jumped.
        """
        if self._agreed < 0:
            self._begin(height, variance)
            return 0.0
        innovation = height - float(self.state[0])
        total = float(self.covariance[0, 0]) + variance
        far = _JUMP * total
        if innovation * innovation > far:
            is_again = (innovation - self._outlier) ** 2 <= far
            self._outlier = innovation
            if is_again or self._agreed == 0:
                self.jumped += innovation
                self._begin(height, variance)
            return abs(innovation)
        self._outlier = math.nan
        self._interval, self.age = self.age, 0.0
        self._agreed += 1
        gain = self.covariance[:, 0] / total
        self.state = self.state + gain * innovation
        self.covariance = self.covariance - np.outer(gain, self.covariance[0])
        self.shown = float(self.state[0]), float(self.covariance[0, 0])
        return abs(innovation)

    def _begin(self, height: float, variance: float) -> None:
        self.state = np.array([height, 0.0, 0.0])
        self.covariance = np.diag([variance, _SPEED**2, _SPREAD**2])
        self._agreed, self._outlier = 0, math.nan
        self._interval, self.age = (0.0 if math.isinf(self.age) else self.age), 0.0
        self.shown = height, variance
