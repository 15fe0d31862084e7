# SPDX-License-Identifier: Apache-2.0
"""Whether a height still settles after its sensor was switched on."""
from __future__ import annotations

import math

import numpy as np

from propulsion_ros.flight.belief.belief import ALIKE, GLITCH, Channel
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.settings.quantity import FloatArray

SETTLING_TIME = 10.0
"""Every height has settled after so long [s]."""
_SETTLES = np.geomspace(0.1, 3.0, 24)  # time constants of a sensor that settles [s]
_STEP_NOISE = 0.1  # process noise for a time constant between two, as a share of a step
_LONG = 1000.0  # time constant that stands for free motion [s]
_SPEED = 100.0  # standard deviation of the speed of free motion [m/s]
_FALLS = np.array([0.0, STANDARD_GRAVITY, 0.0])  # downward: steady, falling, or pushed [m/s^2]
_PUSHES = np.array([2.0, 2.0, 30.0])  # standard deviation of the change of their speed in 1 s [m/s]
_FREE = 0.5  # probability of free motion at the start
_WIND_NOISE = 1.0  # process noise of the final height, as in wind [m^2/s]
_FROM = 1000.0  # standard deviation of where it begins, and range of outliers [m]
_AWAY = 5.0  # a height is of use when nearer to its final value [m]
_DOUBTED = 0.3  # probability of settling up to which a height is of use
_EXCLUDED = 0.01  # probability up to which settling is ruled out for good
_NOISE = 9.0  # variance of a reading until that is measured [m^2]
_LEAST = 1e-9  # least probability of a filter, so that it can recover
_TIMES = np.append(_SETTLES, np.full(len(_PUSHES), _LONG))
_SPREADS = {  # standard deviation of the final height, on the pad or in the air [m]
    in_air: np.append(np.full(len(_SETTLES), level), np.full(len(_PUSHES), _SPEED * _LONG))
    for in_air, level in ((False, 30.0), (True, 1000.0))
}


class Settling:
    """A height that settles to that of the vehicle with a first-order lag.

    A bank of filters, one for each time constant, estimates the final height and the present one.
    A time constant of a quarter of an hour stands for free motion of the vehicle; but shortly
    after a rest a steady approach to the pad is that of a sensor's own filter that starts up.
    """

    def __init__(self) -> None:
        self.begin(may_settle=False)

    def begin(
        self, *, may_settle: bool, in_air: bool = False, runs_in: bool = False
    ) -> None:
        """Begin anew; a sensor that was switched on ``may_settle``.

        One that ``runs_in`` may approach the pad along a line, as a moving average does.
        """
        settling, free = len(_SETTLES), len(_PUSHES)
        self._may_settle, self._runs_in = may_settle, runs_in and not in_air
        self._first_ns: int | None = None
        self._last_ns, self._share = 0, 0.0
        self._odds = np.repeat([(1.0 - _FREE) / settling, _FREE / free], [settling, free])
        self._state: FloatArray = np.zeros((settling + free, 2))
        self._covariance: FloatArray = np.zeros((settling + free, 2, 2))
        self._covariance[:, 0, 0], self._covariance[:, 1, 1] = _SPREADS[in_air]**2, _FROM**2

    def share(self, now_ns: int) -> float:
        """Return the probability that the height still settles at a time [ns]."""
        return self._share if self._may_settle and not self._has_ended(now_ns) else 0.0

    def is_on(self, now_ns: int) -> bool:
        """Return whether the height at a time [ns] is of no use yet, as it settles."""
        return self.share(now_ns) > _DOUBTED

    def holds(self, now_ns: int, height: float, noise: float = 0.0) -> bool:
        """Take a reading [m] at a time [ns], and return whether it is of no use yet.

        ``noise`` is its variance [m^2], NaN until that is measured.
        """
        if not self._may_settle or not math.isfinite(height):
            return False
        if self._first_ns is None:
            self._first_ns = self._last_ns = now_ns
            self._take(height, 1.0, noise)
        elif now_ns > self._last_ns:
            dt, self._last_ns = (now_ns - self._last_ns) * 1e-9, now_ns
            self._advance(dt)
            self._take(height, min(dt / ALIKE[Channel.HEIGHT], 1.0), noise)
        settling, steady = slice(len(_SETTLES)), len(_SETTLES)
        away = np.abs(self._state[settling, 0] - self._state[settling, 1]) > _AWAY
        self._share = float(self._odds[settling] @ away)
        end, now = self._state[steady].tolist()
        # A sensor that runs in is far from the pad, and approaches it.
        if self._runs_in and abs(now) > _AWAY and now * (end - now) < 0.0:
            self._share += float(self._odds[steady])
        self._may_settle = self._share > _EXCLUDED and not self._has_ended(now_ns)
        return self.is_on(now_ns)

    def _has_ended(self, now_ns: int) -> bool:
        return self._first_ns is not None and (now_ns - self._first_ns) * 1e-9 >= SETTLING_TIME

    def _advance(self, dt: float) -> None:
        nears = 1.0 - np.exp(-dt / _TIMES)
        step = nears * (self._state[:, 0] - self._state[:, 1])
        self._state[:, 1] += step
        moves = np.tile(np.eye(2), (len(_TIMES), 1, 1))
        moves[:, 1, 0], moves[:, 1, 1] = nears, 1.0 - nears
        self._covariance = moves @ self._covariance @ moves.transpose(0, 2, 1)
        self._covariance[:, 1, 1] += (_STEP_NOISE * step)**2
        self._covariance[:, 0, 0] += _WIND_NOISE * dt
        free = slice(len(_SETTLES), None)
        self._state[free, 0] -= _LONG * _FALLS * dt
        self._covariance[free, 0, 0] += (_LONG * _PUSHES)**2 * dt

    def _take(self, height: float, weight: float, noise: float) -> None:
        variance = 1.0 + (_NOISE if math.isnan(noise) else noise)
        off = height - self._state[:, 1]
        total = self._covariance[:, 1, 1] + variance
        near = np.exp(-np.minimum(0.5 * off * off / total, 300.0)) / np.sqrt(math.tau * total)
        odds = self._odds * ((1.0 - GLITCH) * near + GLITCH / _FROM)**weight
        self._odds = np.maximum(odds / odds.sum(), _LEAST)
        gain = self._covariance[:, :, 1] / (self._covariance[:, 1, 1] + variance / weight)[:, None]
        self._state = self._state + gain * off[:, None]
        self._covariance = self._covariance - gain[:, :, None] * self._covariance[:, None, 1, :]
