# SPDX-License-Identifier: Apache-2.0
"""The estimator of Pickle Rick, as flown: its filters, what feeds them, and what it reports.

Attitude is that of Madgwick, gradient descent on the directions of gravity and north: S. Madgwick,
An efficient orientation filter for inertial and inertial/magnetic sensor arrays, 2010.
"""
from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from propulsion_ros.flight.estimation.gnss_aid import FLATTENING, SEMI_MAJOR_AXIS
from propulsion_ros.models.common.rotation import Quaternion, Vector
from propulsion_ros.settings.quantity import FloatArray

_REFERENCE = 0.5  # length of the reference field
_AXES = 3
_SIZE = 9
_PROCESS = 0.1
_ACCELEROMETER, _HIGH_RANGE = 0.00981, 0.0981  # variances [(m/s^2)^2]
_BAROMETER = 0.5  # [m^2]
_PLACE, _HEIGHT, _SPEED = 0.2, 0.1, 0.00557  # of fixes [m^2], [m^2], [(m/s)^2]
_MILLI = 1e-3


class Madgwick:
    """Attitude in north-east-down axes, from angular rate, specific force and magnetic field.

    The attitude is a quaternion w, x, y, z that turns body axes into the world's. At rest and
    level the specific force reads (0, 0, -1) in any unit. A sample with NaN or infinity is not
    taken; a zero force leaves the gyroscope alone, a zero field leaves the magnetometer out.

    It computes as the flown copy of the widespread library does: one Newton step for each inverse
    square root, so that the norm is off by up to 0.1 %, and a reference field of half the length.

    Parameters
    ----------
    beta : float
        Rate of the correction [rad/s]; it may be changed at any time, 0 freezes it.

    Attributes
    ----------
    beta : float
        [rad/s].
    attitude : tuple of float
        Quaternion w, x, y, z.
    """

    def __init__(self, beta: float) -> None:
        self.beta = beta
        self.attitude: Quaternion = (1.0, 0.0, 0.0, 0.0)

    def update(
        self, dt: float, rate: Vector, force: Vector, field: Vector = (0.0, 0.0, 0.0)
    ) -> None:
        """Advance by one sample.

        Parameters
        ----------
        dt : float
            Since the last sample [s].
        rate : tuple of float
            Angular rate in body axes [rad/s].
        force, field : tuple of float
            Specific force and magnetic field in body axes, any unit.
        """
        if not math.isfinite(dt + sum(rate) + sum(force) + sum(field)):
            return
        q0, q1, q2, q3 = self.attitude
        p, q, r = rate
        change = [
            0.5 * (-q1 * p - q2 * q - q3 * r), 0.5 * (q0 * p + q2 * r - q3 * q),
            0.5 * (q0 * q - q1 * r + q3 * p), 0.5 * (q0 * r + q1 * q - q2 * p),
        ]
        if self.beta and any(force):
            gradient = self._gradient(force, field)
            scale = _inverse_root(sum(value * value for value in gradient))
            change = [
                rate - self.beta * scale * step
                for rate, step in zip(change, gradient, strict=True)
            ]
        moved = [value + step * dt for value, step in zip(self.attitude, change, strict=True)]
        scale = _inverse_root(sum(value * value for value in moved))
        w, x, y, z = (value * scale for value in moved)
        if math.isfinite(w + x + y + z):
            self.attitude = (w, x, y, z)

    def _gradient(self, force: Vector, field: Vector) -> list[float]:
        """Return the gradient of the squared error of both directions by the quaternion."""
        q0, q1, q2, q3 = self.attitude
        scale = _inverse_root(sum(value * value for value in force))
        # Where gravity points in the body less where the force says that it does.
        f1 = 2.0 * (q1 * q3 - q0 * q2) + force[0] * scale
        f2 = 2.0 * (q0 * q1 + q2 * q3) + force[1] * scale
        f3 = 1.0 - 2.0 * (q1 * q1 + q2 * q2) + force[2] * scale
        gradient = [
            2.0 * (q1 * f2 - q2 * f1),
            2.0 * (q3 * f1 + q0 * f2) - 4.0 * q1 * f3,
            2.0 * (q3 * f2 - q0 * f1) - 4.0 * q2 * f3,
            2.0 * (q1 * f1 + q2 * f2),
        ]
        if not any(field):
            return gradient
        scale = _inverse_root(sum(value * value for value in field))
        m1, m2, m3 = (value * scale for value in field)
        hx, hy, hz = _rotated(self.attitude, (m1, m2, m3))
        bx = _REFERENCE * math.hypot(hx, hy)
        bz = _REFERENCE * hz
        e1 = 2.0 * (bx * (0.5 - q2 * q2 - q3 * q3) + bz * (q1 * q3 - q0 * q2)) - m1
        e2 = 2.0 * (bx * (q1 * q2 - q0 * q3) + bz * (q0 * q1 + q2 * q3)) - m2
        e3 = 2.0 * (bx * (q0 * q2 + q1 * q3) + bz * (0.5 - q1 * q1 - q2 * q2)) - m3
        pulls = (
            -bz * q2 * e1 + (bz * q1 - bx * q3) * e2 + bx * q2 * e3,
            bz * q3 * e1 + (bx * q2 + bz * q0) * e2 + (bx * q3 - 2.0 * bz * q1) * e3,
            -(2.0 * bx * q2 + bz * q0) * e1 + (bx * q1 + bz * q3) * e2
            + (bx * q0 - 2.0 * bz * q2) * e3,
            (bz * q1 - 2.0 * bx * q3) * e1 + (bz * q2 - bx * q0) * e2 + bx * q1 * e3,
        )
        weight = 2.0
        return [value + weight * pull for value, pull in zip(gradient, pulls, strict=True)]


def _rotated(attitude: Quaternion, vector: Vector) -> Vector:
    """Return a vector of the body in the world, without assuming a unit quaternion."""
    q0, q1, q2, q3 = attitude
    a, b, c = vector
    return (
        a * (q0 * q0 + q1 * q1 - q2 * q2 - q3 * q3) + 2.0 * b * (q1 * q2 - q0 * q3)
        + 2.0 * c * (q0 * q2 + q1 * q3),
        2.0 * a * (q0 * q3 + q1 * q2) + b * (q0 * q0 - q1 * q1 + q2 * q2 - q3 * q3)
        + 2.0 * c * (q2 * q3 - q0 * q1),
        2.0 * a * (q1 * q3 - q0 * q2) + 2.0 * b * (q0 * q1 + q2 * q3)
        + c * (q0 * q0 - q1 * q1 - q2 * q2 + q3 * q3),
    )


def _inverse_root(value: float) -> float:
    """Return the inverse square root by one Newton step from the bits of a 32-bit float."""
    (bits,) = struct.unpack('<i', struct.pack('<f', value))
    (guess,) = struct.unpack('<f', struct.pack('<i', 0x5F1F1412 - (bits >> 1)))
    root: float = guess * (1.69000231 - 0.714158168 * value * guess * guess)
    return root


class LegacyLocalization:
    """A linear Kalman filter of position, velocity and acceleration, north east down.

    Kept as flown, faults included, to compare with: the process noise of a step does not depend
    on its length and is no covariance, nothing is gated, a NaN stays, and positions of fixes are
    differences of 32-bit coordinates of half a metre.

    Attributes
    ----------
    state : FloatArray
        Position, velocity, acceleration of north, then east, then down, shape (9,).
    covariance : FloatArray
        Shape (9, 9).
    """

    def __init__(self) -> None:
        self.state = np.zeros(_SIZE)
        self.covariance = np.eye(_SIZE)
        self._reference: tuple[float, float, float] | None = None

    @property
    def position(self) -> Vector:
        """North, east, down [m]."""
        return self._triple(0)

    @property
    def velocity(self) -> Vector:
        """North, east, down [m/s]."""
        return self._triple(1)

    @property
    def acceleration(self) -> Vector:
        """North, east, down [m/s^2]."""
        return self._triple(2)

    def set_reference(self, latitude: float, longitude: float, altitude: float) -> None:
        """Take the origin: degrees, and millimetres as the receiver gives them."""
        self._reference = latitude, longitude, altitude

    def predict(self, dt: float) -> None:
        """Move on by a time [s]."""
        block = np.array([[1.0, dt, 0.5 * dt * dt], [0.0, 1.0, dt], [0.0, 0.0, 1.0]])
        noise = _PROCESS * np.array(
            [[0.0, dt**3 / 2.0, dt**2 / 2.0], [dt**3 / 2.0, dt**2, dt], [dt**2 / 2.0, dt, 1.0]]
        )
        transition = np.kron(np.eye(_AXES), block)
        self.state = transition @ self.state
        self.covariance = (
            transition @ self.covariance @ transition.T + np.kron(np.eye(_AXES), noise)
        )

    def barometer(self, altitude: float) -> None:
        """Fuse an altitude above the origin [m]."""
        row = np.zeros((1, _SIZE))
        row[0, 6] = -1.0
        self._fuse(row, np.array([altitude]), np.array([_BAROMETER]))

    def accelerometer(self, acceleration: Vector, *, high_range: bool = False) -> None:
        """Fuse an acceleration net of gravity, north east down [m/s^2]."""
        variance = _HIGH_RANGE if high_range else _ACCELEROMETER
        self._fuse(np.eye(_SIZE)[2::3], np.array(acceleration), np.full(_AXES, variance))

    def fix(
        self, latitude: float, longitude: float, altitude: float, velocity: Vector
    ) -> None:
        """Fuse a fix: degrees, millimetres, and millimetres a second north east down."""
        place = self.to_ned(latitude, longitude, altitude)
        rows = np.eye(_SIZE)[[0, 1, 3, 4, 6, 7]]
        speed = [value * _MILLI for value in velocity]
        measured = [value for pair in zip(place, speed, strict=True) for value in pair]
        variance = np.array([_PLACE, _SPEED, _PLACE, _SPEED, _HEIGHT, _SPEED])
        self._fuse(rows, np.array(measured), variance)

    def to_ned(self, latitude: float, longitude: float, altitude: float) -> Vector:
        """Return north, east, down of the origin [m], in the 32 bits that were flown."""
        if self._reference is None:
            return 0.0, 0.0, 0.0
        delta = _ecef(latitude, longitude, altitude) - _ecef(*self._reference)
        phi, lam = np.radians(np.float32(self._reference[0])), np.radians(
            np.float32(self._reference[1])
        )
        sin_phi, cos_phi = math.sin(phi), math.cos(phi)
        sin_lam, cos_lam = math.sin(lam), math.cos(lam)
        x, y, z = map(float, delta)
        outward = cos_lam * x + sin_lam * y
        return (
            cos_phi * z - sin_phi * outward, cos_lam * y - sin_lam * x,
            -(cos_phi * outward + sin_phi * z),
        )

    def _fuse(self, rows: FloatArray, measured: FloatArray, variance: FloatArray) -> None:
        noise = np.diag(variance)
        total = rows @ self.covariance @ rows.T + noise
        gain = self.covariance @ rows.T @ np.linalg.inv(total)
        self.state = self.state + gain @ (measured - rows @ self.state)
        rest = np.eye(_SIZE) - gain @ rows
        self.covariance = rest @ self.covariance @ rest.T + gain @ noise @ gain.T

    def _triple(self, order: int) -> Vector:
        north, east, down = self.state[order::3].tolist()
        return north, east, down


def _ecef(latitude: float, longitude: float, altitude: float) -> FloatArray:
    """Return Earth-centred coordinates rounded to 32 bits [m]; altitude in millimetres."""
    f = np.float32
    phi, lam = np.radians(f(latitude)), np.radians(f(longitude))
    squared = f(FLATTENING * (2.0 - FLATTENING))
    # Rounded from 64 bits: numpy's own 32-bit sine differs between machines.
    sine, cosine = f(math.sin(phi)), f(math.cos(phi))
    normal = f(SEMI_MAJOR_AXIS) / np.sqrt(f(1.0) - squared * sine * sine)
    height = f(altitude) * f(_MILLI)
    ring = (normal + height) * cosine
    return np.array(
        [
            ring * f(math.cos(lam)), ring * f(math.sin(lam)),
            ((f(1.0) - squared) * normal + height) * sine,
        ],
        dtype=np.float64,
    )


_SHORTEST_STEP_US = 2000
_GRAVITY = 9.81
_DEGREE = 0.0174533


class LegacyState(IntEnum):
    """States of the flown estimator, by their numbers."""

    NOMINAL = 0
    PARTIAL_NO_IMU = 1  # never entered
    PARTIAL_NO_IMU_NO_GPS = 2
    PARTIAL_NO_IMU_NO_BARO = 3
    PARTIAL_NO_MAG = 4
    PARTIAL_NO_GPS = 5
    PARTIAL_NO_GPS_NO_BARO = 6
    PARTIAL_NO_BARO = 7
    NO_HOME = 8
    NOSOLUTION = 9


@dataclass(frozen=True)
class LegacyInput:
    """What the flown sensors read in one cycle.

    Attributes
    ----------
    rate : tuple of float
        [deg/s].
    force, field : tuple of float
        [g], any unit.
    altitude : float
        Of the barometer [m].
    place : tuple of float
        Latitude [deg], longitude [deg], altitude [mm].
    speed : tuple of float
        North, east, down [mm/s].
    has_fix : bool
        Whether the receiver has a new fix.
    """

    rate: Vector
    force: Vector
    field: Vector
    altitude: float
    place: Vector = (0.0, 0.0, 0.0)
    speed: Vector = (0.0, 0.0, 0.0)
    has_fix: bool = False


class LegacyEstimator:
    """Madgwick filter and localisation filter behind the flown state machine.

    The faults are flags that set-up raises; no sensor that fails in flight is found. Kept as
    flown: without the inertial sensor alone the state is nominal and says nothing, and without
    home there is no position.

    Parameters
    ----------
    beta : float
        Correction of the Madgwick filter [rad/s].

    Attributes
    ----------
    failed : set of str
        Of 'IMU', 'GPS', 'BARO', 'MAG'.
    state : LegacyState
        As reported.
    orientation : Madgwick
        The attitude filter.
    localization : LegacyLocalization
        The filter of position and velocity.
    position, velocity, acceleration : tuple of float
        North, east, down, as reported.
    """

    def __init__(self, beta: float = 0.5) -> None:
        self.orientation = Madgwick(beta)
        self.localization = LegacyLocalization()
        self.failed: set[str] = set()
        self.state = LegacyState.NOMINAL
        self.position: Vector = (0.0, 0.0, 0.0)
        self.velocity: Vector = (0.0, 0.0, 0.0)
        self.acceleration: Vector = (0.0, 0.0, 0.0)
        self.is_oriented = False
        self._last_us = 0
        self._home_altitude: float | None = None

    @property
    def has_error(self) -> bool:
        """Flag of the estimator."""
        return self.state is not LegacyState.NOMINAL

    def set_home(self, sensors: LegacyInput) -> None:
        """Take this place as the origin."""
        self._home_altitude = sensors.altitude
        self.localization.set_reference(*sensors.place)

    def update(self, time_us: int, sensors: LegacyInput) -> None:
        """Run one cycle; one sooner than 2 ms after the last does nothing."""
        if time_us - self._last_us <= _SHORTEST_STEP_US:
            return
        dt = (time_us - self._last_us) * 1e-6
        self._last_us = time_us
        failed = self.failed
        if {'IMU', 'GPS', 'BARO'} <= failed:
            self.state = LegacyState.NOSOLUTION
            return
        linear = self._orient(dt, sensors)
        if self._home_altitude is None:
            self.state = LegacyState.NO_HOME
            return
        self.state = self._state_by_faults()
        if self.state is LegacyState.PARTIAL_NO_IMU_NO_BARO:
            self._take_fix(sensors)
            return
        self._localize(dt, sensors, linear, self._home_altitude)

    def _orient(self, dt: float, sensors: LegacyInput) -> Vector | None:
        """Advance the attitude; return the acceleration net of gravity, None without one."""
        if 'IMU' in self.failed:
            return None
        p, q, r = (value * _DEGREE for value in sensors.rate)
        field = (0.0, 0.0, 0.0) if 'MAG' in self.failed else sensors.field
        self.orientation.update(dt, (p, q, r), sensors.force, field)
        self.is_oriented = True
        w, x, y, z = self.orientation.attitude
        size = math.sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = w / size, x / size, y / size, z / size
        a, b, c = sensors.force
        north = (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * b + 2 * (x * z + w * y) * c
        east = 2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - w * x) * c
        down = 2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b + (1 - 2 * (x * x + y * y)) * c
        return north * _GRAVITY, east * _GRAVITY, (down + 1.0) * _GRAVITY

    def _state_by_faults(self) -> LegacyState:
        failed = self.failed
        if 'IMU' in failed:
            if 'GPS' in failed:
                return LegacyState.PARTIAL_NO_IMU_NO_GPS
            return LegacyState.PARTIAL_NO_IMU_NO_BARO if 'BARO' in failed else LegacyState.NOMINAL
        if 'GPS' in failed and 'BARO' in failed:
            return LegacyState.PARTIAL_NO_GPS_NO_BARO
        if 'GPS' in failed:
            return LegacyState.PARTIAL_NO_GPS
        if 'BARO' in failed:
            return LegacyState.PARTIAL_NO_BARO
        return LegacyState.PARTIAL_NO_MAG if 'MAG' in failed else LegacyState.NOMINAL

    def _localize(
        self, dt: float, sensors: LegacyInput, linear: Vector | None, home: float
    ) -> None:
        """Correct first and predict last, as flown."""
        filter_, failed = self.localization, self.failed
        if linear is not None:
            filter_.accelerometer(linear)
        if 'GPS' not in failed and sensors.has_fix:
            filter_.fix(*sensors.place, sensors.speed)
        if 'BARO' not in failed:
            filter_.barometer(sensors.altitude - home)
        filter_.predict(dt)
        self.position, self.velocity = filter_.position, filter_.velocity
        self.acceleration = filter_.acceleration

    def _take_fix(self, sensors: LegacyInput) -> None:
        """Report what the receiver says, unfiltered."""
        self.position = self.localization.to_ned(*sensors.place)
        north, east, down = (value * 1e-3 for value in sensors.speed)
        self.velocity = (north, east, down)
