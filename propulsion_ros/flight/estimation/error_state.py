# SPDX-License-Identifier: Apache-2.0
"""Error-state Kalman filter of attitude, velocity, position and the biases of the sensors.

The nominal state is integrated from angular rate and specific force. Its error is 18 small
numbers, which a Kalman filter estimates with their covariance (Sola 2017, Quaternion kinematics
for the error-state Kalman filter, with the attitude error in the world's axes).
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

SIZE = 18
POSITION, VELOCITY, ATTITUDE, GYRO_BIAS, FORCE_BIAS = 0, 3, 6, 9, 12
ALTITUDE_BIAS, PORT, SCALE = 15, 16, 17
_LARGEST_ANGLE = math.pi  # an attitude error has no larger sigma [rad]
_LARGEST = 1e12  # variance beyond which the state counts as unknown
_CLEARLY = 4.0  # times the assumed variance: what is measured of a few readings scatters
_DIAGONAL = SIZE + 1
# Where the transition differs from the identity, as flat indices of the matrix.
_BLOCKS = [
    *(SIZE * (VELOCITY + i) + ATTITUDE + j for i in range(3) for j in range(3) if i != j),
    *(SIZE * (VELOCITY + i) + FORCE_BIAS + j for i in range(3) for j in range(3)),
    *(SIZE * (ATTITUDE + i) + GYRO_BIAS + j for i in range(3) for j in range(3)),
    *(SIZE * (POSITION + i) + VELOCITY + i for i in range(3)),
    SIZE * (POSITION + 2) + SCALE,
    _DIAGONAL * PORT,
]


class ErrorStateFilter:
    """Nominal state, the covariance of its error, and the steps of both.

    The error is (position, velocity, attitude, gyro bias, accelerometer bias, altitude bias,
    static-port coefficient, altitude scale), in this order. The last three are one number each, the
    others three. The attitude error is a rotation about east, north, up.

    Parameters
    ----------
    params : EstimatorParams
        Noise densities.

    Attributes
    ----------
    position, velocity : list of float
        East, north, up [m], [m/s]; up is the altitude of the standard atmosphere, as a
        barometer reads it, while the velocity is that of the body.
    attitude : tuple of float
        Quaternion x, y, z, w, body to world.
    gyro_bias, force_bias : list of float
        In body axes [rad/s], [m/s^2].
    altitude_bias : float
        Measured minus true altitude of the barometer at rest [m].
    port : float
        Error of the static ports over the dynamic pressure.
    scale : float
        Change of pressure altitude over change of height, minus 1. It is negative in air that is
        warmer than the standard atmosphere.
    acceleration : tuple of float
        Of the last step, net of gravity, in the world [m/s^2].
    covariance : FloatArray
        Of the error, shape (18, 18).
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
        self._noise[PORT] = 2.0 * params.static_port_error**2 / params.static_port_time
        self.covariance = np.zeros((SIZE, SIZE))
        self._diagonal = self.covariance.reshape(-1)[::_DIAGONAL]
        self.reset((0.0, 0.0, 0.0, 1.0), math.pi, math.pi)

    def reset(self, attitude: Quaternion, level_sigma: float, heading_sigma: float) -> None:
        """Set the state to rest on the pad, with an attitude of these sigmas [rad]."""
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
            *(0.01,) * 3, *(0.01,) * 3, level_sigma**2, level_sigma**2, heading_sigma**2,
            *(params.gyro_bias_sigma**2,) * 3, *(params.accelerometer_bias_sigma**2,) * 3,
            params.altitude_bias_sigma**2, params.static_port_error**2,
            params.altitude_scale_sigma**2,
        ]

    def clone(self) -> ErrorStateFilter:
        """Return an independent copy."""
        other = ErrorStateFilter(self._params)
        for name in ('position', 'velocity', 'gyro_bias', 'force_bias'):
            setattr(other, name, list(getattr(self, name)))
        for name in ('attitude', 'altitude_bias', 'port', 'scale', 'acceleration', '_gravity'):
            setattr(other, name, getattr(self, name))
        other.covariance[:] = self.covariance
        return other

    def variance(self, index: int) -> float:
        """Return one variance of the error."""
        return float(self._diagonal[index])

    def predict(
        self, dt: float, rate: Vector, force: Vector, *, force_variance: float = math.nan,
        rests: bool = False, tumbles: bool = False,
    ) -> None:
        """Integrate one interval.

        Parameters
        ----------
        dt : float
            Length of the interval [s].
        rate, force : tuple of float
            Means over the interval of angular rate and specific force, in body axes, as
            measured [rad/s], [m/s^2].
        force_variance : float
            Of a reading of the force on an axis, by noise that was measured [m^2/s^4]; NaN where
            it was not.
        rests : bool
            Whether the vehicle is at rest, so that the force is known to be 1 g upward. With the
            measured force, its error would be taken for information on the heading.
        tumbles : bool
            Whether the vehicle may tumble, which the inertial sensor does not measure exactly.
        """
        bx, by, bz = self.gyro_bias
        p, q, r = rate[0] - bx, rate[1] - by, rate[2] - bz
        bx, by, bz = self.force_bias
        fx, fy, fz = force[0] - bx, force[1] - by, force[2] - bz
        # The force turns with the body: the mean over the interval acts at its middle.
        middle = _turned(self.attitude, p, q, r, 0.5 * dt)
        (r00, r01, r02), (r10, r11, r12), (r20, r21, r22) = rows_of(middle)
        east = r00 * fx + r01 * fy + r02 * fz
        north = r10 * fx + r11 * fy + r12 * fz
        up = r20 * fx + r21 * fy + r22 * fz
        self.attitude = _turned(middle, p, q, r, 0.5 * dt)
        self._move(dt, (east, north, up - self._gravity))
        if rests:
            east, north, up = 0.0, 0.0, self._gravity
        east, north, up = east * dt, north * dt, up * dt
        self._flat[self._blocks] = (
            up, -north, -up, east, north, -east,
            -r00 * dt, -r01 * dt, -r02 * dt, -r10 * dt, -r11 * dt, -r12 * dt,
            -r20 * dt, -r21 * dt, -r22 * dt,
            -r00 * dt, -r01 * dt, -r02 * dt, -r10 * dt, -r11 * dt, -r12 * dt,
            -r20 * dt, -r21 * dt, -r22 * dt,
            *self._climb(dt), self._decay(dt),
        )
        force2 = self._force_density + self._force_ratio * (fx * fx + fy * fy + fz * fz)
        force2 = at_least(force2, force_variance * dt)
        rate2 = self._gyro_density + self._gyro_ratio * (p * p + q * q + r * r)
        if tumbles:
            force2 += self._params.descent_force_noise**2
            rate2 += self._params.descent_rate_noise**2
        self._spread(dt, force2, rate2)
        if tumbles:
            self._bound_angles()

    def drift(
        self,
        dt: float,
        acceleration: Vector,
        force_density: float,
        rate_density: float,
    ) -> None:
        """Advance the state over an interval without inertial sensor.

        Parameters
        ----------
        dt : float
            Length of the interval [s].
        acceleration : tuple of float
            Assumed, net of gravity, in the world [m/s^2].
        force_density, rate_density : float
            Noise densities of that assumption [(m/s^2)^2/Hz], [(rad/s)^2/Hz].
        """
        self._move(dt, acceleration)
        self._flat[self._blocks] = 0.0
        self._flat[self._blocks[-5:]] = (*self._climb(dt), self._decay(dt))
        self._spread(dt, force_density, rate_density)
        self._bound_angles()

    def _bound_angles(self) -> None:
        """Limit the sigma of the attitude to half a turn, beyond which it is unknown."""
        largest = max(self._diagonal[ATTITUDE:GYRO_BIAS].tolist())
        if largest > _LARGEST_ANGLE**2:
            factor = _LARGEST_ANGLE / math.sqrt(largest)
            self.covariance[ATTITUDE:GYRO_BIAS, :] *= factor
            self.covariance[:, ATTITUDE:GYRO_BIAS] *= factor

    def _climb(self, dt: float) -> tuple[float, float, float, float]:
        """Return the derivatives of the moved position by the velocities and the scale."""
        return dt, dt, (1.0 + self.scale) * dt, self.velocity[2] * dt

    def _decay(self, dt: float) -> float:
        """Reduce the error of the static ports by its decay; return the factor."""
        factor = math.exp(-dt / self._params.static_port_time)
        self.port *= factor
        return factor

    def _move(self, dt: float, acceleration: Vector) -> None:
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

    def _spread(self, dt: float, force2: float, rate2: float) -> None:
        """Apply the transition to the covariance and add the noise of the interval."""
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
        """Fuse one scalar measurement unless its innovation is too large.

        Parameters
        ----------
        row : FloatArray
            Derivative of the measurement by the error, shape (18,).
        innovation : float
            Measured minus predicted.
        variance : float
            Of the measurement's noise.
        gate : float
            Largest normalised innovation squared that is fused.

        Returns
        -------
        float
            The normalised innovation squared: fused where it is not above the gate.
        """
        gain = self.covariance @ row
        total = float(row @ gain) + variance
        surprise = innovation * innovation / total
        if not surprise <= gate:
            return surprise
        gain *= 1.0 / math.sqrt(total)
        self.covariance -= gain[:, None] * gain
        self._inject((gain * (innovation / math.sqrt(total))).tolist())
        return surprise

    def _inject(self, error: list[float]) -> None:
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
        """Add to the variance of one error, leaving the others."""
        self._diagonal[index] += variance

    def forget(self, index: int, variance: float) -> None:
        """Set the variance of one error, and make it independent of all others."""
        self.covariance[index, :] = 0.0
        self.covariance[:, index] = 0.0
        self._diagonal[index] = variance

    def tidy(self) -> bool:
        """Make the covariance symmetric; return whether the whole state is finite and bounded."""
        covariance = self.covariance
        covariance += covariance.T
        covariance *= 0.5
        total = sum(self.position) + sum(self.velocity) + sum(self.attitude)
        total += sum(self.gyro_bias) + sum(self.force_bias)
        total += self.altitude_bias + self.port + self.scale
        return math.isfinite(total) and bool(np.max(np.abs(covariance)) < _LARGEST)


def at_least(assumed: float, measured: float) -> float:
    """Return a variance as it is assumed, or as measured where that is clearly more."""
    return measured if measured > _CLEARLY * assumed else assumed


def _turned(attitude: Quaternion, p: float, q: float, r: float, dt: float) -> Quaternion:
    """Return an attitude after turning at a rate in body axes, exactly for a constant rate."""
    return unit(product(attitude, of_vector(p * dt, q * dt, r * dt)))
