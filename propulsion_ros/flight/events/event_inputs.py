# SPDX-License-Identifier: Apache-2.0
"""What conditions and controllers read beside the sample: angles, and last known values."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.flight.events.variables import NAN, UNKNOWN_VECTOR, Variables
from propulsion_ros.models.common.rotation import (
    Vector,
    rows_of,
    rpy_of,
    shortest_turn,
)
from propulsion_ros.settings.quantity import FloatArray

_NED_FROM_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
_FLU_FROM_FRD = np.diag([1.0, -1.0, -1.0])
OF_ATTITUDE = ('RocketOrientation', 'BoardOrientation', 'Tilt')
"""Flight variables that are read of an attitude."""


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
            rpy_of((body @ self._rocket).tolist()),
            rpy_of((body @ _FLU_FROM_FRD).tolist()),
            math.acos(max(-1.0, min(1.0, up))),
        )


_VECTORS = ('position', 'velocity', 'acceleration', 'rocket_orientation', 'board_orientation')


class HeldValues:
    """Stores the last known value of every component of every vector, and its time."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, int], tuple[int, float]] = {}
        self._now = Variables(0)

    def update(self, variables: Variables) -> None:
        """Store the values that are known now."""
        self._now = variables
        for name in _VECTORS:
            for i, value in enumerate(getattr(variables, name)):
                if math.isfinite(value):
                    self._values[name, i] = variables.clock_ns, value
        if math.isfinite(variables.tilt):
            self._values['tilt', 0] = variables.clock_ns, variables.tilt

    def aged(self, max_age_ns: int) -> Variables:
        """Return the present variables, with older values where the present one is unknown."""
        now = self._now

        def value(name: str, i: int, current: float) -> float:
            if math.isfinite(current) or (name, i) not in self._values:
                return current
            then_ns, held = self._values[name, i]
            return held if now.clock_ns - then_ns <= max_age_ns else current

        vectors: dict[str, Any] = {
            name: tuple(value(name, i, v) for i, v in enumerate(getattr(now, name)))
            for name in _VECTORS
        }
        return replace(now, **vectors, tilt=value('tilt', 0, now.tilt))
