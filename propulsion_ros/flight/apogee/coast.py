# SPDX-License-Identifier: Apache-2.0
"""Kalman filter of a coasting flight: altitude, speed and drag."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.flight.apogee.parabola import CLEAR
from propulsion_ros.flight.belief.belief import DOF, DRAG
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

SEEN = 0.6
"""A coast is trusted once samples have agreed with it for so long [s]."""
LONGEST_GAP = 30.0
"""Altitudes that are further apart do not show one coast [s]."""
_DRAG_SIGMA = 4e-4  # standard deviation of `DRAG` among rockets [1/m]
_LARGEST_DRAG = 1e-2  # the estimated drag is limited to this [1/m]
_ACCELERATION_NOISE = 0.4  # process noise: acceleration other than by drag and gravity [m^2/s^3]
_DRAG_NOISE = 0.1  # random walk of the drag: relative change in 1 s, one sigma
_LONGEST_STEP = 0.25  # longest step of a prediction [s]
_GATE = 16.0  # a sample beyond 4 sigma disagrees [sigma^2]
_FARTHEST = 400.0  # a sample beyond 20 sigma is not used at all [sigma^2]
_MEMORY = 0.7  # time constant of the share of samples that agree [s]
_STANDING = 1.5  # the same time until a coast prevents a detection [s]
_MODEL_SHARE = 0.06  # error of the predicted apogee by the model, over the time to it, one sigma
_MODEL_SIGMA = 0.08  # part of that error that remains at the apogee, one sigma [s]


class Foresight(NamedTuple):
    """Apogee of a coast, ahead or behind.

    Attributes
    ----------
    apogee_ns : int
        Time of the apogee [ns].
    altitude : float
        Altitude of the apogee above the pad [m].
    sigma : float
        Standard deviation of the time [s].
    """

    apogee_ns: int
    altitude: float
    sigma: float


class CoastFilter:
    """Extended Kalman filter of altitude h, speed v and drag k, with v' = -g - k v |v|.

    The filter predicts through gaps. It weighs each altitude by Student's t, so that a spike or a
    dip of static ports hardly moves it. If the altitudes disagree for longer than a dip lasts, the
    vehicle does not coast, and the caller must reset the filter.

    Attributes
    ----------
    altitude, velocity, drag : float
        Estimates at the last sample [m], [m/s], [1/m]; up is positive.
    begun_ns, agreed_ns : int or None
        When the coast was begun, and when a sample last agreed [ns]; None while there is none.
    agreement : float
        Share of the latest samples that agree with the filter, 0 to 1.
    disagreed_ns : int or None
        Stamp since which no sample has agreed [ns]; None if the last one did.
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
        """Begin a coast with an altitude [m], and a velocity with its sigma [m/s]."""
        self.reset()
        self.begun_ns = self._now_ns = self.agreed_ns = stamp_ns
        self.altitude, self.velocity, self.drag = altitude, velocity, DRAG
        # The covariance of h, v and k, by pairs; h begins with a sigma of 5 m.
        self._hh, self._hv, self._hk = 25.0, 0.0, 0.0
        self._vv, self._vk, self._kk = sigma * sigma, 0.0, _DRAG_SIGMA * _DRAG_SIGMA
        self.agreement = 0.5

    @property
    def velocity_sigma(self) -> float:
        """Standard deviation of the velocity [m/s]."""
        return math.sqrt(self._vv)

    @property
    def standing(self) -> float:
        """Time from the beginning of the coast to the last sample that agreed [s]."""
        if self.begun_ns is None or self.agreed_ns is None:
            return 0.0
        return (self.agreed_ns - self.begun_ns) * 1e-9

    @property
    def is_trusted(self) -> bool:
        """Whether samples have agreed with the filter over at least 0.6 s."""
        return self.standing >= SEEN

    @property
    def agrees(self) -> bool:
        """Whether the filter is trusted, and most of the latest samples agree with it."""
        return self.agreement >= 0.5 and self.is_trusted

    @property
    def foresight(self) -> Foresight | None:
        """Apogee by the estimate at the last sample that agreed; None if there is no coast."""
        if self.begun_ns is None:
            return None
        if self._foresight is None:
            self._foresight = self._foresee()
        return self._foresight

    def is_early(self, stamp_ns: int, margin: float) -> bool:
        """Return whether the apogee is after a stamp by 3 sigma and a margin [s]."""
        foreseen = self.foresight
        if self.standing < _STANDING or foreseen is None:
            return False
        return (foreseen.apogee_ns - stamp_ns) * 1e-9 > CLEAR * foreseen.sigma + margin

    def take(self, stamp_ns: int, altitude: float, noise: float) -> None:
        """Take an altitude and its noise, one sigma [m]."""
        if self.begun_ns is None or stamp_ns <= self._now_ns:
            return
        step = (stamp_ns - self._now_ns) * 1e-9
        if step > LONGEST_GAP:
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
            self._correct(innovation, variance * (DOF + square) / (DOF + 1.0))
        if agrees:
            self.agreed_ns, self.disagreed_ns = stamp_ns, None
            self._foresight = None
        elif self.disagreed_ns is None:
            self.disagreed_ns = stamp_ns

    def velocity_at(self, stamp_ns: int) -> float:
        """Return the predicted velocity at a stamp after the last sample [m/s]."""
        time, velocity = (stamp_ns - self._now_ns) * 1e-9, self.velocity
        while 0.0 < time < LONGEST_GAP:
            step = min(time, _LONGEST_STEP)
            velocity += (-STANDARD_GRAVITY - self.drag * velocity * abs(velocity)) * step
            time -= step
        return velocity

    def _predict(self, time: float) -> None:
        """Predict over a time [s], in steps."""
        while time > 0.0:
            step = min(time, _LONGEST_STEP)
            self._step(step)
            time -= step

    def _step(self, dt: float) -> None:
        v, k = self.velocity, self.drag
        acceleration = -STANDARD_GRAVITY - k * v * abs(v)
        self.altitude += (v + 0.5 * acceleration * dt) * dt
        self.velocity = v + acceleration * dt
        # In a step an error (h, v, k) becomes (h + dt v, a v + b k, k).
        a, b = 1.0 - 2.0 * k * abs(v) * dt, -v * abs(v) * dt
        hh, hv, hk, vv, vk, kk = self._hh, self._hv, self._hk, self._vv, self._vk, self._kk
        q = _ACCELERATION_NOISE * dt
        self._hh = hh + dt * (2.0 * hv + dt * vv) + q * dt * dt / 3.0
        self._hv = a * (hv + dt * vv) + b * (hk + dt * vk) + 0.5 * q * dt
        self._hk = hk + dt * vk
        self._vv = a * (a * vv + b * vk) + b * (a * vk + b * kk) + q
        self._vk = a * vk + b * kk
        self._kk = kk + (_DRAG_NOISE * max(k, 0.1 * DRAG)) ** 2 * dt

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
    """Return the time [s] and the height [m] to the apogee of v' = -g - k v^2, in closed form.

    Parameters
    ----------
    velocity : float
        Upward speed [m/s]; if negative, the apogee has passed.
    drag : float
        Drag k over the squared speed, above 0 [1/m].
    """
    root = math.sqrt(drag / STANDARD_GRAVITY)
    time = math.atan(velocity * root) / (STANDARD_GRAVITY * root)
    height = math.log1p(drag * velocity * velocity / STANDARD_GRAVITY) / (2.0 * drag)
    return time, height
