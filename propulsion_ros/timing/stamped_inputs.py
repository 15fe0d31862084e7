# SPDX-License-Identifier: Apache-2.0
"""Puts stamped inputs in the order of their stamps, and detects jumps of time.

Nothing here reads a clock. Stamps are integer nanoseconds, so that no rounding can make two runs
differ.
"""
from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.timing.stamps import Arrival, StampJudge, StampLimits

QUEUE_LIMIT = 10_000
"""Length of the queue of inputs; more are refused, so that a flood cannot fill memory."""

_NEXT, _STRAY = Arrival.NEXT, Arrival.STRAY

_Item = tuple[int, int, int, str, Any]
"""Queued input: when it is due [ns], rank of its source, number of arrival, source, payload."""


@dataclass(frozen=True, kw_only=True)
class Ordering:
    """Sources that are awaited, and limits beyond which a stamp is of another time."""

    wait_for: tuple[str, ...] = ()
    """Sources that must all reach a stamp before inputs and ticks at it are due; empty: any."""
    max_lag_ns: int | None = None
    """Timeout of a silent source, in stamp time, of the clock if that is awaited; None waits
    for ever."""
    lead_ns: int | None = None
    """Largest lead of time over a trusted source, a clock; nothing is done before its first
    message. None: no clock is awaited."""
    jump_back_ns: int = 1_000_000_000
    """A stamp further behind its source's newest one means that time has jumped."""
    max_gap_ns: int = 10_000_000_000
    """A stamp further ahead of its source's newest one means that time has jumped."""


class StampedInputs:
    """Applies stamped inputs in the order (stamp, source, arrival) as time passes them.

    Time is the newest stamp that all awaited sources have reached. An input that arrives after its
    time is applied next and counted as late; if no input is late, the result does not depend on
    when they arrive. A repetition of the input that was applied last, such as a simulator sends to
    a node that has missed a step, is ignored and not late.

    A stamp far from its source's newest is held until the next message of that source confirms that
    time has jumped, so that one wrong stamp cannot move time. A trusted source, a clock, needs no
    confirmation; once a clock was received, other inputs far from it are dropped.

    Parameters
    ----------
    sources : sequence of str
        Inputs, in the order in which equal stamps apply.
    apply : callable
        ``apply(source, stamp_ns, payload)``.
    on_jump : callable
        ``on_jump(from_ns, to_ns)``, called when time has jumped, before inputs of the new time.
    delays_ns : mapping of str to int
        How long after its stamp an input of a source takes effect; 0 where absent.
    lasting : str
        Source whose inputs are valid until the next one, as latched messages; '' for none. An old
        one applies at once, and is late if anything was applied or run after its stamp.
    passed : callable
        ``passed(stamp_ns)``, called when time has passed a stamp and all that was due is applied.

    Attributes
    ----------
    counts : collections.Counter
        'late', 'stray' (dropped for a stamp far off), 'overflow' and 'jump'.
    first_of, newest_of : dict of str to int
        First and newest stamp of each source that has sent an input.
    newest_ns, clock_ns : int or None
        Newest stamp of any source, and of a trusted one; None before the first.
    first_ns : int or None
        Stamp at which a recording is known to begin; None if it begins with the inputs.
    last_stamp_ns : int or None
        Stamp up to which everything is applied, None before the first input.
    """

    def __init__(
        self,
        ordering: Ordering,
        sources: Sequence[str],
        apply: Callable[[str, int, Any], None],
        on_jump: Callable[[int, int], None] = lambda from_ns, to_ns: None,
        trusted: Sequence[str] = (),
        delays_ns: Mapping[str, int] = MappingProxyType({}),
        lasting: str = '',
        passed: Callable[[int], None] = lambda stamp_ns: None,
    ) -> None:
        unknown = [source for source in ordering.wait_for if source not in sources]
        if unknown:
            raise ConfigError(
                'wait_for', f'unknown input {unknown[0]!r}, known: {", ".join(sources)}'
            )
        self._trusted = frozenset(trusted)
        self._lead_ns = ordering.lead_ns
        self._order = {source: i for i, source in enumerate(sources)}
        self._apply, self._on_jump, self._passed = apply, on_jump, passed
        self._delays_ns, self._lasting = dict(delays_ns), lasting
        self._limits = StampLimits(
            behind_ns=ordering.jump_back_ns, ahead_ns=ordering.max_gap_ns,
            agreeing=2, agree_ns=ordering.max_gap_ns,
        )
        at_once = replace(self._limits, agreeing=1)
        self._judges = {
            source: StampJudge(at_once if source in self._trusted else self._limits)
            for source in sources
        }
        self.counts: Counter[str] = Counter()
        self.first_ns: int | None = None
        self._begins: Mapping[str, int] = {}
        self._arrivals = 0
        self.restart()
        self.wait_as(ordering)

    def restart(self) -> None:
        """Forget all inputs and the time, as before the first input."""
        for judge in self._judges.values():
            judge.reset()
        self._queue: list[_Item] = []
        self.newest_of: dict[str, int] = {}
        self.first_of: dict[str, int] = {}
        self._strays: dict[str, tuple[int, Any]] = {}
        self.newest_ns: int | None = None
        self.clock_ns: int | None = None
        self.last_stamp_ns: int | None = None
        self._applied: tuple[int, int] | None = None
        self._last: dict[str, tuple[int, Any]] = {}

    @property
    def waiting(self) -> int:
        """Number of inputs in the queue."""
        return len(self._queue)

    def sources_behind(self, stamp_ns: int) -> list[str]:
        """Return the awaited sources that have not reached a stamp."""
        newest = self.newest_of
        return [s for s in self._ordering.wait_for if newest.get(s, stamp_ns - 1) < stamp_ns]

    def push(self, source: str, stamp_ns: int, payload: Any = None) -> bool:
        """Take one input, do what is due, and return whether the input was accepted."""
        if source == self._lasting and self._is_old(stamp_ns):
            has_begun = self.last_stamp_ns is not None
            self.counts['late'] += has_begun and not self._is_repeated(source, stamp_ns, payload)
            self._last[source] = stamp_ns, payload
            self._apply(source, stamp_ns, payload)
            return True
        judge = self._judges[source]
        if judge.newest_ns is None and stamp_ns == self._begins.get(source):
            judge.begin(stamp_ns)
        if source in self._trusted:
            if judge.newest_ns is None:
                self._begin_clock(stamp_ns, judge)
            elif judge.take(stamp_ns).is_jump:
                self._jump_to(stamp_ns, judge)
        elif self.clock_ns is not None:
            # Beside a clock no other input can make time jump.
            if judge.follow(stamp_ns, self.clock_ns) is _STRAY:
                self.counts['stray'] += 1
                return False
        elif self._lead_ns is None:
            # The first stamp of a source is compared with what the others have reached.
            arrival = judge.take(stamp_ns, self.newest_ns)
            is_plain = arrival is _NEXT and not self._strays
            if not (is_plain or self._is_accepted(source, stamp_ns, payload, arrival)):
                return False
        self._enqueue(source, stamp_ns, payload)
        self._run()
        return True

    def _is_old(self, stamp_ns: int) -> bool:
        """Return whether a stamp is not after what is applied, or is before a known beginning."""
        if self.last_stamp_ns is not None:
            return stamp_ns <= self.last_stamp_ns
        return self.first_ns is None or stamp_ns < self.first_ns

    def drop(self, source: str) -> list[Any]:
        """Remove the inputs of a source from the queue, and those that wait for a confirmation.

        Return the payloads that were in the queue, in its order.
        """
        dropped = [item[4] for item in sorted(self._queue) if item[3] == source]
        self._keep([item for item in self._queue if item[3] != source])
        self._strays.pop(source, None)
        self._judges[source].forget_strays()
        return dropped

    def revise(self, source: str, after_ns: int, change: Callable[[Any], Any]) -> None:
        """Replace each queued payload of a source that is due after a stamp by its ``change``.

        A payload that is changed to None is removed.
        """
        kept = []
        for item in self._queue:
            payload = item[4]
            if item[3] == source and item[0] > after_ns:
                payload = change(payload)
            if payload is not None:
                kept.append((*item[:4], payload))
        self._keep(kept)

    def wait_as(self, ordering: Ordering) -> None:
        """Use another ordering from now on, and do what is due by it."""
        self._ordering = ordering
        self._awaits_clock = not self._trusted.isdisjoint(ordering.wait_for)
        self._run()

    def follow_recording(self, first_ns: int, begins: Mapping[str, int]) -> None:
        """Prepare for the inputs of a recording, whose topics may drift far apart.

        Everything begins at ``first_ns``, each source that is no clock at a stamp of ``begins``.
        """
        self.first_ns, self._begins = first_ns, begins
        for judge in self._judges.values():
            judge.let_drift()

    def note(self, stamp_ns: int) -> None:
        """Note that a decision was made at a stamp; older inputs are late from now on."""
        self._applied = stamp_ns, len(self._order)

    def _keep(self, kept: list[_Item]) -> None:
        """Replace the queue."""
        heapq.heapify(kept)
        self._queue = kept

    def _begin_clock(self, stamp_ns: int, judge: StampJudge) -> None:
        """Take the first stamp of a clock, which is judged by what has been applied."""
        if judge.take(stamp_ns, self.last_stamp_ns).is_jump:
            self._jump_to(stamp_ns, judge)
        else:
            self._drop_far(stamp_ns)

    def _jump_to(self, stamp_ns: int, judge: StampJudge) -> None:
        """Continue in a new time of a clock, which needs no confirmation."""
        self._jump(judge.from_ns, stamp_ns)
        judge.begin(stamp_ns)

    def _is_accepted(self, source: str, stamp_ns: int, payload: Any, arrival: Arrival) -> bool:
        """Return whether an input is of the present time, or of a new one that it confirms."""
        if arrival is Arrival.DUPLICATE:
            return True
        stray = self._strays.pop(source, None)
        if arrival.is_jump and stray is not None:
            self._confirm(source, stamp_ns, stray)
            return True
        self.counts['stray'] += stray is not None
        if arrival is _STRAY:
            self._strays[source] = (stamp_ns, payload)
        return arrival is not _STRAY

    def _confirm(self, source: str, stamp_ns: int, stray: tuple[int, Any]) -> None:
        """Continue in a new time, with the stray inputs of all sources that agree on it."""
        agreeing = {
            other: held for other, held in self._strays.items()
            if self._limits.is_near(stray[0], held[0])
        }
        for other in agreeing:
            del self._strays[other]
        judge = self._judges[source]
        self._jump(judge.from_ns, stray[0])
        for agreeing_source, held in (*agreeing.items(), (source, stray)):
            self._judges[agreeing_source].begin(held[0])
            self._enqueue(agreeing_source, *held)
        judge.begin(stamp_ns)

    def _drop_far(self, clock_ns: int) -> None:
        """Remove inputs that came before the clock and are not of its time."""
        is_near = self._limits.is_near
        kept = [item for item in self._queue if is_near(clock_ns, item[0])]
        self.counts['stray'] += len(self._queue) - len(kept)
        self._keep(kept)
        for source in [s for s, newest in self.newest_of.items() if not is_near(clock_ns, newest)]:
            near = [stamp_ns for stamp_ns, _, _, own, _ in kept if own == source]
            del self.newest_of[source], self.first_of[source]
            if near:
                self.newest_of[source], self.first_of[source] = max(near), min(near)
        self.newest_ns = max(self.newest_of.values(), default=None)

    def _jump(self, from_ns: int, to_ns: int) -> None:
        self.counts['stray'] += len(self._queue) + len(self._strays)
        self.restart()
        self.counts['jump'] += 1
        self._on_jump(from_ns, to_ns)

    def _enqueue(self, source: str, stamp_ns: int, payload: Any) -> None:
        self.first_of.setdefault(source, stamp_ns)
        if source in self._delays_ns:
            stamp_ns += self._delays_ns[source]
        if stamp_ns >= self.newest_of.get(source, stamp_ns):
            self.newest_of[source] = stamp_ns
            if self.newest_ns is None or stamp_ns > self.newest_ns:
                self.newest_ns = stamp_ns
            if source in self._trusted and (self.clock_ns is None or stamp_ns > self.clock_ns):
                self.clock_ns = stamp_ns
        is_late = payload is not None and self._is_late(source, stamp_ns)
        if payload is None or (is_late and self._is_repeated(source, stamp_ns, payload)):
            return
        if len(self._queue) >= QUEUE_LIMIT:
            # Remove the input that is due last: a flood of far commands must not lock out others.
            self.counts['overflow'] += 1
            last_due = max(self._queue)
            if stamp_ns >= last_due[0]:
                return
            self._queue.remove(last_due)
            heapq.heapify(self._queue)
        self.counts['late'] += is_late
        self._arrivals += 1
        item = (stamp_ns, self._order[source], self._arrivals, source, payload)
        heapq.heappush(self._queue, item)

    def _horizon(self) -> int | None:
        """Return the stamp up to which ticks may run, None for none yet."""
        reached, lead_ns = self._awaited_horizon(), self._lead_ns
        if reached is None or lead_ns is None:
            return reached
        return None if self.clock_ns is None else min(reached, self.clock_ns + lead_ns)

    def _awaited_horizon(self) -> int | None:
        """Return the stamp that the awaited sources have passed, None for none yet."""
        # Beside an awaited clock other inputs do not advance time: a command is stamped ahead.
        newest = self.clock_ns if self._awaits_clock else self.newest_ns
        if newest is None or not self._ordering.wait_for:
            return newest
        horizon, max_lag_ns = self._reached_by_all(newest), self._ordering.max_lag_ns
        if max_lag_ns is None:
            return horizon
        lagged = newest - max_lag_ns
        if horizon is None:
            return lagged if lagged >= min(self.first_of.values()) else None
        return max(horizon, lagged)

    def _reached_by_all(self, newest: int) -> int | None:
        """Return the least stamp that an awaited source has reached, None if one has none."""
        for source in self._ordering.wait_for:
            reached = self.newest_of.get(source)
            if reached is None:
                return None
            if reached < newest:
                newest = reached
        return newest

    def _run(self) -> None:
        """Do what is due."""
        horizon = self._horizon()
        if horizon is not None:
            self._apply_until(horizon)
            self.last_stamp_ns = max(horizon, self.last_stamp_ns or horizon)
            self._passed(horizon)

    def _apply_until(self, stamp_ns: int) -> None:
        """Apply every input with a stamp up to this one."""
        while self._queue and self._queue[0][0] <= stamp_ns:
            due, _, _, source, payload = heapq.heappop(self._queue)
            self._applied = due, self._order[source]
            self._last[source] = due, payload
            self._apply(source, due, payload)

    def _is_late(self, source: str, stamp_ns: int) -> bool:
        """Return whether an input was applied that should come after this one."""
        return self._applied is not None and (stamp_ns, self._order[source]) < self._applied

    def _is_repeated(self, source: str, stamp_ns: int, payload: Any) -> bool:
        """Return whether an input equals the one of its source that was applied last."""
        newest_ns, last = self._last.get(source, (None, None))
        return newest_ns == stamp_ns and all(
            np.asarray(one).tobytes() == np.asarray(other).tobytes()
            for one, other in zip(_parts(last), _parts(payload), strict=True)
        )


def _parts(payload: Any) -> Sequence[Any]:
    """Return the arrays of a payload."""
    if is_dataclass(payload):
        return [getattr(payload, each.name) for each in fields(payload)]
    return payload if isinstance(payload, tuple) else (payload,)
