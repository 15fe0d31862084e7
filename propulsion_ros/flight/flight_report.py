# SPDX-License-Identifier: Apache-2.0
"""What the flight state reports after each sample."""
from __future__ import annotations

from typing import NamedTuple

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.events.controllers import ControlOutput
from propulsion_ros.flight.events.events import EventFired
from propulsion_ros.flight.phases.phases import Phase, PhaseChange, Subphase
from propulsion_ros.flight.phases.progress import Mark, Vertex
from propulsion_ros.timing.flight_clock import Stamp


class FlightReport(NamedTuple):
    """What one sample changed, and how things stand after it.

    Attributes
    ----------
    stamp_ns : int
        Stamp of the sample [ns].
    stamp : Stamp
        Whether the sample was used, and if not why.
    phase, subphase : Phase, Subphase
        After the sample.
    estimate : ApogeeEstimate or None
        The detector's; None until a sample was used.
    phase_changes : tuple of PhaseChange
        Since the last report, commands included.
    events : tuple of EventFired
        In this update.
    ignition, liftoff, apogee : Mark or None
        Moments of this flight.
    flags : frozenset of str
        'altitude_unknown', 'velocity_unknown', 'frozen', 'jumped', 'debug', 'resuming' while a
        recorded flight waits to be taken up or dropped, and 'was_armed' after a restart on the
        pad, until a request or a flight.
    controls : tuple of ControlOutput
        Steps that controllers took.
    notice : str
        What an operator must know now: of a recorded flight, a stand-down, a clock that was set;
        '' for nothing.
    vertex : Vertex or None
        Where the flight was highest, once that is decided; it outlives a restart.
    may_deploy : bool
        Whether the flight allowed its events to move deployers.
    """

    stamp_ns: int
    stamp: Stamp
    phase: Phase
    subphase: Subphase
    estimate: ApogeeEstimate | None
    phase_changes: tuple[PhaseChange, ...]
    events: tuple[EventFired, ...]
    ignition: Mark | None
    liftoff: Mark | None
    apogee: Mark | None
    flags: frozenset[str]
    controls: tuple[ControlOutput, ...] = ()
    notice: str = ''
    vertex: Vertex | None = None
    may_deploy: bool = False

    @property
    def is_resumed(self) -> bool:
        """Whether a recorded flight was resumed now."""
        return any(change.trigger.startswith('resumed in ') for change in self.phase_changes)
