"""Fixed steps driven by message stamps: the same stamped inputs make the same ticks.

Nothing here reads a clock. Stamps and periods are integer nanoseconds, so that no rounding can
make two runs differ.
"""
from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from propulsion_ros.errors import ConfigError

QUEUE_LIMIT = 10_000
"""Inputs that may wait for their tick; more are refused, so that a flood cannot fill memory."""


def period_from_rate(rate: float) -> int:
    """Return the period of a rate [Hz] in whole nanoseconds."""
    return round(1e9 / rate)


def ticks_per(key: str, rate: float, slower_rate: float) -> int:
    """Return how many ticks of ``rate`` make one of ``slower_rate``, the parameter ``key``.

    Raises
    ------
    ConfigError
        Where the rates do not divide.
    """
    ratio = rate / slower_rate
    if ratio < 1.0 - 1e-9 or abs(ratio - round(ratio)) > 1e-9:
        raise ConfigError(key, f'{slower_rate:g} Hz does not divide {rate:g} Hz')
    return round(ratio)


@dataclass(frozen=True)
class Grid:
    """When ticks run.

    Attributes
    ----------
    period_ns : int
        Ticks lie at whole multiples of it, counted from stamp 0, not from the first arrival.
    wait_for : tuple of str
        Sources that must have passed a tick's stamp before it runs; empty: any one source.
    max_lag_ns : int or None
        Stamp time after which a silent source is not waited for; None waits for ever.
    jump_back_ns, max_gap_ns : int
        How far a stamp may lie behind or ahead of its source's newest before time has jumped.
    """

    period_ns: int
    wait_for: tuple[str, ...] = ()
    max_lag_ns: int | None = None
    jump_back_ns: int = 1_000_000_000
    max_gap_ns: int = 10_000_000_000


class FixedStepRunner:
    """Applies stamped inputs in order and runs the ticks that are due.

    Tick k lies at ``k * period_ns``. Before it runs, every input with a stamp up to the tick's
    own is applied in the order (stamp, source, arrival). An input that arrives after its tick
    has run is applied at the next one and counted as late; where nothing is late, the result
    does not depend on how the inputs were cut into calls.

    A stamp far from its source's newest is held until the next message of that source confirms
    that time has jumped, so that one wrong stamp can neither move the grid nor run a million
    ticks. A trusted source, a clock, needs no confirmation; once it was heard, other inputs far
    from it are dropped.

    Parameters
    ----------
    grid : Grid
        When ticks run.
    sources : sequence of str
        Inputs, in the order in which equal stamps apply.
    apply : callable
        ``apply(source, stamp_ns, payload)``.
    step : callable
        ``step(tick, stamp_ns)``.
    on_jump : callable
        ``on_jump(from_ns, to_ns)``, called when time has jumped, before inputs of the new time.
    trusted : sequence of str
        Sources whose jumps are believed at once.
    delays_ns : mapping of str to int
        How long after its stamp an input of a source takes effect; 0 where absent.

    Attributes
    ----------
    counts : collections.Counter
        'late', 'stray' (dropped for a stamp far off), 'overflow' and 'jump'.
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
    ) -> None:
        unknown = [source for source in grid.wait_for if source not in sources]
        if unknown:
            raise ConfigError(
                'wait_for', f'unknown input {unknown[0]!r}, known: {", ".join(sources)}'
            )
        self._grid = grid
        self._order = {source: i for i, source in enumerate(sources)}
        self._apply, self._step, self._on_jump = apply, step, on_jump
        self._trusted = frozenset(trusted)
        self._delays_ns = delays_ns
        self.counts: Counter[str] = Counter()
        self._arrivals = 0
        self.restart()

    def restart(self) -> None:
        """Forget all inputs and the place on the grid, as before the first input."""
        self._queue: list[tuple[int, int, int, str, Any]] = []
        self._newest: dict[str, int] = {}
        self._first: dict[str, int] = {}
        self._strays: dict[str, tuple[int, Any]] = {}
        self._next_tick: int | None = None

    @property
    def last_stamp_ns(self) -> int | None:
        """Stamp of the tick that ran last, None before the first."""
        return None if self._next_tick is None else (self._next_tick - 1) * self._grid.period_ns

    @property
    def newest_ns(self) -> int | None:
        """Newest stamp that any source has reached, None before the first input."""
        return max(self._newest.values(), default=None)

    @property
    def clock_ns(self) -> int | None:
        """Newest stamp of the trusted sources, None before one was heard."""
        return max((self._newest[s] for s in self._trusted if s in self._newest), default=None)

    def behind(self, stamp_ns: int) -> str:
        """Return the awaited sources that have not passed a stamp, for messages."""
        late = [s for s in self._grid.wait_for if self._newest.get(s, stamp_ns - 1) < stamp_ns]
        return ', '.join(late)

    def push(self, source: str, stamp_ns: int, payload: Any = None) -> bool:
        """Take one input and run every tick that it makes due; False where it was not taken."""
        if source in self._trusted:
            newest = self._newest.get(source)
            if newest is None:
                self._drop_far(stamp_ns)
            elif self._is_far(newest, stamp_ns):
                self._jump(newest, stamp_ns)
        elif not self._is_believed(source, stamp_ns, payload):
            return False
        self._enqueue(source, stamp_ns, payload)
        self._run()
        return True

    def drop(self, source: str) -> None:
        """Forget the inputs of a source that wait for their tick."""
        self._forget_queued({source})

    def _forget_queued(self, sources: Collection[str]) -> int:
        """Take the inputs of some sources out of the queue and return how many they were."""
        kept = [item for item in self._queue if item[3] not in sources]
        dropped = len(self._queue) - len(kept)
        heapq.heapify(kept)
        self._queue = kept
        return dropped

    def _is_believed(self, source: str, stamp_ns: int, payload: Any) -> bool:
        """Return whether an input is of the present time, or of a new one that it confirms."""
        if self.clock_ns is not None:
            # Against a clock no other input can move time.
            is_far = self._is_far(self.clock_ns, stamp_ns)
            self.counts['stray'] += is_far
            return not is_far
        # The first stamp of a source is held against what the others have reached.
        newest = self._newest.get(source)
        newest = self.newest_ns if newest is None else newest - self._delays_ns.get(source, 0)
        if newest is not None and self._is_far(newest, stamp_ns):
            return self._confirm(source, newest, stamp_ns, payload)
        self.counts['stray'] += self._strays.pop(source, None) is not None
        return True

    def _drop_far(self, clock_ns: int) -> None:
        """Forget inputs that came before the clock and are not of its time."""
        far = [s for s, newest in self._newest.items() if self._is_far(clock_ns, newest)]
        for source in far:
            del self._newest[source], self._first[source]
        self.counts['stray'] += self._forget_queued(far)

    def _is_far(self, newest: int, stamp_ns: int) -> bool:
        return not -self._grid.jump_back_ns <= stamp_ns - newest <= self._grid.max_gap_ns

    def _confirm(self, source: str, newest: int, stamp_ns: int, payload: Any) -> bool:
        """Return whether an earlier stray and this one agree that time has jumped."""
        stray = self._strays.pop(source, None)
        if stray is None or not 0 <= stamp_ns - stray[0] <= self._grid.max_gap_ns:
            self.counts['stray'] += stray is not None
            self._strays[source] = (stamp_ns, payload)
            return False
        self._jump(newest, stray[0])
        self._enqueue(source, *stray)
        return True

    def _jump(self, from_ns: int, to_ns: int) -> None:
        self.counts['stray'] += len(self._queue) + len(self._strays)
        self.restart()
        self.counts['jump'] += 1
        self._on_jump(from_ns, to_ns)

    def _enqueue(self, source: str, stamp_ns: int, payload: Any) -> None:
        self._first.setdefault(source, stamp_ns)
        stamp_ns += self._delays_ns.get(source, 0)
        self._newest[source] = max(stamp_ns, self._newest.get(source, stamp_ns))
        if payload is None:
            return
        if len(self._queue) >= QUEUE_LIMIT:
            # What is due last is lost, so that a flood of far commands locks out no near one.
            self.counts['overflow'] += 1
            last_due = max(self._queue)
            if stamp_ns >= last_due[0]:
                return
            self._queue.remove(last_due)
            heapq.heapify(self._queue)
        last = self.last_stamp_ns
        if last is not None and stamp_ns <= last:
            self.counts['late'] += 1
        self._arrivals += 1
        item = (stamp_ns, self._order[source], self._arrivals, source, payload)
        heapq.heappush(self._queue, item)

    def _horizon(self) -> int | None:
        """Return the stamp up to which ticks may run, None for none yet."""
        newest = self.newest_ns
        if newest is None:
            return None
        wait_for = self._grid.wait_for
        if not wait_for:
            return newest
        passed = [self._newest[source] for source in wait_for if source in self._newest]
        horizon = min(passed) if len(passed) == len(wait_for) else None
        if self._grid.max_lag_ns is not None:
            lagged = newest - self._grid.max_lag_ns
            if horizon is None:
                return lagged if lagged >= min(self._first.values()) else None
            return max(horizon, lagged)
        return horizon

    def _run(self) -> None:
        horizon = self._horizon()
        if horizon is None:
            return
        period = self._grid.period_ns
        if self._next_tick is None:
            # The first tick is the first one at which every awaited input exists.
            awaited = [self._first[s] for s in self._grid.wait_for if s in self._first]
            first = max(awaited) if awaited else min(self._first.values())
            self._next_tick = -(-first // period)
        while self._next_tick * period <= horizon:
            tick, stamp_ns = self._next_tick, self._next_tick * period
            while self._queue and self._queue[0][0] <= stamp_ns:
                due, _, _, source, payload = heapq.heappop(self._queue)
                self._apply(source, due, payload)
            self._next_tick = tick + 1
            self._step(tick, stamp_ns)
