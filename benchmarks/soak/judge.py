# SPDX-License-Identifier: Apache-2.0
"""Says of every wrench which command explains it, or why none does."""
from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from benchmarks.node_peer import PERIOD_NS
from benchmarks.soak.members import TIMEOUT
from benchmarks.soak.oracle import ZERO, KnownWrenches, Wrench

EXPLAINED = ('commanded', 'safe', 'farewell', 'crossed')
"""A crossed one is of a command that was on its way while time jumped back: to a node that has
heard of the jump already it is one for later."""
UNEXPLAINED = {
    'unknown': 'of no command',
    'early': 'of a command stamped later',
    'stale': 'of a command older than its timeout',
    'back': 'of an older command than the wrench before',
    'dropped': 'safe, though the last command was still in force',
    'disorder': 'stamped before the wrench before it, or as it',
}
_TIMEOUT_NS = round(TIMEOUT * 1e9)
_GAP_NS = 10_000_000_000
"""A step of time beyond which a node has jumped and runs no steps between."""
_CROSSING_NS = 1_000_000_000
"""How long before a jump a command may have been sent and still be on its way."""
_KEPT = 8
"""How often a command is remembered: it comes again after seconds."""


@dataclass(frozen=True, order=True)
class Moment:
    """When something is stamped: in which time, since clocks jump back, and when there."""

    epoch: int
    stamp_ns: int


class WrenchJudge:
    """Judges the wrenches of one node.

    Parameters
    ----------
    known : KnownWrenches
        What its commands make.
    has_grid : bool
        Whether it says a wrench at each step.

    Attributes
    ----------
    counts : collections.Counter
        Wrenches by verdict: a key of EXPLAINED or of UNEXPLAINED; 'missing' are those of steps
        that were not heard of.
    """

    def __init__(self, known: KnownWrenches, has_grid: bool = True) -> None:
        self._known, self._has_grid = known, has_grid
        self.counts: Counter[str] = Counter()
        self._sent: dict[int, deque[Moment]] = {}
        self._epoch = 0
        self._newest_ns: dict[int, int] = {}
        self.begin_life()

    @property
    def is_followed(self) -> bool:
        """Whether the process has followed a command."""
        return self._shown is not None

    def begin_life(self) -> None:
        """Forget what was published: a new process knows no earlier command and no earlier time."""
        self._shown: Moment | None = None
        self._last: Moment | None = None

    def jump(self) -> None:
        """Note that the time of the commands jumps; none from before may be in force after."""
        self._epoch += 1

    def sent(self, number: int, stamp_ns: int) -> None:
        """Note that a command was sent."""
        sent = self._sent.setdefault(number, deque(maxlen=_KEPT))
        sent.append(Moment(self._epoch, stamp_ns))
        self._newest_ns[self._epoch] = stamp_ns

    def heard(self, stamp_ns: int, wrench: Wrench, is_leaving: bool = False) -> str:
        """Judge a wrench, and return the verdict.

        Parameters
        ----------
        stamp_ns : int
            Its stamp.
        wrench : Wrench
            What it says.
        is_leaving : bool
            Whether the node was told to stop, which it does with a zero wrench.
        """
        verdict = self._judge(stamp_ns, wrench, is_leaving)
        self.counts[verdict] += 1
        return verdict

    def _judge(self, stamp_ns: int, wrench: Wrench, is_leaving: bool) -> str:
        last = self._last
        epoch = 0 if last is None else last.epoch
        if is_leaving and wrench == ZERO and (last is None or stamp_ns >= last.stamp_ns):
            return 'farewell'
        # Without a grid what comes late corrects what was published of the same stamp.
        shortest_ns = 1 if self._has_grid else 0
        if last is not None and stamp_ns - last.stamp_ns < shortest_ns:
            if last.epoch == self._epoch:
                self._last = Moment(last.epoch, stamp_ns)
                return 'disorder'
            # There may have been more than one jump; a command will show it.
            epoch = last.epoch + 1
        moment = Moment(epoch, stamp_ns)
        if self._has_grid and last is not None and 0 < stamp_ns - last.stamp_ns <= _GAP_NS:
            self.counts['missing'] += (stamp_ns - last.stamp_ns) // PERIOD_NS - 1
        self._last = moment
        if wrench in self._known.safe:
            return self._judge_safe(moment)
        return self._judge_commanded(moment, wrench)

    def _judge_safe(self, moment: Moment) -> str:
        shown = self._shown
        if shown is None or shown.epoch != moment.epoch:
            return 'safe'
        is_in_force = 0 <= moment.stamp_ns - shown.stamp_ns <= _TIMEOUT_NS
        return 'dropped' if is_in_force else 'safe'

    def _judge_commanded(self, moment: Moment, wrench: Wrench) -> str:
        numbers = self._known.numbers.get(wrench)
        if numbers is None:
            return 'unknown'
        sent = sorted(m for number in numbers for m in self._sent.get(number, ()))
        passed = [m for m in sent if m.stamp_ns <= moment.stamp_ns]
        if sent and not passed:
            return 'early'
        fresh = [m for m in passed if moment.stamp_ns - m.stamp_ns <= _TIMEOUT_NS]
        # A clock that has jumped ahead leaves no trace in the order of the wrenches.
        present = [m for m in fresh if m.epoch >= moment.epoch]
        if not present:
            return 'crossed' if any(map(self._has_crossed, fresh)) else 'stale'
        if self._shown is not None:
            present = [m for m in present if m >= self._shown]
        if not present:
            return 'back'
        # Of those that look alike the oldest accuses least.
        self._shown = present[0]
        self._last = Moment(present[0].epoch, moment.stamp_ns)
        return 'commanded'

    def _has_crossed(self, sent: Moment) -> bool:
        """Return whether a command of an earlier time was sent just before that time ended."""
        return self._newest_ns[sent.epoch] - sent.stamp_ns <= _CROSSING_NS
