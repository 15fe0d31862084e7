# SPDX-License-Identifier: Apache-2.0
"""What conditions and controllers are evaluated on, put together from a sample."""
from __future__ import annotations

from collections.abc import Callable, Sequence

from propulsion_ros.flight.events.attitude import UNKNOWN_ATTITUDE, AttitudeReader
from propulsion_ros.flight.events.held_values import HeldValues
from propulsion_ros.flight.events.permits import ClimbHold, Permits
from propulsion_ros.flight.events.variables import UNKNOWN_VECTOR, Sample, Variables, ned
from propulsion_ros.flight.phases.course import Marks


class EventInputs:
    """Turns samples into `Variables`, and remembers the last known values.

    Parameters
    ----------
    nose : sequence of float
        Direction of the nose in base_link axes.
    holds : bool
        Whether any event allows for values of some age.
    max_ascent_time : float
        Time after liftoff at which apogee is assumed [s]; 0 for never.
    """

    def __init__(
        self, nose: Sequence[float], holds: bool, max_ascent_time: float = 0.0
    ) -> None:
        self._attitude = AttitudeReader(nose)
        self._held = HeldValues()
        self._climb = ClimbHold(max_ascent_time)
        self._holds = holds

    def reset(self) -> None:
        """Forget the values."""
        self._held.reset()
        self._climb.reset()

    def update(
        self,
        clock_ns: int,
        sample: Sample,
        marks: Marks,
        words: frozenset[str],
        time_since_event: Callable[[int], int | None],
        is_frozen: bool,
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
        is_frozen : bool
            Whether the feed repeats itself, so that the sample counts for nothing.
        permits : Permits
            What the flight allows, but for its limit of speed.
        """
        ignition_ns, liftoff_ns, apogee_ns = (
            None if mark is None else mark.clock_ns for mark in marks
        )
        position = velocity = acceleration = UNKNOWN_VECTOR
        attitude = UNKNOWN_ATTITUDE
        if not is_frozen:
            position = ned(sample.horizontal_position, sample.altitude)
            velocity = ned(sample.horizontal_velocity, sample.velocity)
            acceleration = ned(sample.horizontal_acceleration, sample.acceleration)
            attitude = self._attitude.read(sample.rotation)
        climb = self._climb.update(
            clock_ns, -velocity[2], marks[2], -position[2], liftoff_ns
        )
        variables = Variables(
            clock_ns, position, velocity, acceleration,
            ignition_ns, liftoff_ns, apogee_ns, time_since_event,
            attitude.rocket, attitude.board, attitude.tilt,
            dict(sample.circuits).get, words, permits._replace(climb=climb),
        )
        if self._holds:
            self._held.update(variables)
        return variables

    def aged(self, max_age_ns: int) -> Variables:
        """Return the last variables, with values that are up to so old; see `HeldValues`."""
        return self._held.aged(max_age_ns)
