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


class FlightTime:
    """Nanoseconds of a flight: they never run backward nor leap, and go with a steady clock.

    `StampJudge` judges the stamps: less than 0.5 s behind is late, and two strays make a jump. Time
    advances by the difference of two accepted stamps, but never by more than the longest step.
    After a jump back it goes on from where it was, unless the new stamp lies before the first one
    of the flight: then time has started again, where that may be.

    While no sample comes, a silence lets time go on. A stamp of a sample always counts more than
    one that silence made: it is judged by the last sample alone, and may lie anywhere between that
    one and the present. Time has gone on already, and waits for the difference.

    It goes with the steady clock but for `LEAD_NS` and `LAG_NS`, which count from an anchor. The
    anchor is set again at each moment from which times are counted, such as liftoff. So the time
    since such a moment is never more than `LEAD_NS` too long, also if the stamps were slow before
    it, and never more than `LAG_NS` too short, as it would be where a queue of messages grows.
    Within these limits stamps that come in bursts or late lose no time. Without steady time, as in
    simulation and replay, only stamps count.

    Parameters
    ----------
    longest_step : float
        No gap between two stamps counts for more [s].
    reanchors : bool
        Whether stamps that stay late are believed in the end, as those of a robot's sensor whose
        clock was set back a little.

    Attributes
    ----------
    now_ns : int
        The time of the flight; it runs backward only when time restarts.
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
        self._first_ns: int | None = None
        self._silent_ns: int | None = None
        self._steady_ns: int | None = None
        # What the stamps alone make, of the samples and with silence.
        self._sampled_ns = self._stamped_ns = 0
        self._set(0)

    def _set(self, now_ns: int) -> None:
        """Set the time, and count the limits from it."""
        self._sampled_ns += now_ns - self._stamped_ns
        self.now_ns = self._stamped_ns = now_ns
        self._anchor = None if self._steady_ns is None else (self._steady_ns, now_ns)

    @property
    def stamp_ns(self) -> int | None:
        """The last stamp that was accepted, None before the first."""
        return self._judge.newest_ns if self._silent_ns is None else self._silent_ns

    def note(self, steady_ns: int | None) -> None:
        """Take the steady time [ns] of something that is no sample; None where it is unknown."""
        if steady_ns is not None:
            self._steady_ns = steady_ns

    def anchor(self) -> None:
        """Count the limits from now, because times will be counted from now."""
        self._set(self.now_ns)

    def begin_flight(self) -> None:
        """Take the last stamp, or the next if there is none, as the first of a flight."""
        self._first_ns = self.stamp_ns
        self.anchor()

    def resume(self, now_ns: int, first_ns: int) -> None:
        """Go on from the time of a flight before a restart.

        Parameters
        ----------
        now_ns : int
            Where that flight is now, at the last stamp [ns].
        first_ns : int
            First stamp of that flight [ns].
        """
        self._first_ns = first_ns
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
            Whether stamps that are earlier than the flight mean that time has started again, else
            any jump back is one of a clock that was set.
        is_silence : bool
            Whether no sample has this stamp; then it is always accepted.
        """
        if is_silence:
            verdict = self._pass_silence(stamp_ns)
        else:
            verdict = self._take_sample(stamp_ns, may_restart=may_restart)
        self.counts[verdict] += 1
        self._steady_ns = steady_ns
        if verdict is Stamp.RESTARTED:
            self._set(0)
        elif verdict.is_accepted and steady_ns is not None and self._anchor is None:
            # At the first steady time there is nothing to limit the stamps until now.
            self._set(max(self._stamped_ns, self.now_ns))
        elif verdict.is_accepted:
            self.now_ns = max(self.now_ns, self._limited(steady_ns))
        return verdict

    def _limited(self, steady_ns: int | None) -> int:
        """Return the time that the stamps make, near that of the steady clock."""
        if steady_ns is None or self._anchor is None:
            return self._stamped_ns
        begun_ns, since_ns = self._anchor
        steady_now_ns = since_ns + steady_ns - begun_ns
        return min(max(self._stamped_ns, steady_now_ns - LAG_NS), steady_now_ns + LEAD_NS)

    def _pass_silence(self, stamp_ns: int) -> Stamp:
        """Let time go on to a stamp that no sample has."""
        last_ns = self.stamp_ns
        step_ns = 0 if last_ns is None else stamp_ns - last_ns
        self._stamped_ns += min(max(step_ns, 0), self._longest_step_ns)
        self._silent_ns = stamp_ns
        if self._first_ns is None:
            self._first_ns = stamp_ns
        return Stamp.ACCEPTED

    def _take_sample(self, stamp_ns: int, *, may_restart: bool) -> Stamp:
        """Take the stamp of a sample."""
        self._bridge(stamp_ns)
        last_ns = self._judge.newest_ns
        verdict = _MEANINGS[self._judge.take(stamp_ns)]
        if not verdict.is_accepted:
            return verdict
        first_ns = self._first_ns
        if verdict is Stamp.JUMPED and first_ns is not None and stamp_ns < first_ns:
            # Without a restart the flight goes on in the new time: what follows in it is none.
            self._first_ns = stamp_ns
            verdict = Stamp.RESTARTED if may_restart else verdict
        if verdict is not Stamp.RESTARTED and last_ns is not None:
            # What passed before a jump back is unknown, so only the time since the first stamp
            # after it counts.
            since_ns = self._judge.to_ns if stamp_ns < last_ns else last_ns
            self._sampled_ns += min(stamp_ns - since_ns, self._longest_step_ns)
            self._stamped_ns = max(self._stamped_ns, self._sampled_ns)
        self._silent_ns, self._sampled_ns = None, self._stamped_ns
        if self._first_ns is None or (last_ns is None and stamp_ns < self._first_ns):
            self._first_ns = stamp_ns
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
            self._sampled_ns = self._stamped_ns - max(silent_ns - begun_ns, 0)


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
