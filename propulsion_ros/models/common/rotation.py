# SPDX-License-Identifier: Apache-2.0
"""Rotations as quaternions x, y, z, w, as matrices, and as vectors along their axes.

Filters turn single vectors by single quaternions thousands of times a second, which plain floats
do in a fraction of the time that an array takes. scipy has all of it too, but its import takes
half of the time in which a node starts.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
T = TypeVar('T', float, FloatArray)

_SMALL = 1e-6
"""Square of an angle below which two terms of a series are right to 3e-15 [rad^2]."""


# Arrays.


def matrix_of(quaternion: FloatArray | Sequence[float]) -> FloatArray:
    """Return the matrix (..., 3, 3) of quaternions (..., 4) of any length but 0."""
    values = np.asarray(quaternion, dtype=float)
    if values.ndim == 1:
        x, y, z, w = values.tolist()
        return np.array(rows_of(unit((x, y, z, w))))
    x, y, z, w = np.moveaxis(values / np.linalg.norm(values, axis=-1, keepdims=True), -1, 0)
    return np.moveaxis(np.array(rows_of((x, y, z, w))), (0, 1), (-2, -1))


def quaternion_of(matrix: FloatArray) -> FloatArray:
    """Return the unit quaternions (..., 4) of matrices (..., 3, 3)."""
    # Models for Gazebo alone need it, once each.
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(matrix).as_quat())


def matrix_of_rpy(rpy: FloatArray | Sequence[float]) -> FloatArray:
    """Return the matrix (3, 3) of turns about the fixed x, then y, then z axis [rad]."""
    return matrix_of(quaternion_of_rpy(rpy))


def quaternion_of_rpy(rpy: FloatArray | Sequence[float]) -> FloatArray:
    """Return the quaternion (..., 4) of turns about the fixed x, then y, then z axis [rad]."""
    values = np.asarray(rpy, dtype=float)
    roll, pitch, yaw = np.moveaxis(0.5 * values, -1, 0) if values.ndim > 1 else (
        0.5 * angle for angle in values.tolist()
    )
    sin, cos = (np.sin, np.cos) if values.ndim > 1 else (math.sin, math.cos)
    about_x = sin(roll), 0.0, 0.0, cos(roll)
    about_y = 0.0, sin(pitch), 0.0, cos(pitch)
    about_z = 0.0, 0.0, sin(yaw), cos(yaw)
    return np.stack(product(about_z, product(about_y, about_x)), axis=-1)


def shortest_turn(vector: FloatArray) -> FloatArray:
    """Return the matrix (3, 3) of the smallest angle that turns x to a unit vector (3,)."""
    cosine = float(vector[0])
    if cosine < -1.0 + 1e-9:
        return np.diag([-1.0, -1.0, 1.0])
    v = np.cross(np.array([1.0, 0.0, 0.0]), vector)
    k = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    turn: FloatArray = np.eye(3) + k + k @ k / (1.0 + cosine)
    return turn


# Plain floats.


def unit(quaternion: Quaternion) -> Quaternion:
    """Return a quaternion scaled to length 1."""
    x, y, z, w = quaternion
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return x * scale, y * scale, z * scale, w * scale


def product(first: Quaternion, second: Quaternion) -> Quaternion:
    """Return the rotation by ``second``, then by ``first``."""
    a, b, c, d = first
    x, y, z, w = second
    return (
        d * x + a * w + b * z - c * y, d * y - a * z + b * w + c * x,
        d * z + a * y - b * x + c * w, d * w - a * x - b * y - c * z,
    )


def of_vector(a: float, b: float, c: float) -> Quaternion:
    """Return the quaternion of a rotation vector [rad]."""
    angle2 = a * a + b * b + c * c
    if angle2 < _SMALL:
        scale = 0.5 - angle2 / 48.0
        return a * scale, b * scale, c * scale, 1.0 - angle2 / 8.0
    angle = math.sqrt(angle2)
    scale = math.sin(0.5 * angle) / angle
    return a * scale, b * scale, c * scale, math.cos(0.5 * angle)


def rotate(quaternion: Quaternion, vector: Vector) -> Vector:
    """Return a vector turned by a unit quaternion."""
    x, y, z, w = quaternion
    a, b, c = vector
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx,
    )


def upright(vector: Vector) -> Quaternion:
    """Return the rotation by the smallest angle that turns a vector to z."""
    x, y, z = (value / math.hypot(*vector) for value in vector)
    if z < -1.0 + 1e-9:
        return 1.0, 0.0, 0.0, 0.0
    scale = 1.0 / math.sqrt(2.0 * (1.0 + z))
    return y * scale, -x * scale, 0.0, (1.0 + z) * scale


def rows_of(
    quaternion: tuple[T, T, T, T]
) -> tuple[tuple[T, T, T], tuple[T, T, T], tuple[T, T, T]]:
    """Return the rows of the matrix of a unit quaternion."""
    x, y, z, w = quaternion
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def rpy_of(rows: FloatArray | Sequence[Sequence[float]]) -> Vector:
    """Return the inverse of `matrix_of_rpy` by its rows, as exact where the pitch is 90 degrees."""
    (a, b, c), (d, e, f), (g, _, _) = rows
    yaw = math.atan2(d, a)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    # What is left without the yaw, whichever it was, is a roll, then a pitch.
    roll = math.atan2(-(cosine * f - sine * c), cosine * e - sine * b)
    return roll, math.atan2(-g, cosine * a + sine * d), yaw
