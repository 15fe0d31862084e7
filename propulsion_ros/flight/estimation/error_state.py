# SPDX-License-Identifier: Apache-2.0
"""Error-state Kalman filter of attitude, velocity, position and the biases of the sensors.

The nominal state is integrated from angular rate and specific force. A Kalman filter estimates its
error, 18 small numbers, and their covariance (Sola 2017, Quaternion kinematics for the error-state
Kalman filter, with the attitude error in the axes of the world: east, north, up).
"""
from __future__ import annotations

import math

import numpy as np

from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.models.common.atmosphere import EARTH_RADIUS, STANDARD_GRAVITY
from propulsion_ros.models.common.rotation import (
    Quaternion,
    Vector,
    of_vector,
    product,
    rows_of,
    unit,
)
from propulsion_ros.settings.quantity import FloatArray

SIZE = 18  # number of errors
POSITION, VELOCITY, ATTITUDE, GYRO_BIAS, FORCE_BIAS = 0, 3, 6, 9, 12  # first index of three errors
ALTITUDE_BIAS, PORT, SCALE = 15, 16, 17  # index of one error
_LARGEST_ANGLE = math.pi  # largest sigma of the attitude error: half a turn is unknown [rad]
_LARGEST = 1e12  # with a larger covariance, in the units of the errors, the state is useless
_CLEARLY = 4.0  # least ratio of a measured variance to the assumed one: few readings scatter
_DIAGONAL = SIZE + 1  # distance of the diagonal elements of a flat matrix
# Flat indices of the elements in which the transition matrix differs from the identity.
_BLOCKS = [
    *(SIZE * (VELOCITY + i) + ATTITUDE + j for i in range(3) for j in range(3) if i != j),
    *(SIZE * (VELOCITY + i) + FORCE_BIAS + j for i in range(3) for j in range(3)),
    *(SIZE * (ATTITUDE + i) + GYRO_BIAS + j for i in range(3) for j in range(3)),
    *(SIZE * (POSITION + i) + VELOCITY + i for i in range(3)),
    SIZE * (POSITION + 2) + SCALE,
    _DIAGONAL * PORT,
]


class ErrorStateFilter:
    """Predicts and corrects the nominal state and the covariance of its error.

    The errors are those of position, velocity, attitude, gyroscope bias, accelerometer bias (three
    numbers each), altitude bias, static-port coefficient and altitude scale (one number each), in
    this order. The attitude error is a rotation about east, north, up.

    Parameters
    ----------
    params : EstimatorParams
        Noise of the sensors.

    Attributes
    ----------
    position, velocity : list of float
        East, north, up from the pad [m], [m/s]. The position up is that of the standard
        atmosphere, as a barometer measures it; the velocity up is true.
    attitude : tuple of float
        Unit quaternion x, y, z, w that rotates from body axes to east, north, up.
    gyro_bias, force_bias : list of float
        Bias of gyroscope and accelerometer in body axes [rad/s], [m/s^2].
    altitude_bias : float
        Measured less true altitude of the barometer at rest [m].
    port : float
        Error of the static pressure over the dynamic pressure.
    scale : float
        Change of the pressure altitude over that of the true height, less 1; negative in air that
        is warmer than the standard atmosphere.
    acceleration : tuple of float
        East, north, up, net of gravity, in the last step [m/s^2].
    covariance : FloatArray
        Covariance of the errors, shape (18, 18).
    """

    def __init__(self, params: EstimatorParams) -> None:
        self._params = params
        self._gyro_density = params.gyro_noise**2
        self._force_density = params.accelerometer_noise**2
        self._gyro_ratio = params.gyro_scale**2
        self._force_ratio = params.accelerometer_scale**2
        self._transition = np.eye(SIZE)
        self._flat = self._transition.reshape(-1)
        self._blocks = np.array(_BLOCKS)
        self._work = np.empty((SIZE, SIZE))
        self._noise = np.zeros(SIZE)
        self._noise[GYRO_BIAS:FORCE_BIAS] = params.gyro_bias_walk**2
        self._noise[FORCE_BIAS:ALTITUDE_BIAS] = params.accelerometer_bias_walk**2
        self._noise[ALTITUDE_BIAS] = params.altitude_bias_walk**2
        self._noise[PORT] = params.static_port_density
        self.covariance = np.zeros((SIZE, SIZE))
        self._diagonal = self.covariance.reshape(-1)[::_DIAGONAL]
        self.reset((0.0, 0.0, 0.0, 1.0), math.pi, math.pi)

    def reset(self, attitude: Quaternion, level_sigma: float, heading_sigma: float) -> None:
        """Set the state to rest on the pad, with an attitude and the sigmas of its error [rad]."""
        params = self._params
        self.position = [0.0, 0.0, 0.0]
        self.velocity = [0.0, 0.0, 0.0]
        self.attitude = attitude
        self.gyro_bias = [0.0, 0.0, 0.0]
        self.force_bias = [0.0, 0.0, 0.0]
        self.altitude_bias = 0.0
        self.port = 0.0
        self.scale = 0.0
        self.acceleration: Vector = (0.0, 0.0, 0.0)
        self._gravity = STANDARD_GRAVITY
        self.covariance[:] = 0.0
        self._diagonal[:] = [
            *(0.01,) * 6, level_sigma**2, level_sigma**2, heading_sigma**2,
            *(params.gyro_bias_sigma**2,) * 3, *(params.accelerometer_bias_sigma**2,) * 3,
            params.altitude_bias_sigma**2, params.static_port_error**2,
            params.altitude_scale_sigma**2,
        ]

    def clone(self) -> ErrorStateFilter:
        """Return a copy that shares nothing with this filter."""
        other = ErrorStateFilter(self._params)
        for name in ('position', 'velocity', 'gyro_bias', 'force_bias'):
            setattr(other, name, list(getattr(self, name)))
        for name in ('attitude', 'altitude_bias', 'port', 'scale', 'acceleration', '_gravity'):
            setattr(other, name, getattr(self, name))
        other.covariance[:] = self.covariance
        return other

    def variance(self, index: int) -> float:
        """Return the variance of one error, in its squared unit."""
        return float(self._diagonal[index])

    def predict(
        self, dt: float, rate: Vector, force: Vector, *, force_variance: float = math.nan,
        rests: bool = False, tumbles: bool = False,
    ) -> None:
        """Predict over an interval by the inertial sensor.

        Parameters
        ----------
        dt : float
            Length of the interval [s].
        rate, force : tuple of float
            Mean angular rate and specific force over the interval, as measured, in body axes
            [rad/s], [m/s^2].
        force_variance : float
            Measured noise variance of a force reading on one axis [m^2/s^4]; NaN if not measured.
        rests : bool
            Whether the vehicle is at rest. The covariance is then predicted with a force of exactly
            1 g upward, as errors of the measured force would seem to show the heading.
        tumbles : bool
            Whether the vehicle may tumble, which adds to the noise of the inertial sensor.
        """
        bx, by, bz = self.gyro_bias
        p, q, r = rate[0] - bx, rate[1] - by, rate[2] - bz
        bx, by, bz = self.force_bias
        fx, fy, fz = force[0] - bx, force[1] - by, force[2] - bz
        # The force turns with the body: its mean acts in the attitude at half of the interval.
        middle = _turned(self.attitude, p, q, r, 0.5 * dt)
        (r00, r01, r02), (r10, r11, r12), (r20, r21, r22) = rows_of(middle)
        east = r00 * fx + r01 * fy + r02 * fz
        north = r10 * fx + r11 * fy + r12 * fz
        up = r20 * fx + r21 * fy + r22 * fz
        self.attitude = _turned(middle, p, q, r, 0.5 * dt)
        self._move_place(dt, (east, north, up - self._gravity))
        if rests:
            east, north, up = 0.0, 0.0, self._gravity
        east, north, up = east * dt, north * dt, up * dt
        self._flat[self._blocks] = (
            up, -north, -up, east, north, -east,
            -r00 * dt, -r01 * dt, -r02 * dt, -r10 * dt, -r11 * dt, -r12 * dt,
            -r20 * dt, -r21 * dt, -r22 * dt,
            -r00 * dt, -r01 * dt, -r02 * dt, -r10 * dt, -r11 * dt, -r12 * dt,
            -r20 * dt, -r21 * dt, -r22 * dt,
            *self._position_derivatives(dt), self._decay_port(dt),
        )
        force2 = self._force_density + self._force_ratio * (fx * fx + fy * fy + fz * fz)
        force2 = at_least(force2, force_variance * dt)
        rate2 = self._gyro_density + self._gyro_ratio * (p * p + q * q + r * r)
        if tumbles:
            force2 += self._params.descent_force_noise**2
            rate2 += self._params.descent_rate_noise**2
        self._predict_covariance(dt, force2, rate2)
        if tumbles:
            self._limit_attitude_sigma()

    def drift(
        self, dt: float, acceleration: Vector, force_density: float, rate_density: float,
    ) -> None:
        """Predict over an interval without inertial sensor, with a constant attitude.

        Parameters
        ----------
        dt : float
            Length of the interval [s].
        acceleration : tuple of float
            Assumed acceleration east, north, up, net of gravity [m/s^2].
        force_density, rate_density : float
            Squared noise densities of the assumed motion [(m/s^2)^2/Hz], [(rad/s)^2/Hz].
        """
        self._move_place(dt, acceleration)
        self._flat[self._blocks] = 0.0
        self._flat[self._blocks[-5:]] = (*self._position_derivatives(dt), self._decay_port(dt))
        self._predict_covariance(dt, force_density, rate_density)
        self._limit_attitude_sigma()

    def _limit_attitude_sigma(self) -> None:
        """Limit the sigma of the attitude error to half a turn."""
        largest = max(self._diagonal[ATTITUDE:GYRO_BIAS].tolist())
        if largest > _LARGEST_ANGLE**2:
            factor = _LARGEST_ANGLE / math.sqrt(largest)
            self.covariance[ATTITUDE:GYRO_BIAS, :] *= factor
            self.covariance[:, ATTITUDE:GYRO_BIAS] *= factor

    def _position_derivatives(self, dt: float) -> tuple[float, float, float, float]:
        """Return the derivatives of the position by the velocities and the scale after a step."""
        return dt, dt, (1.0 + self.scale) * dt, self.velocity[2] * dt

    def _decay_port(self, dt: float) -> float:
        """Let the static-port coefficient decay over a step; return the factor."""
        factor = math.exp(-dt / self._params.static_port_time)
        self.port *= factor
        return factor

    def _move_place(self, dt: float, acceleration: Vector) -> None:
        """Integrate position and velocity over a step, and set gravity by the height."""
        ax, ay, az = acceleration
        position, velocity = self.position, self.velocity
        half = 0.5 * dt
        vx, vy, vz = velocity
        velocity[0], velocity[1], velocity[2] = vx + ax * dt, vy + ay * dt, vz + az * dt
        position[0] += dt * (vx + half * ax)
        position[1] += dt * (vy + half * ay)
        position[2] += dt * (vz + half * az) * (1.0 + self.scale)
        self.acceleration = acceleration
        self._gravity = STANDARD_GRAVITY * (1.0 - 2.0 * position[2] / EARTH_RADIUS)

    def _predict_covariance(self, dt: float, force2: float, rate2: float) -> None:
        """Predict the covariance, with squared noise densities of force and rate of turn."""
        covariance = self.covariance
        np.matmul(self._transition, covariance, out=self._work)
        np.matmul(self._work, self._transition.T, out=covariance)
        noise = self._noise
        noise[VELOCITY:ATTITUDE] = force2
        noise[ATTITUDE:GYRO_BIAS] = rate2
        self._diagonal += noise * dt

    def correct(
        self, row: FloatArray, innovation: float, variance: float, gate: float = math.inf
    ) -> float:
        """Fuse a scalar measurement, unless its innovation is too large.

        Parameters
        ----------
        row : FloatArray
            Derivative of the measurement by the errors, shape (18,).
        innovation : float
            Measured less predicted value, in the unit of the measurement.
        variance : float
            Noise variance of the measurement, in its squared unit.
        gate : float
            Largest normalised innovation squared that is fused.

        Returns
        -------
        float
            The normalised innovation squared; the measurement is fused unless this is above the
            gate.
        """
        gain = self.covariance @ row
        total = float(row @ gain) + variance
        surprise = innovation * innovation / total
        if not surprise <= gate:
            return surprise
        gain *= 1.0 / math.sqrt(total)
        self.covariance -= gain[:, None] * gain
        self._add_errors((gain * (innovation / math.sqrt(total))).tolist())
        return surprise

    def _add_errors(self, error: list[float]) -> None:
        """Add the estimated errors to the nominal state."""
        position, velocity = self.position, self.velocity
        gyro_bias, force_bias = self.gyro_bias, self.force_bias
        position[0] += error[0]
        position[1] += error[1]
        position[2] += error[2]
        velocity[0] += error[3]
        velocity[1] += error[4]
        velocity[2] += error[5]
        gyro_bias[0] += error[9]
        gyro_bias[1] += error[10]
        gyro_bias[2] += error[11]
        force_bias[0] += error[12]
        force_bias[1] += error[13]
        force_bias[2] += error[14]
        self.altitude_bias += error[15]
        self.port += error[16]
        self.scale += error[17]
        a, b, c = error[6], error[7], error[8]
        if a or b or c:
            self.attitude = unit(product(of_vector(a, b, c), self.attitude))

    def inflate(self, index: int, variance: float) -> None:
        """Add to the variance of one error."""
        self._diagonal[index] += variance

    def forget(self, index: int, variance: float) -> None:
        """Set the variance of one error, and its covariances with the others to 0."""
        self.covariance[index, :] = 0.0
        self.covariance[:, index] = 0.0
        self._diagonal[index] = variance

    def tidy(self) -> bool:
        """Make the covariance symmetric; return whether it is bounded and the state is finite."""
        covariance = self.covariance
        covariance += covariance.T
        covariance *= 0.5
        total = sum(self.position) + sum(self.velocity) + sum(self.attitude)
        total += sum(self.gyro_bias) + sum(self.force_bias)
        total += self.altitude_bias + self.port + self.scale
        return math.isfinite(total) and bool(np.max(np.abs(covariance)) < _LARGEST)


def at_least(assumed: float, measured: float) -> float:
    """Return the assumed variance, or the measured one if that is clearly larger."""
    return measured if measured > _CLEARLY * assumed else assumed


def _turned(attitude: Quaternion, p: float, q: float, r: float, dt: float) -> Quaternion:
    """Return an attitude after a turn at a constant rate p, q, r in body axes [rad/s]."""
    return unit(product(attitude, of_vector(p * dt, q * dt, r * dt)))
