# SPDX-License-Identifier: Apache-2.0
"""Publishers with different clocks on one topic, distinguished by their stamps."""
from __future__ import annotations

NEAR_NS = 500_000_000
"""How far a message may lie behind the newest of its line, and beyond what has passed [ns]."""
SILENT_NS = 500_000_000
"""How long a line must be silent before another one may take its place [ns]."""
ALONE_NS = 200_000_000
"""For how long only messages of other lines must have arrived then [ns]."""
_RATE_CHANGE = 2.5
_LONGEST_INTERVAL_NS = 2_000_000_000


class _Line:
    def __init__(self, stamp_ns: int, steady_ns: int) -> None:
        self.stamp_ns, self.steady_ns = stamp_ns, steady_ns
        self._offset_ns = stamp_ns - steady_ns
        self._interval_ns = self._last_interval_ns = 0

    def fits(self, stamp_ns: int, steady_ns: int) -> bool:
        """Return whether a stamp goes on from this line.

        After a message that was delayed on its way or in a queue, the next one may be on time. Then
        its stamp is as far ahead of the steady clock as that of the least delayed message so far.
        """
        passed_ns = stamp_ns - self.stamp_ns
        least_delayed_ns = steady_ns + self._offset_ns - self.stamp_ns
        ahead_ns = NEAR_NS + max(steady_ns - self.steady_ns, NEAR_NS, least_delayed_ns)
        return -NEAR_NS <= passed_ns <= ahead_ns

    def take(self, stamp_ns: int, steady_ns: int) -> None:
        interval_ns = min(steady_ns - self.steady_ns, _LONGEST_INTERVAL_NS)
        # One long interval is a stall, not the rate of the publisher.
        self._interval_ns = min(interval_ns, self._last_interval_ns)
        self._last_interval_ns = interval_ns
        self._offset_ns = max(self._offset_ns, stamp_ns - steady_ns)
        self.stamp_ns, self.steady_ns = stamp_ns, steady_ns

    def is_silent(self, steady_ns: int) -> bool:
        """Return whether its publisher has stopped, or its clock was set."""
        return steady_ns - self.steady_ns > max(SILENT_NS, _RATE_CHANGE * self._interval_ns)


class TimeLines:
    """Accepts the messages of the publisher of a topic that was there first, while it publishes.

    A message does not name its sender. The stamps of one publisher continue each other, and are
    here called a line; stamps of two clocks that alternate do not. Another line is accepted only
    when the present one is silent, as after its clock was set, and the other one has continued
    alone.

    Attributes
    ----------
    refused : int
        Messages of another line in a row.
    offset : float
        How far the refused line is ahead of the followed one [s].
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear every line."""
        self._line: _Line | None = None
        self._others_ns: int | None = None
        self._refused_ns = 0
        self.refused = 0
        self.offset = 0.0

    @property
    def has_two(self) -> bool:
        """Whether messages of another line alternate with those of the accepted one."""
        return self.refused > 1

    def takes(self, stamp_ns: int, steady_ns: int) -> bool:
        """Return whether a message that arrives now belongs to the accepted line."""
        line = self._line
        if line is None or self._is_over(line, steady_ns):
            self._line, self.refused, self._others_ns = _Line(stamp_ns, steady_ns), 0, None
            return True
        if line.fits(stamp_ns, steady_ns):
            line.take(stamp_ns, steady_ns)
            self._others_ns = None
            self._forget_refused(steady_ns)
            return True
        self.refused += 1
        self._refused_ns = steady_ns
        if self._others_ns is None:
            self._others_ns = steady_ns
        self.offset = (stamp_ns - line.stamp_ns) * 1e-9
        return False

    def _is_over(self, line: _Line, steady_ns: int) -> bool:
        """Return whether another line has gone on alone for a while after this one."""
        if self._others_ns is None:
            return False
        # Messages that were delayed arrive in one burst, those of the accepted line too.
        return line.is_silent(steady_ns) and steady_ns - self._others_ns >= ALONE_NS

    def _forget_refused(self, steady_ns: int) -> None:
        if self.refused and steady_ns - self._refused_ns > SILENT_NS:
            self.refused = 0
