# SPDX-License-Identifier: Apache-2.0
"""The run itself: carries out a plan while the traffic flows, and prints what was found."""
from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.node_peer import PERIOD_NS
from benchmarks.soak.fleet import Fleet
from benchmarks.soak.plan import CLOCK, LEAVE, STAMPS, Event, is_jump
from benchmarks.soak.traffic import Traffic

_START_LIMIT = 240.0
_SILENCE, _FAR_SILENCE = 30.0, 120.0
"""After which a node that is up and commanded counts as dead [s]; starting included."""
_PERIOD = PERIOD_NS * 1e-9
_QUIET = 2.0
"""Without commands at the end [s], for the last of them and the last diagnostics to arrive."""
_SAMPLE = 5.0
_HEARING = 1.0
_BEHIND = 0.2
"""Lag of the sender beyond which steps are left out [s]."""


class Course:
    """One run.

    Parameters
    ----------
    fleet : Fleet
        The nodes, not yet started.
    traffic : Traffic
        To them.
    executor : rclpy executor
        Has the traffic.
    plan : sequence of Event
        What happens, in order.
    seconds : float
        How long it takes from when all nodes are up.

    Attributes
    ----------
    faults : list of str
        Nodes that fell silent.
    skipped : int
        Steps that the sender left out because it was late.
    steps : int
        Those that it made.
    done : collections.Counter
        Events by action.
    """

    def __init__(
        self, fleet: Fleet, traffic: Traffic, executor: Any, plan: Sequence[Event], seconds: float
    ) -> None:
        self._fleet, self._traffic, self._executor = fleet, traffic, executor
        self._events, self._seconds = deque(plan), seconds
        self._agenda: list[tuple[float, Callable[[str], None], str]] = []
        self._due = self._begun = time.monotonic()
        self._sampled = -_SAMPLE
        self._returns: dict[str, float] = {}
        self._silent: set[int] = set()
        self.faults: list[str] = []
        self.skipped = self.steps = 0
        self.done: Counter[str] = Counter()

    def run(self) -> None:
        """Start everything, run the plan, stop everything."""
        self._fleet.start_bare()
        for name in self._fleet.members:
            self._start(name)
            self._traffic.come(name)
        if down := self._wait_for_all():
            raise TimeoutError(f'not up within {_START_LIMIT:g} s: {", ".join(down)}')
        self._begun = time.monotonic()
        while (now := time.monotonic()) < self._begun + self._seconds:
            while self._events and self._events[0].time <= now - self._begun:
                self._happen(self._events.popleft(), now)
            self._watch(now)
            self._step()
        self.faults += [f'{name}: not up at the end' for name in self._wait_for_all()]
        self._spin_for(_QUIET)
        self._stop_all()

    def _wait_for_all(self) -> list[str]:
        """Go on until all nodes report that they follow, and return those that do not in time."""
        end = time.monotonic() + _START_LIMIT
        while time.monotonic() < end:
            self._follow_up(time.monotonic())
            down = [
                name for name, line in self._traffic.lines.items()
                if name not in self._fleet.running or not line.ledger.lives[-1].is_followed
            ]
            if (not down and not self._agenda) or self._fleet.counts['died']:
                break
            self._step()
        return down

    def _step(self) -> None:
        """Hear what comes until the next step is due, and make it."""
        while (left := self._due - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)
        late = -left
        if late > _BEHIND:
            skipped = int(late / _PERIOD)
            self.skipped += skipped
            self._due += skipped * _PERIOD
        self._traffic.step()
        self.steps += 1
        self._due += _PERIOD

    def _happen(self, event: Event, now: float) -> None:
        name, traffic = event.member, self._traffic
        self.done[event.action] += 1
        if event.action == CLOCK:
            traffic.shift_clock(event.amount, is_jump(event.amount))
        elif event.action == STAMPS:
            traffic.shift_stamps(name, event.amount)
        elif event.action == LEAVE:
            traffic.leave(name)
            self._returns[name] = now
            self._agenda.append((now + event.amount, self._return, name))
        elif name in self._fleet.running:
            if event.action == 'stop':
                traffic.leaving.add(name)
            else:
                traffic.lines[name].ledger.end()
            self._fleet.end(name, event.action)
            self._agenda.append((now + event.amount, self._start_again, name))

    def _return(self, name: str) -> None:
        self._traffic.come(name)
        self._returns[name] = time.monotonic()

    def _start(self, name: str) -> None:
        self._traffic.begin(name)
        self._fleet.start(name)

    def _start_again(self, name: str) -> None:
        """Start a node whose process has ended, or look again later."""
        if name in self._fleet.running:
            self._agenda.append((time.monotonic() + 0.1, self._start_again, name))
        else:
            self._hear_out()
            self._start(name)

    def _hear_out(self) -> None:
        """Hear what has arrived, so that no last word is taken for that of the next process."""
        end, heard = time.monotonic() + _HEARING, -1
        while self._traffic.heard != heard and time.monotonic() < end:
            heard = self._traffic.heard
            self._executor.spin_once(timeout_sec=0.0)

    def _follow_up(self, now: float) -> None:
        """See which processes have ended, and do what is due."""
        for name in self._fleet.poll():
            self._traffic.lines[name].ledger.end()
        for item in [item for item in self._agenda if item[0] <= now]:
            self._agenda.remove(item)
            item[1](item[2])

    def _watch(self, now: float) -> None:
        """Follow up, look for silent nodes, and note how large all are."""
        self._follow_up(now)
        for name, process in self._fleet.running.items():
            line = self._traffic.lines[name]
            since = max(process.begun, line.spoke_at, self._returns.get(name, 0.0))
            is_asked = line.publisher is not None and not process.ending
            limit = _FAR_SILENCE if line.member.is_far else _SILENCE
            if is_asked and now - since > limit and process.popen.pid not in self._silent:
                self._silent.add(process.popen.pid)
                self.faults.append(f'{name}: silent for {limit:g} s')
        if now - self._begun - self._sampled >= _SAMPLE:
            self._sampled = now - self._begun
            self._fleet.sample_memory(self._sampled)

    def _spin_for(self, seconds: float) -> None:
        """Hear, but send nothing."""
        for name in self._fleet.members:
            self._traffic.leave(name)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.01)

    def _stop_all(self) -> None:
        end = time.monotonic() + _START_LIMIT
        for name in self._fleet.running:
            self._traffic.leaving.add(name)
            self._fleet.end(name, 'stop')
        while self._fleet.running and time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.05)
            for name in self._fleet.poll():
                self._traffic.lines[name].ledger.end()
        self.faults += [f'{name}: does not end' for name in self._fleet.running]
