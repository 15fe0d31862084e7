"""The time that flight logic counts in, made from message stamps that may jump."""
from __future__ import annotations

from enum import Enum

_LATE_NS = 500_000_000


class Stamp(Enum):
    """What a stamp turned out to be."""

    ACCEPTED = 'accepted'
    DUPLICATE = 'duplicate'
    LATE = 'late'
    STRAY = 'stray'
    JUMPED = 'jumped'
    RESTARTED = 'restarted'

    @property
    def is_accepted(self) -> bool:
        """Whether the sample with this stamp is to be used."""
        return self in (Stamp.ACCEPTED, Stamp.JUMPED, Stamp.RESTARTED)


class FlightClock:
    """Nanoseconds that never run backward and never leap, driven by message stamps.

    The clock advances by the difference of two stamps, but never by more than the longest step.
    A stamp that does not advance is a duplicate; one less than 0.5 s behind is late. Any other
    stamp that does not follow on is believed only when the next one follows on from it: a single
    stray stamp changes nothing. After a believed jump back the clock goes on from where it was,
    unless the new stamp lies before the first one of the flight: then time has started again,
    where that may be.

    Parameters
    ----------
    longest_step : float
        [s].

    Attributes
    ----------
    now_ns : int
        The clock.
    stamp_ns : int or None
        The last stamp that was accepted.
    counts : dict of Stamp to int
        How many stamps were of each kind.
    """

    def __init__(self, longest_step: float) -> None:
        self._longest_step_ns = round(longest_step * 1e9)
        self.counts = dict.fromkeys(Stamp, 0)
        self.reset()

    def reset(self) -> None:
        """Start again at 0, without a stamp; the counts go on."""
        self.now_ns = 0
        self.stamp_ns: int | None = None
        self._first_ns: int | None = None
        self._candidate_ns: int | None = None

    def begin_flight(self) -> None:
        """Take the last stamp, or the next if there is none, as the first of a flight."""
        self._first_ns = self.stamp_ns

    def resume(self, clock_ns: int, first_ns: int) -> None:
        """Go on from where the clock of a flight before a restart would stand now.

        Parameters
        ----------
        clock_ns : int
            What the clock is to show at the last stamp [ns].
        first_ns : int
            First stamp of that flight [ns].
        """
        self.now_ns = clock_ns
        self._first_ns = first_ns

    def advance(self, stamp_ns: int, *, may_restart: bool = True) -> Stamp:
        """Take a stamp and say what it is; the clock moves where it is accepted.

        Parameters
        ----------
        stamp_ns : int
            Of a sample [ns].
        may_restart : bool
            Whether time may start again; else any jump back is one of a clock that was set.
        """
        verdict = self._judge(stamp_ns)
        if verdict is Stamp.RESTARTED and not may_restart:
            verdict = Stamp.JUMPED
            # The flight goes on in the new time: what follows in it is no restart either.
            self._first_ns = stamp_ns
        self.counts[verdict] += 1
        if not verdict.is_accepted:
            self._candidate_ns = stamp_ns if verdict is Stamp.STRAY else None
            return verdict
        if verdict is Stamp.RESTARTED:
            self.reset()
        if self.stamp_ns is not None:
            step_ns = stamp_ns - self.stamp_ns
            if verdict is Stamp.JUMPED and step_ns < 0 and self._candidate_ns is not None:
                step_ns = stamp_ns - self._candidate_ns
            self.now_ns += min(step_ns, self._longest_step_ns)
        self.stamp_ns = stamp_ns
        self._candidate_ns = None
        if self._first_ns is None:
            self._first_ns = stamp_ns
        return verdict

    def _judge(self, stamp_ns: int) -> Stamp:
        if self.stamp_ns is None:
            return Stamp.ACCEPTED
        step_ns = stamp_ns - self.stamp_ns
        if step_ns == 0:
            return Stamp.DUPLICATE
        if -_LATE_NS < step_ns < 0:
            return Stamp.LATE
        if 0 < step_ns <= self._longest_step_ns:
            return Stamp.ACCEPTED
        if not self._follows_candidate(stamp_ns):
            return Stamp.STRAY
        return Stamp.RESTARTED if self._is_restart(stamp_ns) else Stamp.JUMPED

    def _is_restart(self, stamp_ns: int) -> bool:
        return self._first_ns is not None and stamp_ns < self._first_ns

    def _follows_candidate(self, stamp_ns: int) -> bool:
        if self._candidate_ns is None:
            return False
        # A source that is not answered may say the same stamp again.
        return 0 <= stamp_ns - self._candidate_ns <= self._longest_step_ns
