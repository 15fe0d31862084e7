"""Flight events: what is configured, what fired, and the engine between the two."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from propulsion_ros.flight.conditions import Condition
from propulsion_ros.flight.variables import Variables


@dataclass(frozen=True)
class Action:
    """What an event does.

    Attributes
    ----------
    kind : str
        'deployment'.
    target : int
        Id of the deployer.
    param : float
        On-time [ms].
    """

    kind: str
    target: int
    param: float


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
    """

    id: int
    name: str
    condition: Condition
    actions: tuple[Action, ...] = ()
    single_fire: bool = True
    cooldown_ns: int = 0


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
    """

    id: int
    name: str
    stamp_ns: int
    why: str
    count: int
    actions: tuple[Action, ...]


@dataclass
class _Record:
    """What the engine remembers of one event."""

    held: bool | None = None
    since_ns: int | None = None
    acted_ns: int | None = None
    count: int = 0


class EventEngine:
    """Evaluates events in the order of the list, each once per update.

    An event later in the list sees an earlier one's trigger in the same update, an earlier one
    sees it in the next. ``TimeSinceEvent`` counts from the last update in which the condition
    held. Of a repeating event it counts only while the condition is known to be false, so that
    the idiom "not low for 2 s" is never satisfied by a sensor that has fallen silent.
    """

    def __init__(self, events: Sequence[EventSpec]) -> None:
        self._events = tuple(events)
        self._sentences = [str(event.condition) for event in self._events]
        self.reset()

    def reset(self) -> None:
        """Arm every event again and forget what fired."""
        self._records = [_Record() for _ in self._events]
        self._clock_ns: int | None = None

    def time_since(self, event_id: int) -> int | None:
        """Return how long ago an event's condition last held [ns], None where unknown."""
        if not 0 <= event_id < len(self._records):
            return None
        record = self._records[event_id]
        # Unknown now: an absence of evidence must not look like a condition that ended.
        return None if record.held is None else record.since_ns

    def update(self, variables: Variables, stamp_ns: int) -> list[EventFired]:
        """Evaluate every event and return what fired, in the order of the list.

        Parameters
        ----------
        variables : Variables
            Now; its ``time_since_event`` should be this engine's `time_since`.
        stamp_ns : int
            Message stamp to report.
        """
        self._count_time(variables.clock_ns)
        fired = []
        for event, record, why in zip(self._events, self._records, self._sentences, strict=True):
            if event.single_fire and record.since_ns is not None:
                continue
            was_held = record.held
            record.held = event.condition(variables)
            if not record.held:
                continue
            record.since_ns = 0
            if not self._may_act(event, record, variables.clock_ns, was_held):
                continue
            record.acted_ns = variables.clock_ns
            record.count += 1
            fired.append(
                EventFired(event.id, event.name, stamp_ns, why, record.count, event.actions)
            )
        return fired

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
