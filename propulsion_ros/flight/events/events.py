# SPDX-License-Identifier: Apache-2.0
"""Flight events: what is configured, what fired, and the engine between the two."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from propulsion_ros.flight.events.conditions import All, Any, Condition, leaves
from propulsion_ros.flight.events.permits import Permits
from propulsion_ros.flight.events.variables import Variables
from propulsion_ros.flight.phases.progress import NO_DOUBT, Doubt
from propulsion_ros.timing.dwell import Dwell

SEMANTICS = ('safe', 'legacy')
IN_THE_AIR = ('flight', 'recovery')
"""Where an event that deploys is evaluated by default: never on the pad."""

ON_THE_WAY_UP = ('launch', 'flight')
"""Where an event that moves an engine is evaluated by default, unless it deploys too."""

LONGEST_GAP = 5.0
"""Longest gap between two samples over which the dwell of a condition goes on [s]."""


@dataclass(frozen=True)
class Action:
    """What an event does.

    Attributes
    ----------
    kind : str
        'deployment', 'engine', 'controller' or 'command'.
    target : int
        Id of the deployer, engine or controller; the destination of a command.
    param : float
        Deployment: on-time [ms], or angle [deg] of a servo. Engine: 1 ignites, 0 shuts down.
        Controller: 1 runs it, 0 stops it. Command: its argument.
    service, command : int
        Of a command alone: the service at the destination, and the command's number.
    """

    kind: str
    target: int
    param: float
    service: int = 0
    command: int = 0

    @property
    def deploys(self) -> bool:
        """Whether a deployer acts."""
        return self.kind == 'deployment'

    @property
    def ignites(self) -> bool:
        """Whether an engine is lit."""
        return self.kind == 'engine' and self.param != 0.0

    def __str__(self) -> str:
        if self.kind == 'command':
            return f'command {self.target} {self.service} {self.command} {self.param:g}'
        return f'{self.kind} {self.target} {self.param:g}'


@dataclass(frozen=True)
class EventSpec:
    """One configured event.

    Attributes
    ----------
    id : int
        Its place in the list, which is also the order of evaluation.
    name : str
        For people.
    condition : Condition
        When it is triggered.
    actions : tuple of Action
        Done in this order.
    single_fire : bool
        Whether it is spent after the first time.
    cooldown_ns : int
        Actions are repeated only after more than this [ns]; the trigger itself is not held back.
    phases : tuple of str
        Phases or sub-phases in which it is evaluated; () for every armed phase.
    dwell_ns : int
        For how long the condition must hold [ns]; samples in which it is unknown neither count
        nor reset that.
    max_age_ns : int
        Greatest age of a value that the sample itself lacks [ns].
    max_climb : float
        Upward speed above which it waits after an abort or override [m/s].
    lands : bool
        Whether the engines that it lights may be lit on the way down.
    """

    id: int
    name: str
    condition: Condition
    actions: tuple[Action, ...] = ()
    single_fire: bool = True
    cooldown_ns: int = 0
    phases: tuple[str, ...] = ()
    dwell_ns: int = 0
    max_age_ns: int = 0
    max_climb: float = math.inf
    lands: bool = False

    @cached_property
    def deploys(self) -> bool:
        """Whether a deployer acts."""
        return any(action.deploys for action in self.actions)

    @cached_property
    def ignites(self) -> bool:
        """Whether an engine is lit."""
        return any(action.ignites for action in self.actions)

    @cached_property
    def follows_ignition(self) -> bool:
        """Whether its condition reads the time since ignition."""
        return any(variable == 'TimeSinceIgnition' for variable, _ in leaves(self.condition))

    def is_permitted(self, permits: Permits) -> bool:
        """Return whether the flight allows it now."""
        # In recovery a charge fires even if the engine of its event is refused.
        lands = self.lands or (permits.is_over and self.deploys)
        may_ignite = (
            permits.ascent
            or (permits.landing and lands)
            or (permits.first and self.follows_ignition)
        )
        return (
            (permits.deploy or not self.deploys)
            and (may_ignite or not self.ignites)
            and permits.climb <= self.max_climb
        )

    def __str__(self) -> str:
        sentence = str(self.condition)
        if self.dwell_ns:
            if isinstance(self.condition, (All, Any)):
                sentence = f'({sentence})'
            sentence += f' for {self.dwell_ns * 1e-9:g} s'
        if self.phases not in ((), IN_THE_AIR, ON_THE_WAY_UP):
            sentence += f', in {" or ".join(self.phases)}'
        return sentence


@dataclass(frozen=True)
class EventFired:
    """One firing: an event with actions did them, or one without actions began to hold.

    Attributes
    ----------
    id, name : int, str
        The event.
    stamp_ns : int
        Stamp of the sample that triggered it [ns].
    why : str
        The condition as a sentence.
    count : int
        1 for the first firing of this flight.
    actions : tuple of Action
        What was done.
    measured : tuple of (str, str)
        The condition's variables and their values at that sample.
    """

    id: int
    name: str
    stamp_ns: int
    why: str
    count: int
    actions: tuple[Action, ...]
    measured: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class EventRecord:
    """What must outlive a restart: an event that is spent, and how long ago [ns] it fired.

    A count of 0 means that it is spent but has not fired.
    """

    id: int
    since_ns: int
    count: int


@dataclass
class _Record:
    """What the engine remembers of one event.

    Attributes
    ----------
    dwell : Dwell
        For how long its condition has held.
    held : bool or None
        Whether it is triggered, by the last update; None where that is unknown.
    since_ns : int or None
        How long ago it was triggered last [ns]; None before the first time.
    acted_ns : int or None
        When it acted last, on the flight clock [ns].
    count : int
        How often it has fired.
    is_spent : bool
        Whether a record, or a restart on the pad, has spent it.
    """

    dwell: Dwell
    held: bool | None = None
    since_ns: int | None = None
    acted_ns: int | None = None
    count: int = 0
    is_spent: bool = False


class EventEngine:
    """Evaluates events in the order of the list, each once per update.

    An event later in the list sees an earlier one's trigger in the same update, an earlier one
    sees it in the next. ``TimeSinceEvent`` counts from the last update in which the condition
    held. Of a repeating event it counts only while the condition is known to be false, so that
    the idiom "not low for 2 s" is never satisfied by a sensor that has fallen silent. Outside
    its phases, and while the flight does not permit it, an event is not evaluated: whether it is
    triggered is unknown, and it is not spent.
    """

    def __init__(self, events: Sequence[EventSpec]) -> None:
        self._events = tuple(events)
        self._sentences = [str(event) for event in self._events]
        self.reset()

    def reset(self) -> None:
        """Arm every event again and forget what fired."""
        self._records = [
            _Record(Dwell(event.dwell_ns * 1e-9, longest_gap=LONGEST_GAP))
            for event in self._events
        ]
        self._clock_ns: int | None = None

    def time_since(self, event_id: int, ahead_ns: int = 0) -> int | None:
        """Return how long ago an event's condition last held [ns], None where unknown.

        For an event of before a restart that is ``ahead_ns`` less.
        """
        if not 0 <= event_id < len(self._records):
            return None
        record = self._records[event_id]
        # Unknown now: an absence of evidence must not look like a condition that ended.
        if record.held is None or record.since_ns is None:
            return None
        return record.since_ns - (ahead_ns if record.is_spent else 0)

    def update(
        self,
        variables: Variables,
        stamp_ns: int,
        aged: Callable[[int], Variables] | None = None,
        doubt: Doubt = NO_DOUBT,
    ) -> list[EventFired]:
        """Evaluate every event and return what fired, in the order of the list.

        Parameters
        ----------
        variables : Variables
            Present values; ``time_since_event`` should be this engine's `time_since`.
        stamp_ns : int
            Message stamp to report.
        aged : callable, optional
            Takes the greatest age [ns], returns variables up to that age; see `HeldValues`.
        doubt : Doubt
            Events that deploy count from the latest that moments before a restart may be.
        """
        self._count_time(variables.clock_ns)
        fired = []
        for event, record, why in zip(self._events, self._records, self._sentences, strict=True):
            if _is_spent(event, record):
                continue
            known = aged(event.max_age_ns) if aged and event.max_age_ns else variables
            if doubt.ahead_ns and event.deploys:
                known = self._late(known, doubt)
            was_held = record.held
            # An event that lit an engine is timed on, or a shutdown that counts from it is lost.
            is_permitted = event.is_permitted(known.permits)
            is_timed = is_permitted or (event.ignites and record.count > 0)
            record.held = self._holds(event, record, known) if is_timed else None
            if not is_timed:
                record.dwell.reset()
            if not record.held:
                continue
            record.since_ns = 0
            if not is_permitted or not self._may_act(event, record, variables.clock_ns, was_held):
                continue
            record.acted_ns = variables.clock_ns
            record.count += 1
            fired.append(EventFired(
                event.id, event.name, stamp_ns, why, record.count, event.actions,
                tuple(event.condition.measured(known)),
            ))
        return fired

    def _late(self, known: Variables, doubt: Doubt) -> Variables:
        def latest(moment_ns: int | None) -> int | None:
            return None if moment_ns is None else doubt.latest(moment_ns)

        return replace(
            known,
            ignition_ns=latest(known.ignition_ns), liftoff_ns=latest(known.liftoff_ns),
            apogee_ns=latest(known.apogee_ns),
            time_since_event=partial(self.time_since, ahead_ns=doubt.ahead_ns),
        )

    def records(self) -> tuple[EventRecord, ...]:
        """Return what a restart must not do again: single events that are spent, and ignitions.

        Any other repeating event starts anew after a restart.
        """
        return tuple(
            EventRecord(event.id, record.since_ns or 0, record.count)
            for event, record in zip(self._events, self._records, strict=True)
            if _is_spent(event, record) or (event.ignites and record.count)
        )

    def spend_ignitions(self) -> None:
        """Spend each event that lights an engine by the time since ignition."""
        for event, record in zip(self._events, self._records, strict=True):
            if event.ignites and event.follows_ignition:
                record.is_spent = True

    def restore(self, records: Sequence[EventRecord], clock_ns: int, gap_ns: int) -> None:
        """Spend the events that were spent ``gap_ns`` before ``clock_ns``."""
        self.reset()
        self._clock_ns = clock_ns
        for spent in records:
            record = self._records[spent.id]
            record.is_spent = True
            record.count = spent.count
            if spent.count:
                record.held = True
                record.since_ns = spent.since_ns + gap_ns

    def _holds(self, event: EventSpec, record: _Record, variables: Variables) -> bool | None:
        """Return whether an event is triggered, None where that is unknown."""
        if event.phases and variables.words.isdisjoint(event.phases):
            record.dwell.reset()
            return None
        value = event.condition(variables)
        # Between two samples of a slow sensor a condition is unknown: the dwell goes on.
        return None if value is None else record.dwell.update(variables.clock_ns, value)

    def _count_time(self, clock_ns: int) -> None:
        step_ns = 0 if self._clock_ns is None else clock_ns - self._clock_ns
        self._clock_ns = clock_ns
        for record in self._records:
            if record.since_ns is not None and record.held is not None:
                record.since_ns += step_ns

    @staticmethod
    def _may_act(
        event: EventSpec, record: _Record, clock_ns: int, was_held: bool | None
    ) -> bool:
        if not event.actions and was_held:
            return False
        return record.acted_ns is None or clock_ns - record.acted_ns > event.cooldown_ns


def _is_spent(event: EventSpec, record: _Record) -> bool:
    """Return whether an event acts no more in this flight."""
    return record.is_spent or (event.single_fire and record.since_ns is not None)
