# SPDX-License-Identifier: Apache-2.0
"""Phases of a flight, what is done in each, and the one table of transitions between them.

The phases are those of the flown software: setup, preflight, launch, flight, recovery, debug.
Nothing changes a phase but a row of `TRANSITIONS`, and what a phase does is a row of `DUTIES`;
the documentation is made from both.
"""
from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum


class Phase(str, Enum):
    """Phase of a flight; its value is the published word."""

    SETUP = 'setup'
    PREFLIGHT = 'preflight'
    LAUNCH = 'launch'
    FLIGHT = 'flight'
    RECOVERY = 'recovery'
    DEBUG = 'debug'

    @property
    def is_armed(self) -> bool:
        """Whether events run and deployers and engines may be on."""
        return Duty.ARM in DUTIES[self].entry


class Subphase(str, Enum):
    """Finer division of flight and recovery."""

    NONE = ''
    BOOST = 'boost'
    COAST = 'coast'
    DESCENT = 'descent'
    LANDED = 'landed'


ON_THE_WAY_DOWN = frozenset((Phase.RECOVERY.value, Subphase.DESCENT.value, Subphase.LANDED.value))
"""Words of phases and sub-phases after apogee."""


class Duty(str, Enum):
    """One thing that a phase does, in words."""

    CONFIGURE = 'read the configuration'
    DISARM = 'disarm deployers and engines'
    MEASURE_PAD = 'measure the pad'
    WATCH_REST = 'detect what is held near its pad without an apogee'
    SET_DEBUG = 'set the flag debug'
    CLEAR_DEBUG = 'clear the flag debug'
    FORGET_FLIGHT = 'clear the data of the last flight: moments, latches, fired events'
    ARM = 'arm deployers and engines'
    BEGIN_ASCENT = 'reset controllers'
    DETECT_LIFTOFF = 'detect liftoff'
    RUN_CONTROLLERS = 'run controllers'
    RUN_EVENTS = 'run events'
    DETECT_APOGEE = 'detect apogee, watch the backup timer'
    SHUT_ENGINES_DOWN = 'shut all engines down'
    SOUND_BEACON = 'sound the beacon'
    SILENCE_BEACON = 'silence the beacon'


@dataclass(frozen=True)
class Duties:
    """What a phase does.

    Attributes
    ----------
    entry, update, exit : tuple of Duty
        Once on the way in, at every sample, once on the way out.
    tune : str
        What the buzzer plays on the way in; '' for silence.
    """

    entry: tuple[Duty, ...] = ()
    update: tuple[Duty, ...] = ()
    exit: tuple[Duty, ...] = ()
    tune: str = ''


DUTIES: Mapping[Phase, Duties] = {
    Phase.SETUP: Duties(entry=(Duty.CONFIGURE,)),
    Phase.PREFLIGHT: Duties(
        entry=(Duty.DISARM, Duty.CLEAR_DEBUG), update=(Duty.MEASURE_PAD,), tune='preflight'
    ),
    Phase.LAUNCH: Duties(
        entry=(Duty.FORGET_FLIGHT, Duty.ARM), update=(Duty.DETECT_LIFTOFF, Duty.RUN_EVENTS),
        tune='launch',
    ),
    Phase.FLIGHT: Duties(
        entry=(Duty.ARM, Duty.BEGIN_ASCENT),
        update=(
            Duty.WATCH_REST, Duty.DETECT_APOGEE, Duty.RUN_CONTROLLERS, Duty.RUN_EVENTS,
        ),
        tune='flight',
    ),
    Phase.RECOVERY: Duties(
        entry=(Duty.ARM, Duty.SHUT_ENGINES_DOWN, Duty.SOUND_BEACON),
        update=(Duty.WATCH_REST, Duty.RUN_EVENTS),
        exit=(Duty.SILENCE_BEACON,),
        tune='recovery',
    ),
    Phase.DEBUG: Duties(entry=(Duty.FORGET_FLIGHT, Duty.SET_DEBUG)),
}
"""What is done in each phase."""


@dataclass(frozen=True)
class Facts:
    """State of the vehicle that guards read.

    Attributes
    ----------
    altitude_known : bool
        Whether a recent sample gives an altitude.
    ignition_commanded : bool
        Whether ignition has been commanded.
    is_rearmed : bool
        Whether it was armed again after a restart on the pad.
    is_resuming : bool
        Whether a recorded flight waits to be taken up or dropped.
    objections : tuple of str
        What the required checks of `readiness` have found.
    has_asked : bool
        Whether the same was requested shortly before.
    ask_again_time : float
        Within which it must be requested again [s].
    is_supported : bool
        Whether something certainly holds the vehicle.
    is_bench : bool
        Whether the flight began in the phase debug.
    aloft : str
        Why it may still be in the air, '' where it is not.
    """

    altitude_known: bool = False
    ignition_commanded: bool = False
    is_rearmed: bool = False
    is_resuming: bool = False
    objections: tuple[str, ...] = ()
    has_asked: bool = False
    ask_again_time: float = math.nan
    is_supported: bool = False
    is_bench: bool = False
    aloft: str = ''


@dataclass(frozen=True)
class Guard:
    """Condition for a command to be accepted.

    Attributes
    ----------
    refusal : str
        When it is refused, in words.
    objection : callable
        Takes the facts, returns why it is refused now; '' if it is accepted.
    """

    refusal: str
    objection: Callable[[Facts], str]


def _unless(reason: str, allows: Callable[[Facts], bool]) -> Guard:
    return Guard(reason, lambda facts: '' if allows(facts) else reason)


def _both(first: Guard, second: Guard) -> Guard:
    return Guard(
        f'{first.refusal}, or {second.refusal}',
        lambda facts: first.objection(facts) or second.objection(facts),
    )


AGAIN = 'request it again within'
"""In the objection to the first request of two."""


def _twice(why: str) -> Guard:
    return Guard(
        f'{why}: {AGAIN} `flight.ask_again_time`', lambda facts:
        '' if facts.has_asked else f'{why}: {AGAIN} {facts.ask_again_time:g} s',
    )


ALTITUDE_KNOWN = _unless('no recent sample gives an altitude', lambda facts: facts.altitude_known)
LANDED = Guard('the vehicle may still be in the air', lambda facts: facts.aloft)
ASKED_TWICE = _twice('charges may fire after it, whatever sensors show')
IN_THE_AIR = _unless(
    'something holds the vehicle: use `~/debug` on a bench',
    lambda facts: facts.is_bench or not facts.is_supported,
)
SAFE_TWICE = _twice('it disarms, and every charge that is still due is given up')
FIRST_IGNITION = _unless(
    'it was commanded before: abort and launch again', lambda facts: not facts.ignition_commanded
)
NOT_REARMED = _unless(
    'a restart armed it again: abort and launch again', lambda facts: not facts.is_rearmed
)
MAY_IGNITE = _both(FIRST_IGNITION, NOT_REARMED)
NOT_RESUMING = _unless(
    'a recorded flight may have to be resumed', lambda facts: not facts.is_resuming
)
ON_PAD = _both(ALTITUDE_KNOWN, NOT_RESUMING)
READY = _both(ON_PAD, Guard(
    'a required check finds something', lambda facts: '; '.join(facts.objections)
))


@dataclass(frozen=True)
class Transition:
    """One row of the table; the first one that applies is taken.

    Attributes
    ----------
    source, target : Phase
        From where to where; the same phase if the command only sets a stamp.
    trigger : str
        One of `COMMANDS`, or what was observed.
    guard : Guard or None
        Condition of a command.
    apogee_source : str
        Source of the stamp of apogee. Every row into recovery has one, so that
        no vehicle comes down with events that wait for an apogee which never came.
    on_the_ground : bool
        Whether the row applies only where something certainly holds the vehicle.
    """

    source: Phase
    target: Phase
    trigger: str
    guard: Guard | None = None
    apogee_source: str = ''
    on_the_ground: bool = False

    @property
    def is_command(self) -> bool:
        """Whether a person or another program triggers it."""
        return self.trigger in COMMANDS


@dataclass(frozen=True)
class PhaseChange:
    """A transition that happened."""

    stamp_ns: int
    source: Phase
    target: Phase
    trigger: str


COMMANDS = (
    'set_home', 'launch', 'debug', 'ignition', 'abort', 'liftoff_override', 'apogee_override',
    'reset', 'safe',
)
"""Triggers that are requests; every other one is observed."""

TRANSITIONS: tuple[Transition, ...] = (
    Transition(Phase.SETUP, Phase.PREFLIGHT, 'configured'),
    Transition(Phase.PREFLIGHT, Phase.PREFLIGHT, 'set_home', ON_PAD),
    Transition(Phase.PREFLIGHT, Phase.LAUNCH, 'launch', READY),
    Transition(Phase.PREFLIGHT, Phase.DEBUG, 'debug', NOT_RESUMING),
    Transition(Phase.LAUNCH, Phase.LAUNCH, 'ignition', MAY_IGNITE),
    Transition(Phase.LAUNCH, Phase.PREFLIGHT, 'abort'),
    Transition(Phase.LAUNCH, Phase.FLIGHT, 'liftoff_override', ASKED_TWICE),
    Transition(Phase.LAUNCH, Phase.FLIGHT, 'liftoff'),
    Transition(Phase.FLIGHT, Phase.RECOVERY, 'apogee', apogee_source='detected'),
    Transition(Phase.FLIGHT, Phase.RECOVERY, 'fall', apogee_source='fall'),
    Transition(Phase.FLIGHT, Phase.RECOVERY, 'timer', apogee_source='timer'),
    Transition(Phase.FLIGHT, Phase.PREFLIGHT, 'stand-down'),
    Transition(Phase.FLIGHT, Phase.PREFLIGHT, 'abort', on_the_ground=True),
    Transition(Phase.FLIGHT, Phase.RECOVERY, 'abort', apogee_source='abort'),
    Transition(
        Phase.FLIGHT, Phase.RECOVERY, 'apogee_override', IN_THE_AIR, apogee_source='override'
    ),
    Transition(Phase.RECOVERY, Phase.PREFLIGHT, 'stand-down'),
    Transition(Phase.RECOVERY, Phase.PREFLIGHT, 'reset', LANDED),
    Transition(Phase.DEBUG, Phase.LAUNCH, 'launch'),
    Transition(Phase.DEBUG, Phase.FLIGHT, 'liftoff_override', ASKED_TWICE),
    Transition(Phase.DEBUG, Phase.RECOVERY, 'apogee_override', apogee_source='override'),
    Transition(Phase.DEBUG, Phase.PREFLIGHT, 'reset'),
    Transition(Phase.PREFLIGHT, Phase.LAUNCH, 'resumed in launch'),
    Transition(Phase.PREFLIGHT, Phase.FLIGHT, 'resumed in flight'),
    Transition(Phase.PREFLIGHT, Phase.RECOVERY, 'resumed in recovery', apogee_source='recorded'),
    *(
        Transition(phase, Phase.PREFLIGHT, 'safe', SAFE_TWICE)
        for phase in Phase if phase is not Phase.SETUP
    ),
    Transition(Phase.LAUNCH, Phase.PREFLIGHT, 'time restarted'),
    Transition(Phase.FLIGHT, Phase.PREFLIGHT, 'time restarted'),
    Transition(Phase.RECOVERY, Phase.PREFLIGHT, 'time restarted'),
)
"""Every way from one phase to another."""


def find_transition(phase: Phase, trigger: str, facts: Facts | None = None) -> Transition | None:
    """Return the row that a trigger takes in a phase, None if it has no meaning there."""
    facts = facts or Facts()
    for row in TRANSITIONS:
        applies = facts.is_supported or not row.on_the_ground
        if row.source is phase and row.trigger == trigger and applies:
            return row
    return None


def refusal(phase: Phase, command: str, facts: Facts, *, force: bool = False) -> str:
    """Return why a command is refused in a phase, '' where it is accepted.

    Parameters
    ----------
    phase : Phase
        Present phase.
    command : str
        One of `COMMANDS`.
    facts : Facts
        State of the vehicle.
    force : bool
        Whether guards are ignored.
    """
    if command not in COMMANDS:
        near = difflib.get_close_matches(command, COMMANDS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f'expected one of {", ".join(COMMANDS)}'
        return f"unknown command '{command}', {hint}"
    row = find_transition(phase, command, facts)
    if row is None:
        phases = dict.fromkeys(row.source.value for row in TRANSITIONS if row.trigger == command)
        return f"'{command}' is refused in {phase.value}, it belongs to {' or '.join(phases)}"
    objection = row.guard.objection(facts) if row.guard and not force else ''
    if not objection:
        return ''
    return f"'{command}' is {'not done yet' if AGAIN in objection else 'refused'}: {objection}"
