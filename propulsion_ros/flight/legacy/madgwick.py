# SPDX-License-Identifier: Apache-2.0
"""Madgwick's orientation filter: gradient descent on the directions of gravity and north.

S. Madgwick, An efficient orientation filter for inertial and inertial/magnetic sensor arrays, 2010.
"""
from __future__ import annotations

import math
import struct

from propulsion_ros.flight.estimation.state import Stage

Quaternion = tuple[float, float, float, float]
Vector = tuple[float, float, float]


class Madgwick:
    """Attitude in north-east-down axes, from angular rate, specific force and magnetic field.

    The attitude is a quaternion w, x, y, z that turns body axes into the world's. At rest and
    level the specific force reads (0, 0, -1) in any unit. A sample with NaN or infinity is not
    taken; a zero force leaves the gyroscope alone, a zero field leaves the magnetometer out.

    Parameters
    ----------
    beta : float
        Rate of the correction [rad/s]; it may be changed at any time, 0 freezes it.
    flown : bool
        Whether to compute as the flown copy of the widespread library does: one Newton step for
        each inverse square root, so that the norm is off by up to 0.1 %, and a reference field of
        half the length.

    Attributes
    ----------
    beta : float
        [rad/s].
    attitude : tuple of float
        Quaternion w, x, y, z.
    refused_count : int
        Samples that were not taken.
    """

    def __init__(self, beta: float, *, flown: bool = False) -> None:
        self.beta = beta
        self._inverse_root = _newton_root if flown else _exact_root
        self._reference = 0.5 if flown else 1.0
        self.refused_count = 0
        self.reset()

    def reset(self) -> None:
        """Return to the identity."""
        self.attitude: Quaternion = (1.0, 0.0, 0.0, 0.0)

    def align(self, force: Vector, field: Vector = (0.0, 0.0, 0.0)) -> bool:
        """Take the attitude of a vehicle at rest; return whether the force told it.

        Parameters
        ----------
        force : tuple of float
            Mean specific force at rest, any unit.
        field : tuple of float
            Mean magnetic field; zero leaves the heading 0.
        """
        size = math.hypot(*force)
        if not (math.isfinite(sum(force) + sum(field)) and size > 0.0):
            return False
        x, y, z = (-value / size for value in force)  # down, in body axes
        roll, pitch = math.atan2(y, z), math.asin(max(-1.0, min(1.0, -x)))
        a, b, c = field
        level = b * math.sin(roll) + c * math.cos(roll)
        north = a * math.cos(pitch) + level * math.sin(pitch)
        east = b * math.cos(roll) - c * math.sin(roll)
        yaw = math.atan2(-east, north) if north or east else 0.0
        self.attitude = _of_angles(roll, pitch, yaw)
        return True

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
            self.refused_count += 1
            return
        q0, q1, q2, q3 = self.attitude
        p, q, r = rate
        change = [
            0.5 * (-q1 * p - q2 * q - q3 * r), 0.5 * (q0 * p + q2 * r - q3 * q),
            0.5 * (q0 * q - q1 * r + q3 * p), 0.5 * (q0 * r + q1 * q - q2 * p),
        ]
        if self.beta and any(force):
            gradient = self._gradient(force, field)
            scale = self._inverse_root(sum(value * value for value in gradient))
            change = [
                rate - self.beta * scale * step
                for rate, step in zip(change, gradient, strict=True)
            ]
        moved = [value + step * dt for value, step in zip(self.attitude, change, strict=True)]
        scale = self._inverse_root(sum(value * value for value in moved))
        w, x, y, z = (value * scale for value in moved)
        if math.isfinite(w + x + y + z):
            self.attitude = (w, x, y, z)
        else:
            self.refused_count += 1

    def _gradient(self, force: Vector, field: Vector) -> list[float]:
        """Return the gradient of the squared error of both directions by the quaternion."""
        q0, q1, q2, q3 = self.attitude
        scale = self._inverse_root(sum(value * value for value in force))
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
        scale = self._inverse_root(sum(value * value for value in field))
        m1, m2, m3 = (value * scale for value in field)
        hx, hy, hz = _rotated(self.attitude, (m1, m2, m3))
        bx = self._reference * math.hypot(hx, hy)
        bz = self._reference * hz
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


def beta_of(stage: Stage, ground: float, flight: float) -> float:
    """Return the correction of a stage: that of flight while forces do not show gravity.

    In boost the force is thrust, in coast it is drag; both point along the body whichever way
    gravity does.
    """
    return flight if stage in (Stage.BOOST, Stage.COAST) else ground


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


def _of_angles(roll: float, pitch: float, yaw: float) -> Quaternion:
    a, b = math.cos(0.5 * roll), math.sin(0.5 * roll)
    c, d = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    e, f = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    return (
        a * c * e + b * d * f, b * c * e - a * d * f,
        a * d * e + b * c * f, a * c * f - b * d * e,
    )


def _exact_root(value: float) -> float:
    return 1.0 / math.sqrt(value) if value > 0.0 else 0.0


def _newton_root(value: float) -> float:
    """Return the inverse square root by one Newton step from the bits of a 32-bit float."""
    (bits,) = struct.unpack('<i', struct.pack('<f', value))
    (guess,) = struct.unpack('<f', struct.pack('<i', 0x5F1F1412 - (bits >> 1)))
    root: float = guess * (1.69000231 - 0.714158168 * value * guess * guess)
    return root
