# SPDX-License-Identifier: Apache-2.0
"""Phase, moments and burn of one flight, and the changes since they were last reported."""
from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from propulsion_ros.flight.phases.phases import DUTIES, Duty, Phase, PhaseChange, Transition
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_BURN_ACCELERATION = 0.5 * STANDARD_GRAVITY  # threshold of the hysteresis, up or down [m/s^2]
_MEASURED_TIME = 0.1  # dwell of a measured acceleration [s]
_FITTED_TIME = 1.0  # dwell of the curvature of the altitude [s]


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
        Cause of a liftoff: 'acceleration', 'climb', 'fall' or 'override'; of an apogee: 'detected',
        'fall', 'timer', 'abort', 'override' or 'recorded'; of an ignition: 'command'.
    """

    stamp_ns: int
    clock_ns: int
    source: str


class Doubt(NamedTuple):
    """How far the flight clock may be ahead of moments before a restart.

    Attributes
    ----------
    until_ns : int
        When the last record was made, on that clock [ns].
    ahead_ns : int
        Moments up to then may be more recent by so much [ns].
    """

    until_ns: int = 0
    ahead_ns: int = 0

    def latest(self, clock_ns: int) -> int:
        """Return the latest that a moment may be, on that clock [ns]."""
        return clock_ns if clock_ns > self.until_ns else clock_ns + self.ahead_ns


NO_DOUBT = Doubt()


@dataclass(frozen=True)
class Vertex:
    """Where a flight was highest, as the detector found it: stamp [ns], altitude [m]."""

    stamp_ns: int
    altitude: float


Marks = tuple[Mark | None, Mark | None, Mark | None]
"""Ignition, liftoff and apogee of a flight."""


class Progress:
    """Phase and moments of a flight.

    Attributes
    ----------
    phase : Phase
        Present phase.
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


class BurnMonitor:
    """Distinguishes boost from coast by the net acceleration, with hysteresis.

    A coasting vehicle has at most -g, a burning one more than 0. Each must hold for a while
    beyond half a g, so that noise does not make the sub-phase chatter: 0.1 s where acceleration
    is measured, 1 s where it is the curvature of the altitude.
    """

    def __init__(self) -> None:
        self._measured = Dwell(_MEASURED_TIME)
        self._fitted = Dwell(_FITTED_TIME)
        self.reset(burning=True)

    def reset(self, *, burning: bool) -> None:
        """Begin in boost or in coast."""
        self._measured.reset()
        self._fitted.reset()
        self.is_burning = burning

    def update(self, clock_ns: int, measured: float, fitted: float) -> None:
        """Take the acceleration net of gravity, up positive [m/s^2].

        The measured one counts if it is known; if both are NaN nothing changes.
        """
        is_measured = math.isfinite(measured)
        acceleration = measured if is_measured else fitted
        direction = -1.0 if self.is_burning else 1.0
        dwell = self._measured if is_measured else self._fitted
        if dwell.update(clock_ns, direction * acceleration > _BURN_ACCELERATION):
            self.reset(burning=not self.is_burning)
