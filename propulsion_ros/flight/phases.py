"""Phases of a flight and the one table of transitions between them.

The phases are those of the flown software: setup, preflight, launch, flight, recovery, debug.
Nothing changes a phase but a row of `TRANSITIONS`; the documentation is made from it.
"""
from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class Phase(str, Enum):
    """Where a flight is; the value is the word that is published."""

    SETUP = 'setup'
    PREFLIGHT = 'preflight'
    LAUNCH = 'launch'
    FLIGHT = 'flight'
    RECOVERY = 'recovery'
    DEBUG = 'debug'

    @property
    def is_armed(self) -> bool:
        """Whether events run and deployers may be on."""
        return self in (Phase.LAUNCH, Phase.FLIGHT, Phase.RECOVERY)


class Subphase(str, Enum):
    """Finer division of flight and recovery."""

    NONE = ''
    BOOST = 'boost'
    COAST = 'coast'
    DESCENT = 'descent'
    LANDED = 'landed'


@dataclass(frozen=True)
class Facts:
    """What guards ask about the vehicle.

    Attributes
    ----------
    altitude_known : bool
        Whether a recent sample gives an altitude.
    is_moving : bool
        Whether a recent sample says that the vehicle moves up or down.
    """

    altitude_known: bool = False
    is_moving: bool = False


@dataclass(frozen=True)
class Guard:
    """What must be so for a command to be accepted, in words that follow 'because'."""

    refusal: str
    allows: Callable[[Facts], bool]


ALTITUDE_KNOWN = Guard('no recent sample gives an altitude', lambda facts: facts.altitude_known)
STANDS_STILL = Guard('the vehicle is still moving', lambda facts: not facts.is_moving)


@dataclass(frozen=True)
class Transition:
    """One row of the table.

    Attributes
    ----------
    source, target : Phase
        From where to where; they are the same where only a stamp is taken.
    trigger : str
        A command's name, or what was observed.
    is_command : bool
        Whether a person or another program triggers it.
    guard : Guard or None
        Condition of a command.
    apogee_source : str
        What the stamp of apogee is said to come from. Every row into recovery has one, so that
        no vehicle comes down with events that wait for an apogee which never came.
    """

    source: Phase
    target: Phase
    trigger: str
    is_command: bool = False
    guard: Guard | None = None
    apogee_source: str = ''


@dataclass(frozen=True)
class PhaseChange:
    """A transition that happened."""

    stamp_ns: int
    source: Phase
    target: Phase
    trigger: str


def _command(
    source: Phase,
    target: Phase,
    name: str,
    guard: Guard | None = None,
    apogee_source: str = '',
) -> Transition:
    return Transition(source, target, name, True, guard, apogee_source)


TRANSITIONS: tuple[Transition, ...] = (
    Transition(Phase.SETUP, Phase.PREFLIGHT, 'configured'),
    _command(Phase.PREFLIGHT, Phase.LAUNCH, 'launch', ALTITUDE_KNOWN),
    _command(Phase.PREFLIGHT, Phase.DEBUG, 'debug'),
    _command(Phase.LAUNCH, Phase.LAUNCH, 'ignition'),
    _command(Phase.LAUNCH, Phase.PREFLIGHT, 'abort'),
    _command(Phase.LAUNCH, Phase.FLIGHT, 'liftoff_override'),
    Transition(Phase.LAUNCH, Phase.FLIGHT, 'liftoff'),
    Transition(Phase.FLIGHT, Phase.RECOVERY, 'apogee', apogee_source='detected'),
    Transition(Phase.FLIGHT, Phase.RECOVERY, 'timer', apogee_source='timer'),
    _command(Phase.FLIGHT, Phase.RECOVERY, 'abort', apogee_source='abort'),
    _command(Phase.FLIGHT, Phase.RECOVERY, 'apogee_override', apogee_source='override'),
    _command(Phase.RECOVERY, Phase.PREFLIGHT, 'reset', STANDS_STILL),
    _command(Phase.DEBUG, Phase.PREFLIGHT, 'reset'),
    Transition(Phase.LAUNCH, Phase.PREFLIGHT, 'time restarted'),
    Transition(Phase.FLIGHT, Phase.PREFLIGHT, 'time restarted'),
    Transition(Phase.RECOVERY, Phase.PREFLIGHT, 'time restarted'),
)

COMMANDS: tuple[str, ...] = tuple(
    dict.fromkeys(row.trigger for row in TRANSITIONS if row.is_command)
)


def find_transition(phase: Phase, trigger: str) -> Transition | None:
    """Return the row that a trigger takes in a phase, None where it means nothing there."""
    for row in TRANSITIONS:
        if row.source is phase and row.trigger == trigger:
            return row
    return None


def refusal(phase: Phase, command: str, facts: Facts) -> str:
    """Return why a command is refused in a phase, '' where it is accepted."""
    if command not in COMMANDS:
        near = difflib.get_close_matches(command, COMMANDS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f'expected one of {", ".join(COMMANDS)}'
        return f"unknown command '{command}', {hint}"
    row = find_transition(phase, command)
    if row is None:
        phases = [row.source.value for row in TRANSITIONS if row.trigger == command]
        return f"'{command}' is refused in {phase.value}, it belongs to {' or '.join(phases)}"
    if row.guard is not None and not row.guard.allows(facts):
        return f"'{command}' is refused: {row.guard.refusal}"
    return ''
