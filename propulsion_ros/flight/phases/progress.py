# SPDX-License-Identifier: Apache-2.0
"""Phase and moments of one flight, and the changes since they were last reported."""
from __future__ import annotations

from dataclasses import replace

from propulsion_ros.flight.phases.mark import Mark, Vertex
from propulsion_ros.flight.phases.phases import DUTIES, Duty, Phase, PhaseChange, Transition

Marks = tuple[Mark | None, Mark | None, Mark | None]
"""Ignition, liftoff and apogee of a flight."""


class Progress:
    """Where a flight is.

    Attributes
    ----------
    phase : Phase
        Now.
    ignition, liftoff, apogee : Mark or None
        Moments of the flight.
    vertex : Vertex or None
        Where the flight was highest, once that is decided.
    is_debug : bool
        Whether the flight began in the phase debug.
    """

    def __init__(self) -> None:
        self.phase = Phase.SETUP
        self.is_debug = False
        self._changes: list[PhaseChange] = []
        self.forget_moments()

    def forget_moments(self) -> None:
        """Forget ignition, liftoff and apogee."""
        self.ignition: Mark | None = None
        self.liftoff: Mark | None = None
        self.apogee: Mark | None = None
        self.vertex: Vertex | None = None

    def enter(self, row: Transition, mark: Mark) -> None:
        """Follow a row of the table; one into recovery takes its apogee from the mark."""
        duties = DUTIES[row.target].entry
        self.phase = row.target
        self._changes.append(PhaseChange(mark.stamp_ns, row.source, row.target, row.trigger))
        if Duty.SET_DEBUG in duties:
            self.is_debug = True
        if Duty.CLEAR_DEBUG in duties:
            self.is_debug = False
        if Duty.FORGET_FLIGHT in duties:
            self.forget_moments()
        if row.apogee_source:
            self.apogee = replace(mark, source=row.apogee_source)
        if row.is_command and row.target is Phase.FLIGHT:
            self.liftoff = replace(mark, source='override')

    def resume(self, row: Transition, mark: Mark, marks: Marks, vertex: Vertex | None) -> None:
        """Resume a recorded flight with its moments and its vertex."""
        self.phase = row.target
        self._changes.append(PhaseChange(mark.stamp_ns, row.source, row.target, row.trigger))
        self.ignition, self.liftoff, self.apogee = marks
        self.vertex = vertex

    def take_changes(self) -> tuple[PhaseChange, ...]:
        """Return the changes since the last call."""
        changes, self._changes = tuple(self._changes), []
        return changes

    @property
    def marks(self) -> Marks:
        """Ignition, liftoff and apogee."""
        return self.ignition, self.liftoff, self.apogee

    def does(self, duty: Duty) -> bool:
        """Return whether a duty is done at every sample of this phase."""
        return duty in DUTIES[self.phase].update

    def begins_with(self, duty: Duty) -> bool:
        """Return whether a duty is done on entry to this phase."""
        return duty in DUTIES[self.phase].entry
