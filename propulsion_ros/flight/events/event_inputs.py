# SPDX-License-Identifier: Apache-2.0
"""What conditions and controllers are evaluated on: put together from a sample, or last known."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.flight.events.permits import Permits
from propulsion_ros.flight.events.variables import NAN, UNKNOWN_VECTOR, Sample, Variables, ned
from propulsion_ros.flight.phases.progress import Marks
from propulsion_ros.models.common.rotation import (
    Vector,
    roll_pitch_yaw,
    rows_of,
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
            roll_pitch_yaw((body @ self._rocket).tolist()),
            roll_pitch_yaw((body @ _FLU_FROM_FRD).tolist()),
            math.acos(max(-1.0, min(1.0, up))),
        )


_VECTORS = ('position', 'velocity', 'acceleration', 'rocket_orientation', 'board_orientation')


class HeldValues:
    """Stores the last known value of every component of every vector, and its time."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear all values."""
        self._values: dict[tuple[str, int], tuple[int, float]] = {}
        self._now: Variables | None = None

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
        if now is None:
            raise ValueError('no variables yet, call update first')

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


class EventInputs:
    """Turns samples into `Variables`, and remembers the last known values.

    Parameters
    ----------
    nose : sequence of float
        Direction of the nose in base_link axes.
    holds : bool
        Whether any event allows for values of some age.
    reads_attitude : bool
        Whether any event or controller reads a variable of `OF_ATTITUDE`; else all are unknown.
    """

    def __init__(self, nose: Sequence[float], *, holds: bool, reads_attitude: bool) -> None:
        self._attitude = AttitudeReader(nose)
        self._held = HeldValues()
        self._holds, self._reads_attitude = holds, reads_attitude

    def reset(self) -> None:
        """Forget the values."""
        self._held.reset()

    def update(
        self,
        clock_ns: int,
        sample: Sample,
        marks: Marks,
        words: frozenset[str],
        time_since_event: Callable[[int], int | None],
        permits: Permits,
    ) -> Variables:
        """Return what is known now.

        Parameters
        ----------
        clock_ns : int
            On the flight clock [ns].
        sample : Sample
            Now.
        marks : tuple of Mark or None
            Ignition, liftoff, apogee.
        words : frozenset of str
            Phase and sub-phase.
        time_since_event : callable
            Of the event engine.
        permits : Permits
            What the flight allows.
        """
        ignition_ns, liftoff_ns, apogee_ns = (
            None if mark is None else mark.clock_ns for mark in marks
        )
        reads = self._reads_attitude
        attitude = self._attitude.read(sample.rotation) if reads else UNKNOWN_ATTITUDE
        variables = Variables(
            clock_ns,
            ned(sample.horizontal_position, sample.altitude),
            ned(sample.horizontal_velocity, sample.velocity),
            ned(sample.horizontal_acceleration, sample.acceleration),
            ignition_ns, liftoff_ns, apogee_ns, time_since_event,
            attitude.rocket, attitude.board, attitude.tilt,
            dict(sample.circuits).get, words, permits,
        )
        if self._holds:
            self._held.update(variables)
        return variables

    def aged(self, max_age_ns: int) -> Variables:
        """Return the last variables, with values that are up to so old; see `HeldValues`."""
        return self._held.aged(max_age_ns)
