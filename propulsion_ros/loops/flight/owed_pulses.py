# SPDX-License-Identifier: Apache-2.0
"""Pulses that events have begun: each is owed until it is complete, over restarts too."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from propulsion_ros.loops.flight.record_file import OwedPulse

ATTEMPTS = 3
"""How often the pulse of an event is begun, the first time included."""
APART_NS = 1_000_000_000
"""Time between the starts of two attempts [ns], in which the supply voltage can recover."""


class OwedPulses:
    """Stores the pulses that were begun and are not complete.

    Such a pulse is planned, until the record has it, then on; or it waits: one that a restart
    interrupted waits for its next attempt.

    Attributes
    ----------
    is_waiting : bool
        Whether a pulse waits.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Remove all pulses."""
        self._planned: dict[tuple[int, int], OwedPulse] = {}
        self._on: dict[tuple[int, int], OwedPulse] = {}
        self._waiting: dict[tuple[int, int], OwedPulse] = {}
        self._next_ns = 0

    @property
    def is_waiting(self) -> bool:
        """Whether a pulse waits."""
        return bool(self._waiting)

    @property
    def on(self) -> tuple[OwedPulse, ...]:
        """Pulses that were begun, and may be complete since `finish` was called."""
        return tuple(self._on.values())

    @property
    def owed(self) -> tuple[OwedPulse, ...]:
        """All pulses that are not complete."""
        return (*self._planned.values(), *self.on, *self._waiting.values())

    def plan(self, pulse: OwedPulse) -> None:
        """Take a pulse that begins once the record has it."""
        key = pulse.event, pulse.deployer
        self._waiting.pop(key, None)
        self._planned[key] = pulse

    def begin(self, event: int, deployer: int) -> None:
        """Begin a planned pulse."""
        pulse = self._planned.pop((event, deployer), None)
        if pulse is not None:
            self._on[event, deployer] = pulse

    def owe(self, pulses: Iterable[OwedPulse], next_ns: int) -> None:
        """Add pulses that a restart interrupted, to be attempted from a time on [ns]."""
        self._waiting.update({(pulse.event, pulse.deployer): pulse for pulse in pulses})
        self._next_ns = next_ns

    def take_spent(self) -> list[OwedPulse]:
        """Remove and return the waiting pulses that have no attempt left."""
        spent = [pulse for pulse in self._waiting.values() if pulse.attempts >= ATTEMPTS]
        for pulse in spent:
            del self._waiting[pulse.event, pulse.deployer]
        return spent

    def take_waiting(self) -> list[OwedPulse]:
        """Remove and return every pulse that waits."""
        waiting, self._waiting = list(self._waiting.values()), {}
        return waiting

    def plan_due(self, now_ns: int) -> list[OwedPulse]:
        """Plan the next attempt of all pulses that wait, if it is due, and return them."""
        # A time that is farther ahead than that means that the clock was set back.
        if 0 < self._next_ns - now_ns <= APART_NS:
            return []
        due = [replace(pulse, attempts=pulse.attempts + 1) for pulse in self.take_waiting()]
        for pulse in due:
            self.plan(pulse)
        return due

    def finish(self, on: Collection[int]) -> None:
        """Remove every pulse whose deployer is no longer on, because the pulse is complete."""
        self._on = {key: pulse for key, pulse in self._on.items() if pulse.deployer in on}

    def drop(self, event: int, deployer: int) -> None:
        """Remove a planned pulse that was refused."""
        self._planned.pop((event, deployer), None)

    def take_all(self) -> list[OwedPulse]:
        """Remove and return every pulse."""
        pulses = list(self.owed)
        self._planned, self._on, self._waiting = {}, {}, {}
        return pulses
