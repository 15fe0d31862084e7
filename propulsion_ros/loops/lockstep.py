# SPDX-License-Identifier: Apache-2.0
"""Lockstep of a simulation: the replies that a step waits for, and its wall time."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

_BACK_NS = 1_000_000_000
"""A source that was left out is back once it sends a message that is no older than this [ns]."""


class Replies:
    """Keeps the last stamps of each awaited source, and which sources are left out.

    A source that is left out is not waited for until it is back.

    Parameters
    ----------
    pushing : sequence of str
        Sources of wrenches: without any of them there is nothing to simulate.
    weighing : sequence of str
        Sources of masses.
    """

    def __init__(self, pushing: Sequence[str], weighing: Sequence[str]) -> None:
        self._pushing, self._sources = tuple(pushing), (*pushing, *weighing)
        self.restart()

    def restart(self) -> None:
        """Wait for every source again, and forget their stamps."""
        self.left_out: dict[str, None] = {}
        self._ended: set[str] = set()
        self._last: dict[str, tuple[int, int | None]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether all sources are left out, so that no reply is waited for."""
        return all(source in self.left_out for source in self._sources)

    def note(self, source: str, stamp_ns: int) -> None:
        """Note the stamp of a message."""
        before = self._last.get(source)
        if before is None or stamp_ns != before[0]:
            self._last[source] = stamp_ns, before and before[0]

    def has_sent(self, source: str, stamp_ns: int) -> bool:
        """Return whether the last message of a source has this stamp."""
        last = self._last.get(source)
        return last is not None and last[0] == stamp_ns

    def end(self, source: str) -> None:
        """Note that a source has published its last wrench, as a paused actuator does."""
        self._ended.add(source)

    def is_back(self, source: str, stamp_ns: int, now_ns: int) -> bool:
        """Return whether a source was left out and its message brings it back; then wait for it."""
        if source not in self.left_out or not 0 <= now_ns - stamp_ns <= _BACK_NS:
            return False
        del self.left_out[source]
        self._ended.discard(source)
        return True

    def leave_out(self, sources: Iterable[str]) -> None:
        """Wait no longer for some sources."""
        self.left_out.update(dict.fromkeys(sources))

    def can_leave_out(self, silent: Sequence[str], has_publisher: Callable[[str], bool]) -> bool:
        """Return whether a simulation makes sense without the sources that are silent.

        A paused actuator does not end the simulation. An actuator that has vanished does, and so
        do actuators that are all silent but not paused: then their commands are missing.
        """
        present = [source for source in self._pushing if has_publisher(source)]
        vanished = [
            source for source in silent
            if source in self._pushing and source not in present and source not in self._ended
        ]
        absent = {*silent, *self.left_out}
        are_paused = all(source in self._ended for source in self._pushing if source in silent)
        replied = any(source not in absent for source in self._pushing)
        return bool(present) and not vanished and (replied or are_paused)

    def period_ns(self, source: str) -> int | None:
        """Return the time between the last two stamps of a source [ns], None before the second."""
        last = self._last.get(source)
        return None if last is None or last[1] is None else last[0] - last[1]


_REPEAT_NS = 1_000_000_000
"""Time after which a step without replies is repeated, and after which the graph is checked."""
_AT_ONCE_NS = 50_000_000
"""Replies that come within this time after a step was repeated are due to the repetition [ns]."""


class Lockstep:
    """Decides by wall time when a step is announced, repeated or overdue.

    Parameters
    ----------
    real_time_factor : float
        Simulated over wall time; 0: a step is due as soon as the one before is complete.
    timeout, start_timeout : float
        Wall time after which a missing reply is no longer waited for, and to wait for a complete
        graph before the first step [s]; 0: as ``timeout``.
    settling : float
        Wall time from a complete graph to the first step [s]: others may discover it later.

    Attributes
    ----------
    has_begun : bool
        Whether the first step is due.
    is_pending : bool
        Whether the present step has not been announced yet.
    skipped : int
        Number of steps in a row whose replies came only after they were announced again.
    """

    def __init__(
        self, real_time_factor: float, timeout: float, start_timeout: float, settling: float
    ) -> None:
        self._factor, self._timeout_ns = real_time_factor, round(timeout * 1e9)
        self._start_timeout_ns = round((start_timeout or timeout) * 1e9)
        self._settling_ns = round(settling * 1e9)
        self.restart(0)

    def restart(self, now_ns: int) -> None:
        """Wait for a complete graph, from this wall time on [ns]."""
        self.has_begun, self.is_pending, self.skipped = False, True, 0
        self._complete_ns: int | None = None
        self._start_ns = self._announced_ns = self._repeated_ns = self._checked_ns = now_ns

    def try_begin(self, now_ns: int, is_complete: bool) -> bool:
        """Take whether the graph is complete; begin and return True once that has lasted."""
        if not is_complete:
            self._complete_ns = None
        elif self._complete_ns is None:
            self._complete_ns = now_ns
        elif now_ns - self._complete_ns >= self._settling_ns:
            self.has_begun = True
            self._start_ns = self._announced_ns = self._repeated_ns = now_ns
        return self.has_begun

    def try_look(self, now_ns: int) -> bool:
        """Return whether the graph is to be checked again; if so, it counts as checked."""
        is_due = now_ns - self._checked_ns > _REPEAT_NS
        if is_due:
            self._checked_ns = now_ns
        return is_due

    def complete(self, now_ns: int) -> None:
        """Note that all replies to a step have come; the next step is pending."""
        is_repeated = self._repeated_ns > self._announced_ns
        is_late = is_repeated and now_ns - self._repeated_ns < _AT_ONCE_NS
        self.skipped = self.skipped + 1 if is_late else 0
        self.is_pending = True

    def try_announce(self, now_ns: int, elapsed_ns: int) -> bool:
        """Return whether the pending step is due by its simulated time; then it counts as sent."""
        is_early = self._factor > 0.0 and now_ns - self._start_ns < elapsed_ns / self._factor
        if not self.is_pending or is_early:
            return False
        self.is_pending = False
        self._announced_ns = now_ns
        return True

    def lag(self, now_ns: int, elapsed_ns: int) -> float:
        """Return the wall time by which the simulation is behind its pace [s]."""
        if not (self.has_begun and self._factor):
            return 0.0
        return (now_ns - self._start_ns - elapsed_ns / self._factor) * 1e-9

    def is_overdue(self, now_ns: int) -> bool:
        """Return whether the wait for replies, or for a complete graph, has timed out."""
        if self.has_begun and self.is_pending:
            return False
        limit_ns = self._timeout_ns if self.has_begun else self._start_timeout_ns
        return now_ns - self._announced_ns > limit_ns

    def wait_anew(self, now_ns: int) -> None:
        """Restart the timeout of the replies to the present step."""
        self._announced_ns = now_ns

    def try_repeat(self, now_ns: int) -> bool:
        """Return whether a step is to be repeated, as for a restarted node; then it is counted."""
        if not self.has_begun or self.is_pending:
            return False
        is_due = now_ns - max(self._repeated_ns, self._announced_ns) > _REPEAT_NS
        if is_due:
            self._repeated_ns = now_ns
        return is_due
