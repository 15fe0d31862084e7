# SPDX-License-Identifier: Apache-2.0
"""Publishers with different clocks on one topic, distinguished by their stamps."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from propulsion_ros.timing.stamps import INTERVALS

_MOST_ROWS = 200  # newest messages that are kept
_ENOUGH = 8  # intervals from which a rate is known
_STALL = 10  # an interval of so many periods is a stall, not a number of missing messages
_NEAR = 0.2  # offsets that differ by a smaller fraction are reported as one number
_LATEST = 10.0  # with a larger offset every second stamp is of another publisher [s]
_EVERY = {1: 'nearly every stamp'} | {
    i + 2: f'every {word} stamp' for i, word in enumerate((
        'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth',
    ))
}


class Interleaving:
    """Distinguishes one publisher with some wrong stamps from two publishers.

    The accepted stamps of one of two publishers are regular. Those of one publisher with wrong
    stamps have a hole for each wrong one. If every second stamp is wrong from the beginning, no
    hole is seen, and either is possible unless the clocks are far apart.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget every message."""
        self._rows: deque[tuple[int, int | None]] = deque(maxlen=_MOST_ROWS)
        self._period_ns = 0

    def take(self, stamp_ns: int) -> None:
        """Take the stamp of an accepted message [ns]."""
        self._rows.append((stamp_ns, None))

    def begin(self) -> None:
        """Begin a series of refused messages, after a time without any."""
        self._period_ns = self._usual_ns()
        rows = list(self._rows)
        self._rows.clear()
        self._rows.extend(rows[-1:])

    def refuse(self, stamp_ns: int, ahead_ns: int) -> None:
        """Take the stamp of a refused message, and its lead over the accepted ones [ns]."""
        self._rows.append((stamp_ns, ahead_ns))

    @property
    def finding(self) -> str:
        """Description of the refused messages, of which there is at least one."""
        places = [i for i, (_, ahead_ns) in enumerate(self._rows) if ahead_ns is not None]
        if len(places) < 2:
            return 'a few stamps are of another time'
        apart = round((places[-1] - places[0]) / (len(places) - 1))
        ahead = sorted(ahead_ns * 1e-9 for _, ahead_ns in self._rows if ahead_ns is not None)
        span = _span(min(map(abs, ahead)), max(map(abs, ahead)))
        of_two = ''
        if not self._has_holes(len(places)):
            if apart != 2 or abs(ahead[0]) > _LATEST:
                return f'two publishers, whose clocks are {span} s apart'
            of_two = ', of one publisher or of two'
        side = 'ahead' if ahead[len(ahead) // 2] > 0.0 else 'late'
        return f'{_EVERY.get(apart, f"one in {apart} stamps")} is {span} s {side}{of_two}'

    def _intervals(self) -> list[int]:
        stamps = [stamp_ns for stamp_ns, ahead_ns in self._rows if ahead_ns is None]
        return sorted(later - earlier for earlier, later in pairwise(stamps) if later > earlier)

    def _usual_ns(self) -> int:
        """Return the usual interval between accepted stamps [ns], 0 if it is not known."""
        intervals = self._intervals()
        return intervals[len(intervals) // 4] if len(intervals) >= _ENOUGH else 0

    def _has_holes(self, refused: int) -> bool:
        """Return whether about as many accepted stamps are missing as were refused."""
        period_ns = self._period_ns or self._usual_ns()
        if not period_ns:
            return False
        steps = [round(interval_ns / period_ns) for interval_ns in self._intervals()]
        missing = sum(step - 1 for step in steps if 1 < step < _STALL)
        return refused <= 2 * missing and missing <= 2 * refused + 1


def _span(low: float, high: float) -> str:
    if high - low <= _NEAR * high:
        return f'{high:.1f}'
    return f'{low:.1f} to {high:.1f}'


NEAR_NS = 500_000_000
"""Largest distance of a stamp behind the newest of its line, or ahead of the elapsed time [ns]."""
SILENT_NS = 500_000_000
"""Silence after which a line is replaced by one that began as it ended, of one sensor [ns]."""
RESTARTED_NS = 3_000_000_000
"""The same for a line that began after a gap, as of a restarted sensor [ns]."""
BESIDE_NS = 10_000_000_000
"""The same for a line that was received beside it, as of another publisher [ns]."""
ALONE_NS = 200_000_000
"""Least time before a replacement in which only messages of other lines arrive [ns]."""
_GAP_NS = 100_000_000  # a line that is silent for longer has a gap or has ended [ns]
_LASTING = 3  # fewest messages of a line that is preferred as nearer to the computer's clock
_LONGEST_INTERVAL_NS = 2_000_000_000  # a longer interval counts as this one [ns]
_MOST = 8  # lines that are kept beside the followed one and the first one


class _Line:
    """A sequence of stamps that continue each other.

    Attributes
    ----------
    stamp_ns, steady_ns, begun_ns : int
        Stamp and arrival of the newest message, arrival of the first one.
    wait_ns : int
        How long the followed line must be silent before this one replaces it.
    count : int
        Number of messages; 0 for a line that is only expected.
    """

    def __init__(self, stamp_ns: int, steady_ns: int, wait_ns: int, count: int = 1) -> None:
        self.begun_ns, self.wait_ns, self.count = steady_ns, wait_ns, count
        self._interval_ns = self._last_interval_ns = 0
        self.place(stamp_ns, steady_ns)

    def place(self, stamp_ns: int, steady_ns: int) -> None:
        """Set the stamp that a message of this line would have now."""
        self.stamp_ns, self.steady_ns = stamp_ns, steady_ns
        self._offset_ns = stamp_ns - steady_ns

    def fits(self, stamp_ns: int, steady_ns: int) -> bool:
        """Return whether a stamp continues this line.

        After a message that was delayed on its way or in a queue, the next one may be on time. Then
        its stamp is as far ahead of the steady clock as that of the least delayed message so far.
        """
        passed_ns = stamp_ns - self.stamp_ns
        least_delayed_ns = steady_ns + self._offset_ns - self.stamp_ns
        ahead_ns = NEAR_NS + max(steady_ns - self.steady_ns, NEAR_NS, least_delayed_ns)
        return -NEAR_NS <= passed_ns <= ahead_ns

    def is_on_time(self, stamp_ns: int, steady_ns: int) -> bool:
        """Return whether a stamp continues this line at the rate of the steady clock."""
        return abs(stamp_ns - self.stamp_ns - (steady_ns - self.steady_ns)) <= NEAR_NS

    def take(self, stamp_ns: int, steady_ns: int) -> None:
        interval_ns = min(steady_ns - self.steady_ns, _LONGEST_INTERVAL_NS)
        # One long interval is a stall, not the rate of the publisher.
        self._interval_ns = min(interval_ns, self._last_interval_ns)
        self._last_interval_ns = interval_ns
        self._offset_ns = max(self._offset_ns, stamp_ns - steady_ns)
        self.stamp_ns, self.steady_ns = stamp_ns, steady_ns
        self.count += 1

    @property
    def lead_ns(self) -> int:
        """Lead of the newest stamp over the steady clock [ns]."""
        return self.stamp_ns - self.steady_ns

    def is_silent(self, steady_ns: int, longer_than_ns: int) -> bool:
        """Return whether no message has come for a time that is also long for the line's rate."""
        return steady_ns - self.steady_ns > max(longer_than_ns, INTERVALS * self._interval_ns)

    def has_ended(self, steady_ns: int) -> bool:
        """Return whether the line lasted for a while and is silent now."""
        return self.steady_ns - self.begun_ns >= ALONE_NS and self.is_silent(steady_ns, _GAP_NS)


class TimeLines:
    """Accepts the messages of one publisher of a topic, while it publishes.

    A message does not name its publisher. Stamps that continue each other are called a line here;
    those of two clocks that alternate make two lines. The messages of one line, the followed one,
    are accepted. Another line replaces it when it is silent and the other one continues alone:
    soon if that began just as the followed one ended, since the clock of one sensor was set; later
    if it began after a gap, since a sensor may have been restarted; last if both were received
    together, since those are two publishers. The first line is followed again from its first
    message that is on time.

    The first line is the earliest one, until a line beside it proves to be nearer to the clock of
    the computer. When the vehicle is armed, the followed line becomes the first one for good.
    After a restart the record shows which line is the first. If that one is waited for, another
    line replaces it only when it has continued for `RESTARTED_NS` as the only one.

    Attributes
    ----------
    offset : float
        How far the line of the last message that was refused, or that changed the followed line,
        was ahead of the line that was followed [s].
    changes : int
        How often the followed line has changed.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear every line."""
        self._first: _Line | None = None
        self._followed: _Line | None = None
        self._others: list[_Line] = []
        self._others_ns: int | None = None
        self._is_settled = False
        self._beside = Interleaving()
        self._expected_ns = self._refused = self._refused_ns = self.changes = 0
        self.offset = 0.0

    def settle(self, *, is_resumed: bool = False) -> None:
        """Make the followed line the first one for good, unless a record has shown that one."""
        if not (is_resumed and self._is_settled):
            self._first, self._is_settled = self._followed, True

    def expect(self, offset_ns: int, *, waits: bool) -> None:
        """Make a line the first one that is so far ahead of the computer's clock [ns].

        ``waits`` is whether another line must continue alone before it is followed.
        """
        self.reset()
        self._expected_ns = offset_ns
        self._first, self._is_settled = _Line(0, 0, SILENT_NS, 0), True
        if waits:
            self._followed = self._first

    def offset_ns(self, clock_ns: int) -> int | None:
        """Return how far the followed line is ahead of the computer's clock [ns].

        None if there is no line; ``clock_ns`` is the lead of that clock over the steady one.
        """
        line = self._followed
        if line is None:
            return None
        return line.lead_ns - clock_ns if line.count else self._expected_ns

    def finding(self, steady_ns: int) -> str:
        """Describe messages of other lines that were refused lately; '' if there are none."""
        if self._refused < 2 or steady_ns - self._refused_ns > RESTARTED_NS:
            return ''
        return self._beside.finding

    def takes(self, stamp_ns: int, steady_ns: int, now_ns: int | None = None) -> bool:
        """Take a message that arrives now, and return whether it is accepted.

        Parameters
        ----------
        stamp_ns, steady_ns : int
            Stamp of the message, and its arrival on the steady clock [ns].
        now_ns : int, optional
            Its arrival by the computer's clock [ns]; if unknown, no line is nearer to that clock.
        """
        followed, first = self._followed, self._first
        if first is not None and not first.count and now_ns is not None:
            # The computer's clock may be set before the expected line has its first message.
            first.place(now_ns + self._expected_ns, steady_ns)
        if followed is None:
            self._followed = self._begin(stamp_ns, steady_ns)
            return True
        line = self._line_of(followed, stamp_ns, steady_ns)
        if line is not followed:
            self.offset = (stamp_ns - followed.stamp_ns) * 1e-9
            if now_ns is not None and self._is_nearer(line, followed, now_ns - steady_ns):
                self._first = line
            elif line is not self._first and not self._is_over(followed, line, steady_ns):
                self._refuse(stamp_ns, steady_ns, followed)
                return False
            self._change(followed, line)
        for other in self._others:
            other.wait_ns = BESIDE_NS
        self._others_ns = None
        self._beside.take(stamp_ns)
        return True

    def _begin(self, stamp_ns: int, steady_ns: int) -> _Line:
        """Return the line of the first message."""
        first = self._first
        if first is not None and first.is_on_time(stamp_ns, steady_ns):
            first.take(stamp_ns, steady_ns)
            return first
        line = _Line(stamp_ns, steady_ns, SILENT_NS)
        self._first = first or line
        return line

    def _is_nearer(self, line: _Line, followed: _Line, clock_ns: int) -> bool:
        """Return whether a line lasts, and is nearer to the computer's clock than the followed one.

        That clock is ``clock_ns`` ahead of the steady one.
        """
        is_lasting = line.count >= _LASTING and line.steady_ns - line.begun_ns >= ALONE_NS
        gain_ns = abs(followed.lead_ns - clock_ns) - abs(line.lead_ns - clock_ns)
        return not self._is_settled and is_lasting and gain_ns > NEAR_NS

    def _line_of(self, followed: _Line, stamp_ns: int, steady_ns: int) -> _Line:
        """Return the line to which a message belongs, after the message is added to it."""
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
        """Return how long the followed line must be silent before a new line replaces it."""
        # If another publisher became silent too, this may be its recording that is played again.
        if any(line.has_ended(steady_ns) for line in self._others):
            return BESIDE_NS
        return RESTARTED_NS if followed.is_silent(steady_ns, _GAP_NS) else SILENT_NS

    def _fitting(self, followed: _Line, stamp_ns: int, steady_ns: int) -> Iterator[_Line]:
        """Yield the lines to which a message may belong, the most probable one first."""
        first = (self._first,) if self._first else ()
        # A delayed message fits many lines, one that is on time seldom more than one.
        for line in (*first, followed, *self._others):
            if line.is_on_time(stamp_ns, steady_ns):
                yield line
        for line in (followed, *self._others):
            if line.fits(stamp_ns, steady_ns):
                yield line

    def _is_over(self, followed: _Line, line: _Line, steady_ns: int) -> bool:
        """Return whether another line has been alone long enough to replace the followed one."""
        if self._others_ns is None:
            return False
        if not followed.count:
            is_only = not any(
                other.count > 1 and not other.is_silent(steady_ns, RESTARTED_NS)
                for other in self._others if other is not line
            )
            return is_only and steady_ns - line.begun_ns >= RESTARTED_NS
        # Delayed messages arrive in one burst, which may contain the followed line too.
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
        self._refused = 0
        self._beside.reset()
        self.changes += 1

    def _refuse(self, stamp_ns: int, steady_ns: int, followed: _Line) -> None:
        if steady_ns - self._refused_ns > RESTARTED_NS:
            self._refused = 0
        if not self._refused:
            self._beside.begin()
        self._beside.refuse(stamp_ns, stamp_ns - steady_ns - followed.lead_ns)
        self._refused += 1
        self._refused_ns = steady_ns
        if self._others_ns is None:
            self._others_ns = steady_ns
