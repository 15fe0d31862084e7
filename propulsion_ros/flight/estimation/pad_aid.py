# SPDX-License-Identifier: Apache-2.0
"""Corrects the attitude by gravity, rest and magnetic north, and measures the pad's altitude."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection

import numpy as np

from propulsion_ros.flight.belief.departure import AWAY
from propulsion_ros.flight.estimation.error_state import (
    ATTITUDE,
    FORCE_BIAS,
    GYRO_BIAS,
    POSITION,
    SIZE,
    VELOCITY,
    ErrorStateFilter,
)
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import SensorMonitor, Status
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.rotation import Vector, product, rotate, rows_of, upright
from propulsion_ros.settings.quantity import FloatArray

_PERIOD_NS = 100_000_000  # attitude is corrected this often, as its errors change slowly [ns]
_REST_SPEED = 0.02  # speed of a vehicle at rest, one sigma [m/s]
_REST_POSITION = 0.2  # distance of a vehicle at rest from its pad, one sigma [m]
_REST_RATE = 0.002  # rate of turn of a vehicle at rest, one sigma [rad/s]
_DRIFT = 5.0  # largest vertical speed that a wrong attitude explains at rest on the pad [m/s]
_SWING = 3.0  # deviation of the mean force from 1 g upward under a parachute, one sigma [m/s^2]
_ALIGNED_SIGMA = 0.1  # error of the level taken from a few samples, one sigma [rad]
READINGS = 100
"""The place of the pad is a mean of so many readings, and after as many others it is a new one."""
_RECENT = 9  # `set_here` takes the median of so many, which a spike hardly moves
_FAR = 12.0  # a reading so many median deviations away is a spike: 8 sigma of normal noise
_DISTURBED = 0.3  # a field whose strength differs by this share is not that of the Earth alone
_LARGEST_FIELD = 1e-3  # largest component of a field on the Earth, with a wide margin [T]
_SMOOTHING = 0.1  # share of a new field in the mean on the pad
_FIELDS = 200  # the field is a mean of so many, and after as many disturbed ones a new one


class PadAid:
    """Aligns the attitude by gravity and the magnetic field, and corrects it at rest.

    Of a vehicle at rest the velocity, the angular rate and, on the pad, the position are fused as 0
    ten times a second; the velocity corrects the level. Under a parachute a mean force of 1 g
    is fused as upward.

    Parameters
    ----------
    params : EstimatorParams
        Limits of rest, heading, noise.
    filter_ : ErrorStateFilter
        The filter that is aligned and corrected.

    Attributes
    ----------
    is_aligned : bool
        Whether the filter has an attitude.
    is_at_rest : bool
        Whether the last mean of the inertial samples was that of a vehicle at rest.
    """

    def __init__(self, params: EstimatorParams, filter_: ErrorStateFilter) -> None:
        self._params = params
        self._filter = filter_
        self._alignment_ns = round(params.alignment_time * 1e9)
        self._rows = np.eye(SIZE)
        self.reset()

    def reset(self) -> None:
        """Forget the attitude."""
        self.is_aligned = False
        self.is_at_rest = False
        self._begin_mean(None)

    def _begin_mean(self, stamp_ns: int | None) -> None:
        """Begin a new mean of the inertial samples at a stamp."""
        self._since_ns = stamp_ns
        self._sums = [0.0] * 6
        self._squares = [0.0] * 3
        self._count = 0

    def update(
        self, stamp_ns: int, rate: Vector, force: Vector, field: Vector | None, stage: Stage
    ) -> None:
        """Take one inertial sample on the ground or under a parachute.

        Parameters
        ----------
        stamp_ns : int
            Stamp of the sample [ns].
        rate, force : tuple of float
            Angular rate and specific force in body axes [rad/s], [m/s^2].
        field : tuple of float or None
            Direction of the magnetic field in body axes; None if unknown.
        stage : Stage
            PAD, DESCENT or LANDED.
        """
        if self._since_ns is None or stamp_ns - self._since_ns > 10 * self._alignment_ns:
            self._begin_mean(stamp_ns)
        sums = self._sums = [a + b for a, b in zip(self._sums, (*rate, *force), strict=True)]
        squares = self._squares = [a + b * b for a, b in zip(self._squares, rate, strict=True)]
        self._count += 1
        needed = _PERIOD_NS if self.is_aligned else self._alignment_ns
        if stamp_ns - (self._since_ns or 0) < needed or self._count < 3:
            return
        n, params = self._count, self._params
        mean = [value / n for value in sums]
        # Variances of the mean rates; the scatter of a few samples may be too small by chance.
        variance = [
            max((square / n - m * m) / n, params.gyro_noise**2 * 1e9 / needed)
            for square, m in zip(squares, mean[:3], strict=True)
        ]
        self._begin_mean(stamp_ns)
        bias = self._filter.gyro_bias if self.is_aligned else [0.0, 0.0, 0.0]
        is_slow = math.dist(mean[:3], bias) < params.rest_rate
        force_error = abs(math.hypot(*mean[3:]) - STANDARD_GRAVITY)
        is_one_g = force_error < params.rest_acceleration
        self.is_at_rest = is_slow and is_one_g and stage is not Stage.DESCENT
        if stage is Stage.DESCENT:
            if is_one_g and self.is_aligned:
                self._make_level(mean, _SWING**2)
            return
        if not self.is_at_rest:
            return
        if self.is_aligned and self._estimate_moves() and stage is Stage.PAD:
            # At rest, but the estimate moves: by a wrong attitude, unless it climbs or falls.
            self.is_aligned = abs(self._filter.velocity[2]) > _DRIFT
        if self.is_aligned:
            self._correct(mean, variance, stage)
        elif stage is Stage.PAD:
            self._align(mean, field)

    def _estimate_moves(self) -> bool:
        """Return whether a component of the estimated velocity is not that of rest."""
        state, gate = self._filter, self._params.gate
        # Each by its own sigma: a climb is known far better than a drift without fixes.
        return any(
            abs(speed) > gate * math.hypot(math.sqrt(state.variance(VELOCITY + i)), _REST_SPEED)
            for i, speed in enumerate(state.velocity)
        )

    def _align(self, mean: list[float], field: Vector | None) -> None:
        """Set the attitude by a mean of rate and force, and by the magnetic field."""
        params = self._params
        attitude = upright((mean[3], mean[4], mean[5]))
        if field is None:
            heading = params.heading
        else:
            east, north, _ = rotate(attitude, field)
            # Magnetic north lies east of true north by the declination.
            heading = math.atan2(east, north) - params.magnetic_declination
        # The field reduces this sigma when it is fused, where its error depends on the tilt.
        sigma = params.heading_sigma
        turn = (0.0, 0.0, math.sin(0.5 * heading), math.cos(0.5 * heading))
        kept = self._filter.position[2], self._filter.velocity[2]
        self._filter.reset(product(turn, attitude), _ALIGNED_SIGMA, sigma)
        # The filter may have left the pad already, without inertial sensor.
        self._filter.position[2], self._filter.velocity[2] = kept
        self._filter.inflate(POSITION + 2, kept[0] ** 2)
        self._filter.inflate(VELOCITY + 2, kept[1] ** 2)
        self._filter.gyro_bias[:] = mean[:3]
        self.is_aligned = True

    def _correct(self, mean: list[float], variance: list[float], stage: Stage) -> None:
        """Fuse rest: the velocity, the mean rate with its variance, and on the pad the position."""
        state, rows, params = self._filter, self._rows, self._params
        gate = params.gate**2
        if self._estimate_moves():
            # The vehicle moves: a force of 1 g may be that of a parachute.
            return
        for i in range(3):
            state.correct(rows[VELOCITY + i], -state.velocity[i], _REST_SPEED**2)
            if stage is Stage.PAD:
                state.correct(rows[POSITION + i], -state.position[i], _REST_POSITION**2, gate)
            noise = variance[i] + _REST_RATE**2
            state.correct(rows[GYRO_BIAS + i], mean[i] - state.gyro_bias[i], noise)

    def _make_level(self, mean: list[float], noise: float) -> None:
        """Fuse the mean force as 1 g upward, with a noise variance [m^2/s^4]."""
        state = self._filter
        for i in range(3):
            force = [m - b for m, b in zip(mean[3:], state.force_bias, strict=True)]
            up = rotate(state.attitude, (force[0], force[1], force[2]))
            residual = (-up[0], -up[1], STANDARD_GRAVITY - up[2])[i]
            state.correct(self._level_row(i), residual, noise, self._params.gate**2)

    def _level_row(self, i: int) -> FloatArray:
        """Return the derivative of the force east, north or up (i) by the errors, shape (18,)."""
        row = np.zeros(SIZE)
        if i == 0:
            row[ATTITUDE + 1] = STANDARD_GRAVITY
        elif i == 1:
            row[ATTITUDE] = -STANDARD_GRAVITY
        row[FORCE_BIAS:FORCE_BIAS + 3] = -np.array(rows_of(self._filter.attitude)[i])
        return row


def mean_without_spikes(readings: Collection[float]) -> float:
    """Return the mean of the readings not far from their median; NaN if there are none.

    A nearer reading than `AWAY` is never far: a coarse barometer has such steps.
    """
    if not readings:
        return math.nan
    if max(readings) - min(readings) > AWAY:
        median = _median(readings)
        spread = _median([abs(reading - median) for reading in readings])
        limit = max(_FAR * spread, AWAY)
        readings = [reading for reading in readings if abs(reading - median) <= limit]
    return math.fsum(readings) / len(readings)


def _median(values: Collection[float]) -> float:
    return sorted(values)[len(values) // 2]


class PadReference:
    """Converts altitudes above any datum to altitudes above the pad.

    While it is open, the pad is the mean of the last 100 readings without spikes; when it is
    closed, the pad stays. A pad whose altitude is known is not measured.

    Parameters
    ----------
    known : float
        Altitude of the pad above the datum [m]; NaN if it must be measured.
    """

    def __init__(self, known: float = math.nan) -> None:
        self._known = known
        self.reset()

    def reset(self) -> None:
        """Forget the measured and the set altitude of the pad, and open the reference."""
        self._set = math.nan
        self._readings: deque[float] = deque(maxlen=READINGS)
        self._mean = math.nan
        self.is_open = True

    @property
    def altitude(self) -> float:
        """Altitude of the pad above the datum [m]; NaN before the first reading."""
        if math.isfinite(self._set):
            return self._set
        return self._known if math.isfinite(self._known) else self._mean

    def set_here(self) -> None:
        """Set the pad to the median of the last readings; it is not measured any more."""
        recent = list(self._readings)[-_RECENT:]
        if recent:
            self.set(_median(recent))

    def set(self, altitude: float) -> None:
        """Set the pad to an altitude above the datum [m]; it is not measured any more."""
        self._set = altitude

    def above_pad(self, altitude: float) -> float:
        """Take a reading [m], and return its altitude above the pad; NaN if it is not finite."""
        if not math.isfinite(altitude):
            return math.nan
        if self.is_open or not self._readings:
            self._readings.append(altitude)
            self._mean = mean_without_spikes(self._readings)
        return altitude - self.altitude


class MagneticAid:
    """Corrects the attitude by the magnetic field.

    The field lies in the vertical plane through magnetic north, so its component across that plane
    is fused as 0. The dip is not used: on the pad it can be measured no better than the attitude.

    Parameters
    ----------
    params : EstimatorParams
        Noise and gate.
    filter_ : ErrorStateFilter
        The filter that is corrected.

    Attributes
    ----------
    monitor : SensorMonitor
        Health of the magnetometer.
    direction : tuple of float or None
        Mean direction of the field on the pad, in body axes; None before the first field.
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
        """Forget the mean of the field."""
        self._disturbed = 0  # disturbed fields in a row
        self.direction: Vector | None = None
        self._strength = math.nan  # mean strength on the pad, or that of the first field [T]
        self._fields = 0  # number of fields in the next two means
        self._north = self._up = 0.0  # components toward magnetic north and up, of 1

    def check(self, stamp_ns: int, tesla: tuple[float, ...]) -> Status:
        """Return OK if a field in the axes of the sensor may be used, else why it is refused."""
        status = self.monitor.arrive(stamp_ns, tesla)
        if status is Status.OK and not math.hypot(*tesla) > 0.0:
            self.monitor.refuse(Status.RANGE)
            return Status.RANGE
        return status

    def learn(self, stamp_ns: int, tesla: Vector, *, is_aligned: bool) -> None:
        """Take a field on the pad at rest, in body axes; fuse it if the attitude is aligned."""
        strength = math.hypot(*tesla)
        if self._is_disturbed(strength):
            self._disturbed += 1
            self.monitor.refuse(Status.RANGE)
            if self._disturbed > _FIELDS:
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
        """Return whether a strength is far from the known one [T]; never before one is known."""
        return abs(strength - self._strength) > _DISTURBED * self._strength

    def fuse(self, stamp_ns: int, tesla: Vector) -> None:
        """Correct the attitude by a field in body axes, for which `check` returned OK."""
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
        # Means, as a row with the noise of this field would seem to show the tilt.
        self._fields = min(self._fields + 1, _FIELDS)
        self._north += (east * sine + north * cosine - self._north) / self._fields
        self._up += (up - self._up) / self._fields
        self._row[ATTITUDE:ATTITUDE + 3] = self._up * sine, self._up * cosine, -self._north
        variance = self._params.magnetometer_noise**2
        across = east * cosine - north * sine
        if self._filter.correct(self._row, -across, variance, self._gate) > self._gate:
            self.monitor.refuse(Status.INNOVATION)
            return
        self._fused_ns = stamp_ns
        self.monitor.use(stamp_ns)
