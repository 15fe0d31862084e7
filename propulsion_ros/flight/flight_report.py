"""What the flight state reports after each sample."""
from __future__ import annotations

from dataclasses import dataclass

from propulsion_ros.flight.apogee_estimate import ApogeeEstimate
from propulsion_ros.flight.controllers import ControlOutput
from propulsion_ros.flight.deployers import DeployerCommand
from propulsion_ros.flight.events import EventFired
from propulsion_ros.flight.flight_clock import Stamp
from propulsion_ros.flight.phases import Phase, PhaseChange, Subphase


@dataclass(frozen=True)
class Mark:
    """A moment that flight variables count from.

    Attributes
    ----------
    stamp_ns : int
        Message stamp [ns].
    clock_ns : int
        The same on the flight clock [ns].
    source : str
        How it came about: of liftoff 'acceleration', 'climb', 'fall' or 'override', of apogee
        'detected', 'timer', 'abort' or 'override', of ignition 'command'.
    """

    stamp_ns: int
    clock_ns: int
    source: str


@dataclass(frozen=True)
class FlightReport:
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
    deployers : tuple of DeployerCommand
        To be carried out now.
    ignition, liftoff, apogee : Mark or None
        Moments of this flight.
    flags : frozenset of str
        'altitude_unknown', 'velocity_unknown', 'frozen', 'jumped', 'debug', and 'resuming' while
        a recorded flight waits to be taken up or dropped.
    controls : tuple of ControlOutput
        Steps that controllers took.
    notice : str
        What became of a recorded flight, '' where nothing did.
    """

    stamp_ns: int
    stamp: Stamp
    phase: Phase
    subphase: Subphase
    estimate: ApogeeEstimate | None
    phase_changes: tuple[PhaseChange, ...]
    events: tuple[EventFired, ...]
    deployers: tuple[DeployerCommand, ...]
    ignition: Mark | None
    liftoff: Mark | None
    apogee: Mark | None
    flags: frozenset[str]
    controls: tuple[ControlOutput, ...] = ()
    notice: str = ''
