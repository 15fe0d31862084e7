# SPDX-License-Identifier: Apache-2.0
"""Pulses that events have begun: each is owed until it is complete, over restarts too."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from propulsion_ros.loops.flight.record_file import OwedPulse

ATTEMPTS = 3
"""How often the pulse of an event is begun, the first time included."""
APART_NS = 1_000_000_000
"""Between the beginnings of two attempts [ns]: a supply that broke down must recover."""


class OwedPulses:
    """Keeps what was begun and is not complete.

    A pulse is on, or it waits: one that a restart cut off waits for its next attempt.

    Attributes
    ----------
    is_waiting : bool
        Whether a pulse waits.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Owe nothing."""
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
        """All that is not complete."""
        return (*self.on, *self._waiting.values())

    def begin(self, pulse: OwedPulse) -> None:
        """Take a pulse that begins now."""
        key = pulse.event, pulse.deployer
        self._waiting.pop(key, None)
        self._on[key] = pulse

    def owe(self, pulses: Iterable[OwedPulse], next_ns: int) -> None:
        """Take what a restart cut off, to be attempted from a time on [ns]."""
        self._waiting.update({(pulse.event, pulse.deployer): pulse for pulse in pulses})
        self._next_ns = next_ns

    def take_spent(self) -> list[OwedPulse]:
        """Return the waiting pulses that were attempted often enough, and owe them no more."""
        spent = [pulse for pulse in self._waiting.values() if pulse.attempts >= ATTEMPTS]
        for pulse in spent:
            del self._waiting[pulse.event, pulse.deployer]
        return spent

    def take_waiting(self) -> list[OwedPulse]:
        """Return every pulse that waits, and owe it no more."""
        waiting, self._waiting = list(self._waiting.values()), {}
        return waiting

    def begin_due(self, now_ns: int) -> list[OwedPulse]:
        """Begin the next attempt of what waits, where its time has come, and return it."""
        # Where the clock was set back it is not waited for.
        if 0 < self._next_ns - now_ns <= APART_NS:
            return []
        due = [replace(pulse, attempts=pulse.attempts + 1) for pulse in self.take_waiting()]
        for pulse in due:
            self.begin(pulse)
        return due

    def finish(self, on: Collection[int]) -> None:
        """Owe no pulse any more whose deployer is off by itself."""
        self._on = {key: pulse for key, pulse in self._on.items() if pulse.deployer in on}

    def drop(self, pulse: OwedPulse) -> None:
        """Owe a pulse no more, as one that was refused."""
        self._on.pop((pulse.event, pulse.deployer), None)

    def take_cut(self) -> list[OwedPulse]:
        """Return what was on, and owe it no more."""
        cut, self._on = list(self._on.values()), {}
        return cut
