# SPDX-License-Identifier: Apache-2.0
"""One estimate of a coasting flight: altitude, speed and drag, with their covariance."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

_DRAG, _DRAG_SIGMA = 3e-4, 4e-4  # prior of the drag over the square of the speed [1/m]
_LARGEST_DRAG = 1e-2  # [1/m]
_ACCELERATION_NOISE = 0.4  # of what drag and gravity do not explain [m^2/s^3]
_DRAG_NOISE = 0.1  # relative change of the drag in 1 s, one sigma
_LONGEST_GAP = 30.0  # over which nothing is predicted [s]
_LONGEST_STEP = 0.25  # of the prediction [s]
_TAILS = 4.0  # degrees of freedom of the noise: Student's t has heavy tails
_GATE = 16.0  # squared innovation over its variance beyond which a sample disagrees
_FARTHEST = 400.0  # and beyond which it is not used
_MEMORY = 0.7  # over which the share of samples that agree is averaged [s]
_SEEN = 0.6  # for so long samples must have agreed before the filter is believed [s]
_STANDING = 1.5  # and before it keeps a vote back [s]
_MODEL_SHARE, _MODEL_SIGMA = 0.06, 0.08  # error of the model: part of the time to go, and [s]


class Foresight(NamedTuple):
    """Where a coast will be, or was, highest.

    Attributes
    ----------
    apogee_ns : int
        [ns].
    altitude : float
        [m].
    sigma : float
        One sigma of the time [s].
    """

    apogee_ns: int
    altitude: float
    sigma: float


class CoastFilter:
    """Extended Kalman filter of h, v and k with v' = -g - k v |v|.

    It goes on through gaps by its model. Each altitude is weighed by Student's t, so that a spike
    or a dip of static ports moves nothing, however large it is. What disagrees for longer than
    any dip lasts is another motion, and the filter must begin anew.

    Attributes
    ----------
    altitude, velocity, drag : float
        At the last sample or prediction [m], [m/s], [1/m].
    begun_ns : int or None
        When it was begun; None while there is no coast.
    agreement : float
        Share of the latest samples that agree, 0 to 1.
    disagreed_ns : int or None
        Since when no sample has agreed.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the coast."""
        self.begun_ns: int | None = None
        self.disagreed_ns: int | None = None
        self.agreed_ns: int | None = None
        self.agreement = 0.0
        self.altitude = self.velocity = self.drag = math.nan
        self._now_ns = 0
        self._foresight: Foresight | None = None

    def begin(self, stamp_ns: int, altitude: float, velocity: float, sigma: float) -> None:
        """Begin with an altitude, and a velocity of one sigma."""
        self.reset()
        self.begun_ns = self._now_ns = self.agreed_ns = stamp_ns
        self.altitude, self.velocity, self.drag = altitude, velocity, _DRAG
        self._hh, self._hv, self._hk = 25.0, 0.0, 0.0
        self._vv, self._vk, self._kk = sigma * sigma, 0.0, _DRAG_SIGMA * _DRAG_SIGMA
        self.agreement = 0.5

    @property
    def velocity_sigma(self) -> float:
        """One sigma of the velocity [m/s]."""
        return math.sqrt(self._vv)

    @property
    def standing(self) -> float:
        """Time from its beginning to the last sample that agreed [s]."""
        if self.begun_ns is None or self.agreed_ns is None:
            return 0.0
        return (self.agreed_ns - self.begun_ns) * 1e-9

    @property
    def is_trusted(self) -> bool:
        """Whether it has agreed with the samples for long enough to be believed."""
        return self.standing >= _SEEN

    @property
    def agrees(self) -> bool:
        """Whether it is believed, and the latest samples agree."""
        return self.agreement >= 0.5 and self.is_trusted

    @property
    def foresight(self) -> Foresight | None:
        """Where the flight will be highest, by the last sample that agreed; None if unknown."""
        if self.begun_ns is None:
            return None
        if self._foresight is None:
            self._foresight = self._foresee()
        return self._foresight

    def is_early(self, stamp_ns: int, margin: float) -> bool:
        """Return whether the apogee of a trusted coast surely lies ahead of a stamp."""
        if self.standing < _STANDING:
            return False
        foreseen = self.foresight
        if foreseen is None:
            return False
        return (foreseen.apogee_ns - stamp_ns) * 1e-9 > 3.0 * foreseen.sigma + margin

    def take(self, stamp_ns: int, altitude: float, noise: float) -> None:
        """Take an altitude of a noise, one sigma [m]."""
        if self.begun_ns is None or stamp_ns <= self._now_ns:
            return
        step = (stamp_ns - self._now_ns) * 1e-9
        if step > _LONGEST_GAP:
            self.reset()
            return
        self._predict(step)
        self._now_ns = stamp_ns
        variance = noise * noise
        innovation = altitude - self.altitude
        square = innovation * innovation / (self._hh + variance)
        agrees = square < _GATE
        self.agreement += (agrees - self.agreement) * min(step / _MEMORY, 0.3)
        if square < _FARTHEST:
            self._correct(innovation, variance * (_TAILS + square) / (_TAILS + 1.0))
        if agrees:
            self.agreed_ns, self.disagreed_ns = stamp_ns, None
            self._foresight = None
        elif self.disagreed_ns is None:
            self.disagreed_ns = stamp_ns

    def velocity_at(self, stamp_ns: int) -> float:
        """Return the velocity at a stamp after the last sample [m/s]."""
        time, velocity = (stamp_ns - self._now_ns) * 1e-9, self.velocity
        while 0.0 < time < _LONGEST_GAP:
            step = min(time, _LONGEST_STEP)
            velocity += (-STANDARD_GRAVITY - self.drag * velocity * abs(velocity)) * step
            time -= step
        return velocity

    def _predict(self, time: float) -> None:
        while time > 0.0:
            step = min(time, _LONGEST_STEP)
            self._step(step)
            time -= step

    def _step(self, dt: float) -> None:
        v, k = self.velocity, self.drag
        pull = -STANDARD_GRAVITY - k * v * abs(v)
        self.altitude += (v + 0.5 * pull * dt) * dt
        self.velocity = v + pull * dt
        # Transition of the errors: h' = h + dt v, v' = a v + b k.
        a, b = 1.0 - 2.0 * k * abs(v) * dt, -v * abs(v) * dt
        hh, hv, hk, vv, vk, kk = self._hh, self._hv, self._hk, self._vv, self._vk, self._kk
        q = _ACCELERATION_NOISE * dt
        self._hh = hh + dt * (2.0 * hv + dt * vv) + q * dt * dt / 3.0
        self._hv = a * (hv + dt * vv) + b * (hk + dt * vk) + 0.5 * q * dt
        self._hk = hk + dt * vk
        self._vv = a * (a * vv + b * vk) + b * (a * vk + b * kk) + q
        self._vk = a * vk + b * kk
        self._kk = kk + (_DRAG_NOISE * max(k, 0.1 * _DRAG)) ** 2 * dt

    def _correct(self, innovation: float, variance: float) -> None:
        total = self._hh + variance
        gain_h, gain_v, gain_k = self._hh / total, self._hv / total, self._hk / total
        self.altitude += gain_h * innovation
        self.velocity += gain_v * innovation
        self.drag = min(max(self.drag + gain_k * innovation, 0.0), _LARGEST_DRAG)
        self._kk -= gain_k * self._hk
        self._vk -= gain_v * self._hk
        self._vv -= gain_v * self._hv
        self._hk -= gain_h * self._hk
        self._hv -= gain_h * self._hv
        self._hh -= gain_h * self._hh

    def _foresee(self) -> Foresight:
        v, k = self.velocity, max(self.drag, 1e-7)
        time, height = coast_to_apogee(v, k)
        by_v = 1.0 / (STANDARD_GRAVITY + k * v * v)
        nudge = 0.01 * k + 1e-7
        by_k = (coast_to_apogee(v, k + nudge)[0] - time) / nudge
        variance = by_v * by_v * self._vv + 2.0 * by_v * by_k * self._vk + by_k * by_k * self._kk
        model = _MODEL_SHARE * abs(time) + _MODEL_SIGMA
        return Foresight(
            self._now_ns + round(time * 1e9), self.altitude + height,
            math.sqrt(max(variance, 0.0) + model * model),
        )


def coast_to_apogee(velocity: float, drag: float) -> tuple[float, float]:
    """Return time [s] and height [m] to the apogee of v' = -g - k v^2, in closed form.

    Parameters
    ----------
    velocity : float
        Upward [m/s]; downward for an apogee that lies behind.
    drag : float
        k, above 0 [1/m].
    """
    root = math.sqrt(drag / STANDARD_GRAVITY)
    time = math.atan(velocity * root) / (STANDARD_GRAVITY * root)
    height = math.log1p(drag * velocity * velocity / STANDARD_GRAVITY) / (2.0 * drag)
    return time, height
