# SPDX-License-Identifier: Apache-2.0
"""Fixed time steps driven by message stamps: equal stamped inputs give equal ticks and results."""
from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import IntArray
from propulsion_ros.timing.stamped_inputs import QUEUE_LIMIT, Ordering, StampedInputs

NEVER, FOREVER = -(2**63), 2**63
"""Stamps that lie before and after every other stamp [ns]."""


def period_from_rate(rate: float) -> int:
    """Return the period of a rate [Hz] in whole nanoseconds."""
    return round(1e9 / rate)


def ticks_per(key: str, rate: float, slower_rate: float) -> int:
    """Return how many ticks of ``rate`` make one of ``slower_rate``, the parameter ``key`` [Hz].

    Raises `ConfigError` if the rates do not divide.
    """
    if not divides(rate, slower_rate):
        raise ConfigError(key, f'{slower_rate:g} Hz does not divide {rate:g} Hz')
    return round(rate / slower_rate)


def divides(rate: float, slower_rate: float) -> bool:
    """Return whether a whole number of ticks of ``rate`` makes one of ``slower_rate`` [Hz]."""
    ratio = rate / slower_rate
    return 1.0 - 1e-9 <= ratio < 1e15 and abs(ratio - round(ratio)) <= 1e-9


@dataclass(frozen=True)
class Ticks:
    """A grid of ticks: tick k lies floor(k span_ns / count) nanoseconds after stamp 0.

    Every ``count`` ticks take ``span_ns`` exactly, so that a rate whose period is not a whole
    number of nanoseconds does not drift: 240 ticks of 240 Hz take 1 s.
    """

    span_ns: int
    count: int = 1

    @classmethod
    def of_rate(cls, rate: float) -> Ticks:
        """Return the ticks of a rate [Hz]."""
        period_ns = period_from_rate(rate)
        if abs(period_ns * rate - 1e9) <= 1e-3:
            return cls(period_ns)
        # Use the decimal rate as it is written, not the binary number nearest to it.
        exact = Fraction(repr(float(rate)))
        period = 1_000_000_000 / exact
        return cls(period.numerator, period.denominator)

    @property
    def dt(self) -> float:
        """Length of a step [s]: the same for all steps, although stamps are rounded down."""
        return self.span_ns * 1e-9 if self.count == 1 else self.span_ns / self.count * 1e-9

    def stamp(self, tick: int) -> int:
        """Return the stamp of a tick [ns]."""
        return tick * self.span_ns // self.count

    def first_from(self, stamp_ns: int) -> int:
        """Return the first tick that is not before a stamp."""
        return -(-stamp_ns * self.count // self.span_ns)


@dataclass(frozen=True)
class Grid(Ordering):
    """When ticks run: at which stamps, and which inputs they wait for."""

    ticks: Ticks
    """Stamps of the ticks, which count from stamp 0 and not from the first arrival."""


class FixedStepRunner(StampedInputs):
    """Applies stamped inputs in order and runs the ticks that are due by ``step(tick, stamp_ns)``.

    Before a tick runs, every input with a stamp up to the tick's own is applied, see
    `StampedInputs`; a late input is applied at the next tick.
    """

    def __init__(
        self,
        grid: Grid,
        sources: Sequence[str],
        apply: Callable[[str, int, Any], None],
        step: Callable[[int, int], None],
        on_jump: Callable[[int, int], None] = lambda from_ns, to_ns: None,
        trusted: Sequence[str] = (),
        delays_ns: Mapping[str, int] = MappingProxyType({}),
        lasting: str = '',
    ) -> None:
        self._ticks, self._step = grid.ticks, step
        super().__init__(grid, sources, apply, on_jump, trusted, delays_ns, lasting)

    def restart(self) -> None:
        """Forget all inputs and the next tick, as before the first input."""
        super().restart()
        self._next_tick = self._next_ns = 0

    def _continue_at(self, tick: int) -> None:
        """Continue with a tick as the next one."""
        self.last_stamp_ns = self._ticks.stamp(tick - 1)
        self._next_tick, self._next_ns = tick, self._ticks.stamp(tick)

    def due_until(self, stamp_ns: int) -> range:
        """Return the ticks that are due at a stamp and have not run; none before the first one."""
        if self.last_stamp_ns is None:
            return range(0)
        return range(self._next_tick, self._ticks.first_from(stamp_ns + 1))

    def stamps_of(self, ticks: range) -> IntArray:
        """Return the stamps of some ticks [ns]."""
        return np.array([self._ticks.stamp(tick) for tick in ticks], np.int64)

    def takes_run(self, source: str, stamps: IntArray, clock: str = '') -> bool:
        """Return whether a run of inputs of one source may be processed at once, by `pass_run`.

        Parameters
        ----------
        stamps : IntArray
            Stamps of the newest input, which is of this source, and of the run that follows it.
        clock : str
            Clock that comes with the run: 1 ns before each stamp, and at it; '' for none.
        """
        steps, first_ns = np.diff(stamps), int(stamps[0])
        sources = [source, clock] if clock else [source]
        return (
            self.clock_ns == (first_ns if clock else None)
            and self.newest_ns == first_ns
            and all(self._judges[each].newest_ns == first_ns for each in sources)
            and all(awaited in sources for awaited in self._ordering.wait_for)
            and not (self._strays or self._delays_ns)
            and self._lead_ns is None
            and all(item[3] == source for item in self._queue)
            and len(self._queue) + len(stamps) < QUEUE_LIMIT
            and len(sources) <= steps.min() <= steps.max() <= self._ordering.max_gap_ns
        )

    def pass_run(
        self, source: str, stamps: IntArray, clock: str, ticks: range, waiting: Mapping[int, Any]
    ) -> None:
        """Continue after a run of inputs whose ticks the caller has run.

        Parameters
        ----------
        source, stamps, clock
            Arguments for which `takes_run` returns True.
        ticks : range
            Ticks that were run, at least one: what `due_until` returns for the last stamp.
        waiting : mapping of int
            Payloads of the inputs that are due after these ticks, by their stamps.
        """
        more = len(stamps) - 1
        before_ns, last_ns = stamps[-2:].tolist()
        self._judges[source].take_next(before_ns, last_ns)
        self.newest_of[source] = self.newest_ns = last_ns
        if clock:
            self._judges[clock].take_next(last_ns - 1, last_ns)
            self.newest_of[clock] = self.clock_ns = last_ns
        order = self._order[source]
        self._arrivals += more
        self._queue = [
            (stamp_ns, order, self._arrivals - len(waiting) + i, source, payload)
            for i, (stamp_ns, payload) in enumerate(waiting.items(), start=1)
        ]
        self._applied = int(stamps[more - len(waiting)]), order
        self._continue_at(ticks.stop)

    def _is_late(self, source: str, stamp_ns: int) -> bool:
        """Return whether the tick before which an input was due has run."""
        last = self.last_stamp_ns
        return last is not None and stamp_ns <= last

    def _run(self) -> None:
        horizon = self._horizon()
        if horizon is None:
            return
        ticks = self._ticks
        if self.last_stamp_ns is None:
            # The first tick is the first one at which every awaited input exists.
            awaited = [self.first_of[s] for s in self._ordering.wait_for if s in self.first_of]
            first = max(awaited) if awaited else min(self.first_of.values())
            first_ns = first if self.first_ns is None else self.first_ns
            self._continue_at(ticks.first_from(first_ns))
        while (stamp_ns := self._next_ns) <= horizon:
            tick = self._next_tick
            self._apply_until(stamp_ns)
            self.last_stamp_ns = stamp_ns
            self._next_tick, self._next_ns = tick + 1, ticks.stamp(tick + 1)
            self._step(tick, stamp_ns)


class Place(NamedTuple):
    """A place in the order in which inputs are applied."""

    stamp_ns: int
    source: str = ''
    """The place is after the inputs of this source with this stamp; '' for after all of them."""


class Agenda:
    """Callbacks, each of which is due at a place in the order of the inputs from these sources."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._order = {source: i for i, source in enumerate(sources)}
        self._waiting: list[tuple[int, int, int, Callable[[], None]]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def clear(self) -> None:
        """Forget everything."""
        self._waiting.clear()

    def add(self, place: Place, act: Callable[[], None]) -> None:
        """Add a callback after a place, and after those that were added for it before."""
        order = self._order.get(place.source, len(self._order))
        self._count += 1
        heapq.heappush(self._waiting, (place.stamp_ns, order, self._count, act))

    def pass_to(self, stamp_ns: int, source: str = '') -> None:
        """Run the callbacks due before inputs of a source with this stamp, or, for '', a tick."""
        here = stamp_ns, self._order.get(source, len(self._order))
        while self._waiting and self._waiting[0][:2] < here:
            heapq.heappop(self._waiting)[3]()
