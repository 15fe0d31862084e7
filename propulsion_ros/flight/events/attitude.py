# SPDX-License-Identifier: Apache-2.0
"""Roll, pitch, yaw and tilt of a rotation, in the axes that flight configurations use."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from propulsion_ros.flight.events.variables import NAN, UNKNOWN_VECTOR
from propulsion_ros.models.common.rotation import (
    Vector,
    roll_pitch_yaw,
    rows_of,
    shortest_turn,
)
from propulsion_ros.settings.quantity import FloatArray

_NED_FROM_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
_FLU_FROM_FRD = np.diag([1.0, -1.0, -1.0])


class Attitude(NamedTuple):
    """Angles relative to north, east, down [rad]; NaN where unknown.

    ``rocket`` has roll, pitch and yaw of axes whose x points along the nose. ``board`` has those
    of base_link, turned to forward, right, down. ``tilt`` is the angle of the nose from the
    vertical.
    """

    rocket: Vector = UNKNOWN_VECTOR
    board: Vector = UNKNOWN_VECTOR
    tilt: float = NAN


UNKNOWN_ATTITUDE = Attitude()


class AttitudeReader:
    """Converts quaternions to `Attitude`.

    Parameters
    ----------
    nose : sequence of float
        The direction of the nose in base_link axes, of any length but 0.
    """

    def __init__(self, nose: Sequence[float]) -> None:
        self._nose: FloatArray = np.asarray(nose, float) / np.linalg.norm(nose)
        self._rocket = shortest_turn(self._nose) @ _FLU_FROM_FRD

    def read(self, rotation: Sequence[float]) -> Attitude:
        """Return the angles of a quaternion x, y, z, w from base_link to east, north, up."""
        length = math.sqrt(sum(value * value for value in rotation))
        if not 1e-6 < length < math.inf:
            return UNKNOWN_ATTITUDE
        x, y, z, w = (value / length for value in rotation)
        enu = np.array(rows_of((x, y, z, w)))
        body = _NED_FROM_ENU @ enu
        up = float((enu @ self._nose)[2])
        return Attitude(
            roll_pitch_yaw((body @ self._rocket).tolist()),
            roll_pitch_yaw((body @ _FLU_FROM_FRD).tolist()),
            math.acos(max(-1.0, min(1.0, up))),
        )
