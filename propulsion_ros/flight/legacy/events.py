# SPDX-License-Identifier: Apache-2.0
"""The event engine of Pickle Rick as it was flown, for comparison and for old configurations."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from propulsion_ros.flight.events.events import EventFired, EventRecord, EventSpec
from propulsion_ros.flight.events.variables import Variables
from propulsion_ros.flight.phases.progress import NO_DOUBT, Doubt

_MS = 1_000_000


@dataclass
class _Record:
    """What the engine remembers of one event; 0 ms means never."""

    has_fired: bool = False
    triggered_ms: int = 0
    acted_ms: int = 0
    count: int = 0
    held: bool = False


class LegacyEventEngine:
    """Evaluates events with two values and whole milliseconds since the start.

    What is unknown is false, whichever way it is compared. The time of a trigger is refreshed at
    each update that meets the condition, and counts however silent the sensors are. The last
    action counts as done at time 0, so an event of single fire that is met within its cooldown
    of that time is spent and never acts.
    """

    def __init__(self, events: Sequence[EventSpec]) -> None:
        self._events = tuple(events)
        self._sentences = [str(event) for event in self._events]
        self.reset()

    def reset(self) -> None:
        """Arm every event again and forget what fired."""
        self._records = [_Record() for _ in self._events]
        self._now_ms = 0

    def time_since(self, event_id: int) -> int | None:
        """Return how long ago an event's condition was last met [ns], None for never."""
        if not 0 <= event_id < len(self._records):
            return None
        triggered_ms = self._records[event_id].triggered_ms
        return (self._now_ms - triggered_ms) * _MS if triggered_ms else None

    def update(
        self,
        variables: Variables,
        stamp_ns: int,
        aged: Callable[[int], Variables] | None = None,
        doubt: Doubt = NO_DOUBT,
    ) -> list[EventFired]:
        """Evaluate every event and return what fired; see `EventEngine.update`.

        The flown software knew no doubt about time.
        """
        self._now_ms = now_ms = variables.clock_ns // _MS
        fired = []
        for event, record, why in zip(self._events, self._records, self._sentences, strict=True):
            if event.single_fire and record.has_fired:
                continue
            was_held, record.held = record.held, event.condition(variables) is True
            if not record.held:
                continue
            record.triggered_ms = now_ms
            record.has_fired = True
            if (now_ms - record.acted_ms) * _MS <= event.cooldown_ns:
                continue
            record.acted_ms = now_ms
            if not event.actions and was_held:
                continue
            record.count += 1
            fired.append(EventFired(
                event.id, event.name, stamp_ns, why, record.count, event.actions,
                tuple(event.condition.measured(variables)),
            ))
        return fired

    def records(self) -> tuple[EventRecord, ...]:
        """Return the single events that are spent."""
        return tuple(
            EventRecord(event.id, (self._now_ms - record.triggered_ms) * _MS, record.count)
            for event, record in zip(self._events, self._records, strict=True)
            if event.single_fire and record.has_fired
        )

    def spend_ignitions(self) -> None:
        """Spend nothing: the flown software did not."""

    def restore(self, records: Sequence[EventRecord], clock_ns: int, gap_ns: int) -> None:
        """Spend the events that were spent ``gap_ns`` before ``clock_ns``."""
        self.reset()
        self._now_ms = clock_ns // _MS
        for spent in records:
            record = self._records[spent.id]
            record.has_fired = True
            record.count = spent.count
            record.triggered_ms = max(self._now_ms - (spent.since_ns + gap_ns) // _MS, 1)
