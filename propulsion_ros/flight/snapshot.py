# SPDX-License-Identifier: Apache-2.0
"""What of a flight must outlive a restart of the computer."""
from __future__ import annotations

from dataclasses import dataclass

from propulsion_ros.flight.events.events import EventRecord
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.phases.progress import Mark, Marks, Vertex


@dataclass(frozen=True)
class Snapshot:
    """A flight at one stamp.

    Attributes
    ----------
    stamp_ns, clock_ns : int
        When it was taken: message stamp, and flight clock [ns].
    phase : Phase
        Then.
    is_burning : bool
        Boost or coast.
    ignition, liftoff, apogee : Mark or None
        Moments of the flight.
    events : tuple of EventRecord
        Single events that are spent.
    vertex : Vertex or None
        Where the flight was highest, once that is decided.
    is_supported : bool
        Whether something certainly held the vehicle; see `MotionWatch`.
    held : float
        Probability that something did.
    """

    stamp_ns: int
    clock_ns: int
    phase: Phase
    is_burning: bool = True
    ignition: Mark | None = None
    liftoff: Mark | None = None
    apogee: Mark | None = None
    events: tuple[EventRecord, ...] = ()
    vertex: Vertex | None = None
    is_supported: bool = False
    held: float = 0.0

    @property
    def essence(self) -> tuple[object, ...]:
        """What makes it worth recording again: all but the times that merely go on."""
        return (
            self.phase, self.is_burning, self.ignition, self.liftoff, self.apogee,
            tuple((event.id, event.count) for event in self.events), self.vertex,
            self.is_supported,
        )

    @property
    def marks(self) -> Marks:
        """Ignition, liftoff and apogee."""
        return self.ignition, self.liftoff, self.apogee

    @property
    def first_ns(self) -> int:
        """Earliest stamp that it knows of [ns]."""
        return min([self.stamp_ns, *(mark.stamp_ns for mark in self.marks if mark)])

    def problem(self, events: int) -> str:
        """Return why it is no flight with so many events, '' where it is sound."""
        if self.phase is Phase.FLIGHT and self.liftoff is None:
            return 'in flight without a liftoff'
        if self.phase is Phase.RECOVERY and self.apogee is None:
            return 'in recovery without an apogee'
        ids = [event.id for event in self.events]
        if len(set(ids)) < len(ids) or any(not 0 <= i < events for i in ids):
            return f'events {ids} of {events}'
        return ''
