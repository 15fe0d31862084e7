# SPDX-License-Identifier: Apache-2.0
"""Angles of what turns, as pilots steer them."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.quantity import FloatArray


def roll_pitch_yaw(rotation: FloatArray) -> tuple[float, float, float]:
    """Return the turns about x, then y, then z of the world [rad] of a matrix (3, 3).

    By numpy, whose last bit differs from that of math, so that flights stay as they were.
    """
    r = rotation
    return (
        float(np.arctan2(r[2, 1], r[2, 2])),
        float(-np.arcsin(np.clip(r[2, 0], -1.0, 1.0))),
        float(np.arctan2(r[1, 0], r[0, 0])),
    )


def wrapped(angle: float) -> float:
    """Return an angle [rad] as the same one from -pi up to, but without, pi."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
