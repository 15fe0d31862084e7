# SPDX-License-Identifier: Apache-2.0
"""Wrenches: force first, then torque, six numbers about a point."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
"""No rotation, as nine numbers row by row."""


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a x b over the last axis; faster than numpy's for the few vectors of a step."""
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    first = a1 * b2 - a2 * b1
    product = np.empty((*first.shape, 3))
    product[..., 0] = first
    product[..., 1] = a2 * b0 - a0 * b2
    product[..., 2] = a0 * b1 - a1 * b0
    return product


def skew(vectors: FloatArray) -> FloatArray:
    """Return the matrices that turn p into v x p for vectors v (..., 3), (..., 3, 3)."""
    return np.swapaxes(cross(vectors[..., None, :], np.eye(3)), -1, -2)


def product(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return rows (..., k) times a matrix (k, m); faster than @ for the few rows of a step."""
    # Beyond two axes dot leaves out BLAS.
    return np.asarray(rows.dot(matrix) if rows.ndim < 3 else rows @ matrix)


def move_wrench(wrench: FloatArray, offset: FloatArray) -> FloatArray:
    """Return a wrench about p as the wrench about q, where ``offset`` = p - q [m].

    The force stays; the torque gains offset x force.
    """
    force = wrench[..., :3]
    return np.concatenate((force, wrench[..., 3:] + cross(offset, force)), axis=-1)


def unit_rows(key: str, vectors: FloatArray) -> FloatArray:
    """Return vectors (..., 3) scaled to length 1 one by one.

    Raises `ConfigError` naming ``key`` where a vector has no direction.
    """
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if np.any(length < 1e-12):
        row = int(np.argwhere(length[..., 0] < 1e-12)[0][0])
        raise ConfigError(key, 'expected a direction, got a vector of length 0', row)
    return np.asarray(vectors / length)


def in_link_axes(
    rotations: FloatArray, forces: FloatArray, torques: FloatArray | None = None
) -> FloatArray:
    """Return wrenches of n actuators in the axes of their links.

    Parameters
    ----------
    rotations : FloatArray
        From the axes of each link to base_link, (n, 3, 3).
    forces, torques : FloatArray
        In base_link axes, (..., n, 3); torques about the origin of each link, None for none.

    Returns
    -------
    FloatArray
        Shape (..., n, 6).
    """
    twisted = np.zeros_like(forces) if torques is None else torques
    pairs = np.stack((forces, twisted), axis=-2) @ rotations
    return np.asarray(pairs.reshape(*pairs.shape[:-2], 6))
