# SPDX-License-Identifier: Apache-2.0
"""The localisation filter of Pickle Rick, as flown: nine states, constant acceleration."""
from __future__ import annotations

import math

import numpy as np

from propulsion_ros.flight.estimation.tangent_plane import FLATTENING, SEMI_MAJOR_AXIS
from propulsion_ros.settings.quantity import FloatArray

_AXES = 3
_SIZE = 9
_PROCESS = 0.1
_ACCELEROMETER, _HIGH_RANGE = 0.00981, 0.0981  # variances [(m/s^2)^2]
_BAROMETER = 0.5  # [m^2]
_PLACE, _HEIGHT, _SPEED = 0.2, 0.1, 0.00557  # of fixes [m^2], [m^2], [(m/s)^2]
_MILLI = 1e-3

Vector = tuple[float, float, float]


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
        self.reset()

    def reset(self) -> None:
        """Return to the origin, with a covariance of one."""
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
