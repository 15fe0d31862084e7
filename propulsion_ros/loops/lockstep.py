# SPDX-License-Identifier: Apache-2.0
"""When a simulation announces its steps, repeats them and stops waiting, by wall time alone."""
from __future__ import annotations

_REPEAT_NS = 1_000_000_000
"""How often an unanswered step is announced again, and the graph is looked at again [ns]."""
_AT_ONCE_NS = 50_000_000
"""A reply that is due to what was announced last comes within [ns]."""


class Lockstep:
    """The wall time of a simulation whose steps wait for replies.

    Parameters
    ----------
    real_time_factor : float
        Simulated over wall time; 0: a step is due as soon as the one before is complete.
    timeout : float
        Wall time after which a missing reply is no longer waited for [s].
    start_timeout : float
        The same for a complete graph before the first step [s]; 0: as ``timeout``.
    settling : float
        From a complete graph to the first step [s]: other processes may learn of it later.

    Attributes
    ----------
    has_begun : bool
        Whether the first step is due.
    is_pending : bool
        Whether the present step has not been announced yet.
    skipped : int
        How many steps in a row had their replies right after they were announced again.
    """

    def __init__(
        self,
        real_time_factor: float,
        timeout: float,
        start_timeout: float = 0.0,
        settling: float = 0.3,
    ) -> None:
        self._factor, self._timeout_ns = real_time_factor, round(timeout * 1e9)
        self._start_timeout_ns = round((start_timeout or timeout) * 1e9)
        self._settling_ns = round(settling * 1e9)
        self.restart(0)

    def restart(self, now_ns: int) -> None:
        """Wait for a complete graph, from this wall time on [ns]."""
        self.has_begun, self.is_pending, self.skipped = False, True, 0
        self._complete_ns: int | None = None
        self._start_ns = self._announced_ns = self._repeated_ns = self._looked_ns = now_ns

    def begins(self, now_ns: int, is_complete: bool) -> bool:
        """Take whether the graph is complete; return whether it has been for long enough."""
        if not is_complete:
            self._complete_ns = None
        elif self._complete_ns is None:
            self._complete_ns = now_ns
        elif now_ns - self._complete_ns >= self._settling_ns:
            self.has_begun = True
            self._start_ns = self._announced_ns = self._repeated_ns = now_ns
        return self.has_begun

    def looks_again(self, now_ns: int) -> bool:
        """Return whether it is time to look at the graph again."""
        is_due = now_ns - self._looked_ns > _REPEAT_NS
        if is_due:
            self._looked_ns = now_ns
        return is_due

    def complete(self, now_ns: int) -> None:
        """Take that all replies to a step are there; the next one is pending."""
        is_repeated = self._repeated_ns > self._announced_ns
        is_late = is_repeated and now_ns - self._repeated_ns < _AT_ONCE_NS
        self.skipped = self.skipped + 1 if is_late else 0
        self.is_pending = True

    def announces(self, now_ns: int, elapsed_ns: int) -> bool:
        """Return whether the pending step is due, at its simulated time; then it counts as sent."""
        is_early = self._factor > 0.0 and now_ns - self._start_ns < elapsed_ns / self._factor
        if not self.is_pending or is_early:
            return False
        self.is_pending = False
        self._announced_ns = now_ns
        return True

    def lag(self, now_ns: int, elapsed_ns: int) -> float:
        """Return how far the simulated time is behind its pace in wall time [s]."""
        if not (self.has_begun and self._factor):
            return 0.0
        return (now_ns - self._start_ns - elapsed_ns / self._factor) * 1e-9

    def is_overdue(self, now_ns: int) -> bool:
        """Return whether replies, or a complete graph, were waited for in vain."""
        if self.has_begun and self.is_pending:
            return False
        limit_ns = self._timeout_ns if self.has_begun else self._start_timeout_ns
        return now_ns - self._announced_ns > limit_ns

    def wait_anew(self, now_ns: int) -> None:
        """Wait for the replies to the present step from now on."""
        self._announced_ns = now_ns

    def repeats(self, now_ns: int) -> bool:
        """Return whether a step is announced again, since a restarted node has not seen it."""
        if not self.has_begun or self.is_pending:
            return False
        is_due = now_ns - max(self._repeated_ns, self._announced_ns) > _REPEAT_NS
        if is_due:
            self._repeated_ns = now_ns
        return is_due
