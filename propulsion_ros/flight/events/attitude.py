"""Roll, pitch, yaw and tilt of a rotation, in the axes that flight events are written in."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from propulsion_ros.flight.events.variables import NAN, UNKNOWN_VECTOR
from propulsion_ros.settings.quantity import FloatArray

Angles = tuple[float, float, float]

_NED_FROM_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
_FLU_FROM_FRD = np.diag([1.0, -1.0, -1.0])


class Attitude(NamedTuple):
    """Angles against north, east, down [rad]; NaN where unknown.

    ``rocket`` is of axes whose x is the nose, ``board`` of base_link turned to forward, right,
    down; ``tilt`` is the nose's angle from the vertical.
    """

    rocket: Angles = UNKNOWN_VECTOR
    board: Angles = UNKNOWN_VECTOR
    tilt: float = NAN


UNKNOWN_ATTITUDE = Attitude()


class AttitudeReader:
    """Turns quaternions into `Attitude`.

    Parameters
    ----------
    nose : sequence of float
        The direction of the nose in base_link axes; not 0.
    """

    def __init__(self, nose: Sequence[float]) -> None:
        self._nose: FloatArray = np.asarray(nose, float) / np.linalg.norm(nose)
        self._rocket = _shortest_turn(self._nose) @ _FLU_FROM_FRD

    def read(self, rotation: Sequence[float]) -> Attitude:
        """Return the angles of a quaternion x, y, z, w from base_link to east, north, up."""
        length = math.sqrt(sum(value * value for value in rotation))
        if not 1e-6 < length < math.inf:
            return UNKNOWN_ATTITUDE
        x, y, z, w = (value / length for value in rotation)
        enu = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ])
        body = _NED_FROM_ENU @ enu
        up = float((enu @ self._nose)[2])
        return Attitude(
            _angles(body @ self._rocket), _angles(body @ _FLU_FROM_FRD),
            math.acos(max(-1.0, min(1.0, up))),
        )


def _shortest_turn(nose: FloatArray) -> FloatArray:
    """Return the rotation by the smallest angle that takes x to the nose, (3, 3)."""
    forward = np.array([1.0, 0.0, 0.0])
    cosine = float(nose[0])
    if cosine < -1.0 + 1e-9:
        return np.diag([-1.0, -1.0, 1.0])
    v = np.cross(forward, nose)
    k = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    turn: FloatArray = np.eye(3) + k + k @ k / (1.0 + cosine)
    return turn


def _angles(matrix: FloatArray) -> Angles:
    """Return roll, pitch, yaw (turned about z, then y, then x) of a rotation to NED."""
    (a, _, _), (b, _, _), (c, d, e) = matrix.tolist()
    return math.atan2(d, e), math.asin(max(-1.0, min(1.0, -c))), math.atan2(b, a)
