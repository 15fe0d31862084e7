# SPDX-License-Identifier: Apache-2.0
"""Publishers with different clocks on one topic, distinguished by their stamps."""
from __future__ import annotations

from collections.abc import Iterator

NEAR_NS = 500_000_000
"""How far a message may lie behind the newest of its line, and beyond what has passed [ns]."""
SILENT_NS = 500_000_000
"""How long a line must be silent before one takes its place that began at once where it ended."""
RESTARTED_NS = 3_000_000_000
"""How long before one does that began after a gap: of a sensor that was started again [ns]."""
BESIDE_NS = 10_000_000_000
"""How long before one does that was received beside it: of another publisher [ns]."""
ALONE_NS = 200_000_000
"""For how long only messages of other lines must have arrived then [ns]."""
_GAP_NS = 100_000_000
_RATE_CHANGE = 2.5
_LONGEST_INTERVAL_NS = 2_000_000_000
_MOST = 8


class _Line:
    """Stamps that continue each other.

    Attributes
    ----------
    stamp_ns, steady_ns, begun_ns : int
        Stamp and arrival of the newest message, arrival of the first one.
    wait_ns : int
        How long the followed line must be silent before this one takes its place.
    """

    def __init__(self, stamp_ns: int, steady_ns: int, wait_ns: int) -> None:
        self.stamp_ns, self.steady_ns, self.begun_ns = stamp_ns, steady_ns, steady_ns
        self.wait_ns = wait_ns
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

    def is_on_time(self, stamp_ns: int, steady_ns: int) -> bool:
        """Return whether a stamp goes on from this line as the steady clock does."""
        return abs(stamp_ns - self.stamp_ns - (steady_ns - self.steady_ns)) <= NEAR_NS

    def take(self, stamp_ns: int, steady_ns: int) -> None:
        interval_ns = min(steady_ns - self.steady_ns, _LONGEST_INTERVAL_NS)
        # One long interval is a stall, not the rate of the publisher.
        self._interval_ns = min(interval_ns, self._last_interval_ns)
        self._last_interval_ns = interval_ns
        self._offset_ns = max(self._offset_ns, stamp_ns - steady_ns)
        self.stamp_ns, self.steady_ns = stamp_ns, steady_ns

    def is_silent(self, steady_ns: int, longer_than_ns: int) -> bool:
        """Return whether no message has come for a time, and for longer than at its rate."""
        return steady_ns - self.steady_ns > max(longer_than_ns, _RATE_CHANGE * self._interval_ns)

    def has_ended(self, steady_ns: int) -> bool:
        """Return whether it went on for a while and is silent now."""
        return self.steady_ns - self.begun_ns >= ALONE_NS and self.is_silent(steady_ns, _GAP_NS)


class TimeLines:
    """Accepts the messages of the publisher of a topic that was there first, while it publishes.

    A message does not name its sender. The stamps of one publisher continue each other, and are
    here called a line; stamps of two clocks that alternate do not. Another line takes the place of
    the followed one when that has been silent, and the other one has continued alone: soon if it
    began just where the followed one ended, since that is one sensor whose clock was set; later if
    it began after a gap, since a sensor may have been started again; last if both were received
    together, since those are two publishers. The first line gets its place back with its first
    message that is on time.

    Attributes
    ----------
    refused : int
        Messages of another line in a row.
    offset : float
        How far the line of the last message that was refused, or whose line took the place of
        another, is ahead of the other one [s].
    changes : int
        How often another line was followed than before.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear every line."""
        self._first: _Line | None = None
        self._followed: _Line | None = None
        self._others: list[_Line] = []
        self._others_ns: int | None = None
        self._refused_ns = 0
        self.refused = self.changes = 0
        self.offset = 0.0

    def settle(self) -> None:
        """Take the line that is followed now for the first one."""
        self._first = self._followed

    @property
    def has_two(self) -> bool:
        """Whether messages of another line alternate with those of the accepted one."""
        return self.refused > 1

    def takes(self, stamp_ns: int, steady_ns: int) -> bool:
        """Return whether a message that arrives now belongs to the accepted line."""
        followed = self._followed
        if followed is None:
            self._first = self._followed = _Line(stamp_ns, steady_ns, SILENT_NS)
            return True
        line = self._line_of(followed, stamp_ns, steady_ns)
        if line is not followed:
            self.offset = (stamp_ns - followed.stamp_ns) * 1e-9
            if line is not self._first and not self._is_over(followed, line, steady_ns):
                self._refuse(steady_ns)
                return False
            self._change(followed, line)
        for other in self._others:
            other.wait_ns = BESIDE_NS
        self._others_ns = None
        self._forget_refused(steady_ns)
        return True

    def _line_of(self, followed: _Line, stamp_ns: int, steady_ns: int) -> _Line:
        """Return the line that a message belongs to, with this message."""
        self._others = [
            line for line in self._others if not line.is_silent(steady_ns, BESIDE_NS)
        ][-_MOST:]
        line = next(self._fitting(followed, stamp_ns, steady_ns), None)
        if line is not None:
            line.take(stamp_ns, steady_ns)
            return line
        line = _Line(stamp_ns, steady_ns, self._wait_ns(followed, steady_ns))
        self._others.append(line)
        return line

    def _wait_ns(self, followed: _Line, steady_ns: int) -> int:
        """Return how long the followed line must be silent for one that begins now."""
        # Of another publisher that has been silent too, it may be a replay that began again.
        if any(line.has_ended(steady_ns) for line in self._others):
            return BESIDE_NS
        return RESTARTED_NS if followed.is_silent(steady_ns, _GAP_NS) else SILENT_NS

    def _fitting(self, followed: _Line, stamp_ns: int, steady_ns: int) -> Iterator[_Line]:
        """Yield the lines that a message may belong to, the most probable one first."""
        first = (self._first,) if self._first else ()
        # A message that was delayed fits many lines, one that is on time seldom more than one.
        for line in (*first, followed, *self._others):
            if line.is_on_time(stamp_ns, steady_ns):
                yield line
        for line in (followed, *self._others):
            if line.fits(stamp_ns, steady_ns):
                yield line

    def _is_over(self, followed: _Line, line: _Line, steady_ns: int) -> bool:
        """Return whether another line has gone on alone for long enough after the followed one."""
        if self._others_ns is None:
            return False
        # Messages that were delayed arrive in one burst, those of the followed line too.
        alone_ns = steady_ns - self._others_ns
        if alone_ns >= ALONE_NS and followed.is_silent(steady_ns, BESIDE_NS):
            return True
        is_steady = min(alone_ns, steady_ns - line.begun_ns) >= ALONE_NS
        return is_steady and followed.is_silent(steady_ns, line.wait_ns)

    def _change(self, followed: _Line, line: _Line) -> None:
        """Follow another line from now on."""
        self._others = [other for other in self._others if other is not line]
        if followed is not self._first:
            self._others.append(followed)
        self._followed = line
        self.refused = 0
        self.changes += 1

    def _refuse(self, steady_ns: int) -> None:
        self.refused += 1
        self._refused_ns = steady_ns
        if self._others_ns is None:
            self._others_ns = steady_ns

    def _forget_refused(self, steady_ns: int) -> None:
        if self.refused and steady_ns - self._refused_ns > SILENT_NS:
            self.refused = 0
