# SPDX-License-Identifier: Apache-2.0
"""Fuses the direction of the magnetic field."""
from __future__ import annotations

import math

import numpy as np

from propulsion_ros.flight.estimation.error_state import ATTITUDE, SIZE, ErrorStateFilter
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import SensorMonitor, Status
from propulsion_ros.models.common.rotation import Vector, rotate

_PERIOD_NS = 100_000_000  # its errors are slow: more often it would tell nothing new
_DISTURBED = 0.3  # change of the strength of the field that is no longer the Earth's
_LARGEST_FIELD = 1e-3  # [T]
_SMOOTHING = 0.1
_PATIENCE = 200  # disturbed fields on the pad after which they are the field
_LARGEST_MEAN = 200


class MagneticAid:
    """Turns field vectors into corrections of the attitude.

    Of the field only one thing is known in the world: it lies in the vertical plane of magnetic
    north. Its component across that plane is fused as 0. The dip is not used: what the pad could
    tell of it is no better than the attitude there.

    Parameters
    ----------
    params : EstimatorParams
        Noise and gate.
    filter_ : ErrorStateFilter
        That is corrected.

    Attributes
    ----------
    monitor : SensorMonitor
        Health of the magnetometer.
    direction : tuple of float or None
        Mean direction in body axes on the pad, None before the first field.
    surprise : float
        Normalised innovation squared of the latest field, NaN before.
    """

    def __init__(self, params: EstimatorParams, filter_: ErrorStateFilter) -> None:
        self._params = params
        self._filter = filter_
        self._gate = params.gate**2
        self._declination = (
            math.sin(params.magnetic_declination), math.cos(params.magnetic_declination)
        )
        self._row = np.zeros(SIZE)
        self.monitor = SensorMonitor(params.magnetic_field_timeout, (_LARGEST_FIELD,) * 3)
        self.reset()

    def reset(self) -> None:
        """Forget the field."""
        self.monitor.reset()
        self._fused_ns: int | None = None
        self._forget()

    def _forget(self) -> None:
        self._disturbed = 0
        self.direction: Vector | None = None
        self._strength = math.nan
        self._fields = 0
        self._level = self._up = 0.0
        self.surprise = math.nan

    def check(self, stamp_ns: int, tesla: tuple[float, ...]) -> Status:
        """Return whether a field may be fused."""
        status = self.monitor.arrive(stamp_ns, tesla)
        if status is Status.OK and not math.hypot(*tesla) > 0.0:
            self.monitor.refuse(Status.RANGE)
            return Status.RANGE
        return status

    def learn(self, stamp_ns: int, tesla: Vector, *, is_aligned: bool) -> None:
        """Take a field on the pad at rest."""
        strength = math.hypot(*tesla)
        if self._is_disturbed(strength):
            self._disturbed += 1
            self.monitor.refuse(Status.RANGE)
            if self._disturbed > _PATIENCE:
                self._forget()
            return
        self._disturbed = 0
        x, y, z = (value / strength for value in tesla)
        self.monitor.use(stamp_ns)
        if self.direction is None:
            self.direction, self._strength = (x, y, z), strength
        else:
            a, b, c = self.direction
            k = _SMOOTHING
            x, y, z = a + k * (x - a), b + k * (y - b), c + k * (z - c)
            length = math.hypot(x, y, z) or 1.0
            self.direction = (x / length, y / length, z / length)
            self._strength += k * (strength - self._strength)
        if is_aligned:
            self.fuse(stamp_ns, tesla)

    def _is_disturbed(self, strength: float) -> bool:
        """Return whether a strength is not the one seen before; never without one before."""
        return abs(strength - self._strength) > _DISTURBED * self._strength

    def fuse(self, stamp_ns: int, tesla: Vector) -> None:
        """Fuse a field that `check` found good, with an attitude to correct."""
        if self._fused_ns is not None and stamp_ns - self._fused_ns < _PERIOD_NS:
            self.monitor.use(stamp_ns)
            return
        strength = math.hypot(*tesla)
        if math.isnan(self._strength):
            self._strength = strength
        if self._is_disturbed(strength):
            self.monitor.refuse(Status.RANGE)
            return
        x, y, z = (value / strength for value in tesla)
        east, north, up = rotate(self._filter.attitude, (x, y, z))
        sine, cosine = self._declination
        # The mean of what was seen: a row that follows the noise would pretend to know the tilt.
        self._fields = min(self._fields + 1, _LARGEST_MEAN)
        self._level += (east * sine + north * cosine - self._level) / self._fields
        self._up += (up - self._up) / self._fields
        self._row[ATTITUDE:ATTITUDE + 3] = self._up * sine, self._up * cosine, -self._level
        variance = self._params.magnetometer_noise**2
        across = east * cosine - north * sine
        self.surprise = self._filter.correct(self._row, -across, variance, self._gate)
        if self.surprise > self._gate:
            self.monitor.refuse(Status.INNOVATION)
            return
        self._fused_ns = stamp_ns
        self.monitor.use(stamp_ns)
