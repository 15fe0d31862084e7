# SPDX-License-Identifier: Apache-2.0
"""Publishers with different clocks on one topic, distinguished by their stamps."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

_MOST_ROWS = 200
"""Messages that are looked at, the newest."""
_ENOUGH = 8
"""Intervals that show a rate."""
_STALL = 10
"""So many periods without a message are a stall, and no missing messages."""
_NEAR = 0.2
"""Part of a time by which what is called the same may differ."""
_LATEST = 10.0
"""How wrong stamps of a publisher are at most that may be taken for another one's [s]."""
_EVERY = {1: 'nearly every stamp'} | {
    i + 2: f'every {word} stamp' for i, word in enumerate((
        'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth',
    ))
}


class Interleaving:
    """Distinguishes a publisher some of whose stamps are wrong from two that take turns.

    Each of two publishers goes on regularly by itself. One publisher misses a stamp of its own
    sequence for each that is wrong. Where every second one is wrong from the beginning, nothing
    is missed, and it may be either, but for clocks that are far apart.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget every message."""
        self._rows: deque[tuple[int, int | None]] = deque(maxlen=_MOST_ROWS)
        self._period_ns = 0

    def take(self, stamp_ns: int) -> None:
        """Take the stamp of a message that continues the others [ns]."""
        self._rows.append((stamp_ns, None))

    def begin(self) -> None:
        """Begin with messages that do not, after a time with none of them."""
        self._period_ns = self._usual_ns()
        rows = list(self._rows)
        self._rows.clear()
        self._rows.extend(rows[-1:])

    def refuse(self, stamp_ns: int, ahead_ns: int) -> None:
        """Take the stamp of one that does not, and how far it is ahead [ns]."""
        self._rows.append((stamp_ns, ahead_ns))

    @property
    def finding(self) -> str:
        """What is seen of at least one such message, in words."""
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
        """Return the usual interval between stamps [ns], 0 where it is not known."""
        intervals = self._intervals()
        return intervals[len(intervals) // 4] if len(intervals) >= _ENOUGH else 0

    def _has_holes(self, refused: int) -> bool:
        """Return whether about as many stamps are missing as have been refused."""
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
_LASTING = 3
"""Messages, at least, that make a line which is nearer to the computer's clock."""
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
    count : int
        Messages; 0 of one that is only expected.
    """

    def __init__(self, stamp_ns: int, steady_ns: int, wait_ns: int, count: int = 1) -> None:
        self.begun_ns, self.wait_ns, self.count = steady_ns, wait_ns, count
        self._interval_ns = self._last_interval_ns = 0
        self.place(stamp_ns, steady_ns)

    def place(self, stamp_ns: int, steady_ns: int) -> None:
        """Begin where a message of now would have a stamp."""
        self.stamp_ns, self.steady_ns = stamp_ns, steady_ns
        self._offset_ns = stamp_ns - steady_ns

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
        self.count += 1

    @property
    def lead_ns(self) -> int:
        """How far its newest stamp is ahead of the steady clock."""
        return self.stamp_ns - self.steady_ns

    def is_silent(self, steady_ns: int, longer_than_ns: int) -> bool:
        """Return whether no message has come for a time, and for longer than at its rate."""
        return steady_ns - self.steady_ns > max(longer_than_ns, _RATE_CHANGE * self._interval_ns)

    def has_ended(self, steady_ns: int) -> bool:
        """Return whether it went on for a while and is silent now."""
        return self.steady_ns - self.begun_ns >= ALONE_NS and self.is_silent(steady_ns, _GAP_NS)


class TimeLines:
    """Accepts the messages of one publisher of a topic, while it publishes.

    A message does not name its sender. The stamps of one publisher continue each other, and are
    here called a line; stamps of two clocks that alternate do not. Another line takes the place of
    the followed one when that has been silent, and the other one has continued alone: soon if it
    began just where the followed one ended, since that is one sensor whose clock was set; later if
    it began after a gap, since a sensor may have been started again; last if both were received
    together, since those are two publishers. The first line gets its place back with its first
    message that is on time.

    The first line is the one that was there first, until a line goes on beside it that is nearer
    to the clock of the computer. Once it is settled, when the vehicle is armed, it stays the first.
    After a restart it is the one that is expected by the record. Where that one must be waited
    for, another one takes its place only when it has gone on for `RESTARTED_NS` as the only one.

    Attributes
    ----------
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
        self._is_settled = False
        self._beside = Interleaving()
        self._expected_ns = self._refused = self._refused_ns = self.changes = 0
        self.offset = 0.0

    def settle(self, *, is_resumed: bool = False) -> None:
        """Take the line that is followed now for the first one, unless a record has that."""
        if not (is_resumed and self._is_settled):
            self._first, self._is_settled = self._followed, True

    def expect(self, offset_ns: int, *, waits: bool) -> None:
        """Take the line for the first one that is so far ahead of the computer's clock.

        Parameters
        ----------
        waits : bool
            Whether other lines must go on alone before one is followed.
        """
        self.reset()
        self._expected_ns = offset_ns
        self._first, self._is_settled = _Line(0, 0, SILENT_NS, 0), True
        if waits:
            self._followed = self._first

    def offset_ns(self, clock_ns: int) -> int | None:
        """Return how far the line that is followed is ahead of the computer's clock [ns].

        None without one; ``clock_ns`` is how far that clock is ahead of the steady one.
        """
        line = self._followed
        if line is None:
            return None
        return line.lead_ns - clock_ns if line.count else self._expected_ns

    def finding(self, steady_ns: int) -> str:
        """Return what messages of another line came lately beside the accepted one; '' for none."""
        if self._refused < 2 or steady_ns - self._refused_ns > RESTARTED_NS:
            return ''
        return self._beside.finding

    def takes(self, stamp_ns: int, steady_ns: int, now_ns: int | None = None) -> bool:
        """Return whether a message that arrives now belongs to the accepted line.

        Parameters
        ----------
        stamp_ns, steady_ns : int
            Of the message, and when it came on the steady clock [ns].
        now_ns : int, optional
            When it came by the computer's clock [ns]; where it is unknown, no line is nearer.
        """
        followed, first = self._followed, self._first
        if first is not None and not first.count and now_ns is not None:
            # The computer's clock may be set while its first message is waited for.
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
        """Return the line of the first message that is taken."""
        first = self._first
        if first is not None and first.is_on_time(stamp_ns, steady_ns):
            first.take(stamp_ns, steady_ns)
            return first
        line = _Line(stamp_ns, steady_ns, SILENT_NS)
        self._first = first or line
        return line

    def _is_nearer(self, line: _Line, followed: _Line, clock_ns: int) -> bool:
        """Return whether a line certainly goes on, and nearer to the computer's clock.

        Parameters
        ----------
        line, followed : _Line
            Of a message now, and the one that is followed.
        clock_ns : int
            How far the computer's clock is ahead of the steady one [ns].
        """
        is_lasting = line.count >= _LASTING and line.steady_ns - line.begun_ns >= ALONE_NS
        gain_ns = abs(followed.lead_ns - clock_ns) - abs(line.lead_ns - clock_ns)
        return not self._is_settled and is_lasting and gain_ns > NEAR_NS

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
        if not followed.count:
            is_only = not any(
                other.count > 1 and not other.is_silent(steady_ns, RESTARTED_NS)
                for other in self._others if other is not line
            )
            return is_only and steady_ns - line.begun_ns >= RESTARTED_NS
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
