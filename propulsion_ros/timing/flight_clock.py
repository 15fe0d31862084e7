# SPDX-License-Identifier: Apache-2.0
"""The time that flight logic counts in: stamps that may jump, kept near a steady clock."""
from __future__ import annotations

from enum import Enum

from propulsion_ros.timing.stamps import REANCHOR_NS, Arrival, StampJudge, StampLimits

_LATE_NS = 499_999_999
"""Behind by up to this is late, half a second is another time [ns]."""
LEAD_NS = 100_000_000
"""How far flight time may be ahead of the steady clock, because messages come in bursts [ns]."""

LAG_NS = 1_000_000_000
"""How far it may be behind, because messages come late: the backup timer must not wait [ns]."""


class Stamp(Enum):
    """What a stamp is to a flight."""

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


_MEANINGS = {
    Arrival.FIRST: Stamp.ACCEPTED, Arrival.NEXT: Stamp.ACCEPTED, Arrival.GAP: Stamp.ACCEPTED,
    Arrival.DUPLICATE: Stamp.DUPLICATE, Arrival.LATE: Stamp.LATE, Arrival.STRAY: Stamp.STRAY,
    Arrival.JUMP_BACK: Stamp.JUMPED, Arrival.JUMP_AHEAD: Stamp.JUMPED,
    Arrival.REANCHORED: Stamp.JUMPED,
}


class FlightClock:
    """Nanoseconds that never run backward and never leap, driven by message stamps.

    `StampJudge` judges the stamps: less than 0.5 s behind is late, and two strays make a jump. The
    clock advances by the difference of two accepted stamps, but never by more than the longest
    step. After a jump back the clock goes on from where it was, unless the new stamp lies before
    the first one of the flight: then time has started again, where that may be.

    While no sample comes, `pass_silence` lets time go on. A stamp of a sample always counts more
    than one that silence made: it is judged by the last sample alone, and may lie anywhere between
    that one and the present. The clock has gone on already, and waits for the difference.

    Parameters
    ----------
    reanchors : bool
        Whether stamps that stay late are believed in the end, as those of a robot's sensor whose
        clock was set back a little.

    Attributes
    ----------
    counts : dict of Stamp to int
        How many stamps were of each kind.
    """

    def __init__(self, longest_step: float, *, reanchors: bool = False) -> None:
        self._longest_step_ns = round(longest_step * 1e9)
        self._judge = StampJudge(StampLimits(
            behind_ns=_LATE_NS, ahead_ns=self._longest_step_ns,
            agreeing=2, agree_ns=self._longest_step_ns,
            reanchor_ns=REANCHOR_NS if reanchors else None,
        ))
        self.counts = dict.fromkeys(Stamp, 0)
        self.reset()

    def reset(self) -> None:
        """Start again at 0, without a stamp; the counts go on."""
        self._judge.reset()
        self.now_ns = 0
        self._first_ns: int | None = None
        self._sample_clock_ns = 0
        self._silent_ns: int | None = None

    @property
    def stamp_ns(self) -> int | None:
        """The last stamp that was accepted, None before the first."""
        return self._judge.newest_ns if self._silent_ns is None else self._silent_ns

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
        self._sample_clock_ns += clock_ns - self.now_ns
        self.now_ns = clock_ns
        self._first_ns = first_ns

    def pass_silence(self, stamp_ns: int) -> Stamp:
        """Let time go on to a stamp that no sample has; it is always accepted."""
        last_ns = self.stamp_ns
        step_ns = 0 if last_ns is None else stamp_ns - last_ns
        self.now_ns += min(max(step_ns, 0), self._longest_step_ns)
        self._silent_ns = stamp_ns
        if self._first_ns is None:
            self._first_ns = stamp_ns
        self.counts[Stamp.ACCEPTED] += 1
        return Stamp.ACCEPTED

    def advance(self, stamp_ns: int, *, may_restart: bool = True) -> Stamp:
        """Take a stamp and classify it; the clock moves where it is accepted.

        Parameters
        ----------
        may_restart : bool
            Whether time may start again; else any jump back is one of a clock that was set.
        """
        self._bridge(stamp_ns)
        last_ns = self._judge.newest_ns
        verdict = _MEANINGS[self._judge.take(stamp_ns)]
        if verdict is Stamp.JUMPED and self._is_restart(stamp_ns):
            verdict = self._restart(stamp_ns, may_restart=may_restart)
        self.counts[verdict] += 1
        if verdict.is_accepted and verdict is not Stamp.RESTARTED and last_ns is not None:
            # What passed before a jump back is unknown, so only the time since the first stamp
            # after it counts.
            since_ns = self._judge.to_ns if stamp_ns < last_ns else last_ns
            self._sample_clock_ns += min(stamp_ns - since_ns, self._longest_step_ns)
            self.now_ns = max(self.now_ns, self._sample_clock_ns)
        if verdict.is_accepted:
            self._end_silence(stamp_ns, is_first=last_ns is None)
        return verdict

    def _bridge(self, stamp_ns: int) -> None:
        """Let a stamp be the next one that is as far on as silence has let time go on."""
        newest_ns, silent_ns = self._judge.newest_ns, self._silent_ns
        if newest_ns is None or silent_ns is None:
            return
        begun_ns = stamp_ns - self._longest_step_ns
        if newest_ns < begun_ns <= silent_ns:
            # What passed is counted by the silence.
            self._judge.begin(begun_ns)
            self._sample_clock_ns = self.now_ns - max(silent_ns - begun_ns, 0)

    def _end_silence(self, stamp_ns: int, *, is_first: bool) -> None:
        """Go on from the stamp of a sample."""
        self._silent_ns = None
        self._sample_clock_ns = self.now_ns
        if self._first_ns is None or (is_first and stamp_ns < self._first_ns):
            self._first_ns = stamp_ns

    def _is_restart(self, stamp_ns: int) -> bool:
        return self._first_ns is not None and stamp_ns < self._first_ns

    def _restart(self, stamp_ns: int, *, may_restart: bool) -> Stamp:
        # Without a restart the flight goes on in the new time: what follows in it is none either.
        self._first_ns = stamp_ns
        if not may_restart:
            return Stamp.JUMPED
        self.now_ns = 0
        return Stamp.RESTARTED


class SampleTime:
    """Follows the stamps of samples, and the steady clock on which they come.

    Parameters
    ----------
    steady_ns : int
        Now, on a clock that is never set back [ns].

    Attributes
    ----------
    stamp_ns : int
        Newest time that was taken [ns]: a sample's, or one beyond it while no sample comes.
    """

    def __init__(self, steady_ns: int = 0) -> None:
        self.reset(steady_ns)

    def reset(self, steady_ns: int) -> None:
        """Begin as if a sample of stamp 0 came now."""
        self.stamp_ns = 0
        self.take(0, steady_ns)

    def take(self, stamp_ns: int, steady_ns: int) -> None:
        """Take the stamp of a sample that came now."""
        self.stamp_ns = self._sample_ns = stamp_ns
        self._taken_ns = steady_ns

    def go_on(self, stamp_ns: int) -> None:
        """Take a time that has come without a sample."""
        self.stamp_ns = stamp_ns

    def silence_ns(self, steady_ns: int) -> int:
        """Return how long no sample has come [ns]."""
        return steady_ns - self._taken_ns

    def now_ns(self, steady_ns: int) -> int:
        """Return the stamp that a sample of now would have."""
        return self._sample_ns + self.silence_ns(steady_ns)


class FlightTime:
    """A `FlightClock` that goes with a steady clock, but for `LEAD_NS` and `LAG_NS`.

    The limits count from an anchor. The anchor is set again at each moment from which times are
    counted, such as liftoff. So the time since such a moment is never more than `LEAD_NS` too
    long, also if the stamps were slow before it, and never more than `LAG_NS` too short, as it
    would be where a queue of messages grows. Within these limits stamps that come in bursts or
    late lose no time. Without steady time, as in simulation and replay, only stamps count.

    Parameters
    ----------
    longest_step : float
        No gap between two stamps counts for more [s].

    Attributes
    ----------
    now_ns : int
        The time of the flight; it runs backward only when time restarts.
    """

    def __init__(self, longest_step: float, *, reanchors: bool = False) -> None:
        self._clock = FlightClock(longest_step, reanchors=reanchors)
        self.reset()

    def reset(self) -> None:
        """Start again at 0, without a stamp; the counts go on."""
        self._clock.reset()
        self._steady_ns: int | None = None
        self._set(0)

    def _set(self, now_ns: int) -> None:
        """Set the time, and count the limit from it."""
        self.now_ns = now_ns
        self._ahead_ns = self._clock.now_ns - now_ns
        self._anchor: tuple[int, int] | None = None
        if self._steady_ns is not None:
            self._anchor = self._steady_ns, now_ns

    @property
    def stamp_ns(self) -> int | None:
        """Last stamp that was accepted [ns]."""
        return self._clock.stamp_ns

    @property
    def counts(self) -> dict[Stamp, int]:
        """How many stamps were of each kind."""
        return self._clock.counts

    def note(self, steady_ns: int | None) -> None:
        """Take the steady time [ns] of something that is no sample; None where it is unknown."""
        if steady_ns is not None:
            self._steady_ns = steady_ns

    def anchor(self) -> None:
        """Count the limit from now, because times will be counted from now."""
        self._set(self.now_ns)

    def begin_flight(self) -> None:
        """Take the last stamp as the first of a flight."""
        self._clock.begin_flight()
        self.anchor()

    def resume(self, now_ns: int, first_ns: int) -> None:
        """Continue at the time that a flight before a restart has now; see `FlightClock.resume`."""
        self._clock.resume(now_ns, first_ns)
        self._set(now_ns)

    def advance(
        self,
        stamp_ns: int,
        steady_ns: int | None,
        *,
        may_restart: bool,
        is_silence: bool = False,
    ) -> Stamp:
        """Take a stamp and classify it; time advances if it is accepted.

        Parameters
        ----------
        steady_ns : int or None
            When it came, on a steady clock [ns]; None where only stamps count.
        may_restart : bool
            Whether stamps that are earlier than the flight mean that time has started again.
        is_silence : bool
            Whether no sample has this stamp.
        """
        if is_silence:
            verdict = self._clock.pass_silence(stamp_ns)
        else:
            verdict = self._clock.advance(stamp_ns, may_restart=may_restart)
        self._steady_ns = steady_ns
        if not verdict.is_accepted:
            return verdict
        if verdict is Stamp.RESTARTED:
            self._set(self._clock.now_ns)
        elif steady_ns is not None and self._anchor is None:
            # At the first steady time there is nothing to limit the stamps until now.
            self._set(max(self._clock.now_ns - self._ahead_ns, self.now_ns))
        else:
            self._advance_to(self._clock.now_ns - self._ahead_ns, steady_ns)
        return verdict

    def _advance_to(self, wanted_ns: int, steady_ns: int | None) -> None:
        if steady_ns is not None and self._anchor is not None:
            begun_ns, since_ns = self._anchor
            steady_now_ns = since_ns + steady_ns - begun_ns
            wanted_ns = min(max(wanted_ns, steady_now_ns - LAG_NS), steady_now_ns + LEAD_NS)
        self.now_ns = max(self.now_ns, wanted_ns)
