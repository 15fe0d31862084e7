# SPDX-License-Identifier: Apache-2.0
"""Flight time: it follows stamps, which may jump, and is kept near a steady clock."""
from __future__ import annotations

from enum import Enum

from propulsion_ros.timing.stamps import REANCHOR_NS, Arrival, StampJudge, StampLimits

_LATE_NS = 499_999_999
"""A stamp up to this far behind is late; from half a second it is of another time [ns]."""
LEAD_NS = 100_000_000
"""Largest lead of flight time over the steady clock, as messages come in bursts [ns]."""
LAG_NS = 1_000_000_000
"""Largest lag of flight time: late messages must not delay the backup timer [ns]."""


class Stamp(Enum):
    """Verdict on a stamp of a flight."""

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
    """Flight time [ns]: it never runs backward nor leaps, and stays near a steady clock.

    `StampJudge` judges the stamps: less than 0.5 s behind is late, and two strays make a jump.
    Flight time advances by the difference of two accepted stamps, but never by more than the
    longest step. After a jump back it continues from where it was, unless the new stamp lies
    before the first one of the flight: then flight time restarts, if the caller allows that.

    While no sample comes, flight time advances by the silence. The stamp of the next sample is
    judged by the last sample alone, and may lie anywhere between that one and the present. If
    flight time has advanced further than the sample, it stands still until the stamps catch up.

    Flight time stays within `LEAD_NS` and `LAG_NS` of the steady clock, counted from an anchor. The
    anchor is set again at each moment from which times are counted, such as liftoff. So the time
    since such a moment is never more than `LEAD_NS` too long, even if the stamps were slow before
    it, and never more than `LAG_NS` too short, as it would be while a queue of messages grows.
    Within these limits stamps that come late or in bursts lose no time. Without steady time, as in
    simulation and replay, only stamps count.

    Parameters
    ----------
    longest_step : float
        Most by which flight time advances between two stamps [s].
    reanchors : bool
        Whether stamps that stay late are accepted in the end, as those of a robot's sensor whose
        clock was set back a little.

    Attributes
    ----------
    now_ns : int
        Flight time; it runs backward only when it restarts.
    counts : dict of Stamp to int
        Number of stamps of each kind.
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
        """Start again at 0, without a stamp; the counts stay."""
        self._judge.reset()
        self._first_ns: int | None = None
        self._silent_ns: int | None = None
        self._steady_ns: int | None = None
        # Flight time before it is limited: by the stamps of samples, and with silences.
        self._sampled_ns = self._stamped_ns = 0
        self._set(0)

    def _set(self, now_ns: int) -> None:
        """Set flight time, and anchor the limits to it."""
        self._sampled_ns += now_ns - self._stamped_ns
        self.now_ns = self._stamped_ns = now_ns
        self._anchor = None if self._steady_ns is None else (self._steady_ns, now_ns)

    @property
    def stamp_ns(self) -> int | None:
        """The last stamp that was accepted, None before the first."""
        return self._judge.newest_ns if self._silent_ns is None else self._silent_ns

    def note(self, steady_ns: int | None) -> None:
        """Take the steady time [ns] of an input that is no sample; None if it is unknown."""
        if steady_ns is not None:
            self._steady_ns = steady_ns

    def anchor(self) -> None:
        """Anchor the limits to now, because times will be counted from now."""
        self._set(self.now_ns)

    def begin_flight(self) -> None:
        """Take the last stamp, or the next if there is none, as the first of a flight."""
        self._first_ns = self.stamp_ns
        self.anchor()

    def resume(self, now_ns: int, first_ns: int) -> None:
        """Continue the time of a flight with this first stamp after a restart of the computer.

        At the last stamp that time is ``now_ns``.
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
            Arrival of the stamp on a steady clock [ns]; None where only stamps count.
        may_restart : bool
            Whether flight time restarts with a stamp from before the flight; otherwise any jump
            back is that of a clock that was set.
        is_silence : bool
            Whether the stamp is that of a silence, not of a sample; then it is always accepted.
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
            # Stamps before the first steady time have no limit.
            self._set(max(self._stamped_ns, self.now_ns))
        elif verdict.is_accepted:
            self.now_ns = max(self.now_ns, self._limited(steady_ns))
        return verdict

    def _limited(self, steady_ns: int | None) -> int:
        """Return the time by the stamps, limited by the steady clock."""
        if steady_ns is None or self._anchor is None:
            return self._stamped_ns
        begun_ns, since_ns = self._anchor
        steady_now_ns = since_ns + steady_ns - begun_ns
        return min(max(self._stamped_ns, steady_now_ns - LAG_NS), steady_now_ns + LEAD_NS)

    def _pass_silence(self, stamp_ns: int) -> Stamp:
        """Advance to a stamp of a silence, which no sample has."""
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
            # Also without a restart: later stamps in the new time must not restart the flight.
            self._first_ns = stamp_ns
            verdict = Stamp.RESTARTED if may_restart else verdict
        if verdict is not Stamp.RESTARTED and last_ns is not None:
            # How much time passed during a jump back is unknown, so only the time since the first
            # stamp after it counts.
            since_ns = self._judge.to_ns if stamp_ns < last_ns else last_ns
            self._sampled_ns += min(stamp_ns - since_ns, self._longest_step_ns)
            self._stamped_ns = max(self._stamped_ns, self._sampled_ns)
        self._silent_ns, self._sampled_ns = None, self._stamped_ns
        if self._first_ns is None or (last_ns is None and stamp_ns < self._first_ns):
            self._first_ns = stamp_ns
        return verdict

    def _bridge(self, stamp_ns: int) -> None:
        """Judge a stamp as the next one, not as a stray, if silence has advanced as far."""
        newest_ns, silent_ns = self._judge.newest_ns, self._silent_ns
        if newest_ns is None or silent_ns is None:
            return
        begun_ns = stamp_ns - self._longest_step_ns
        if newest_ns < begun_ns <= silent_ns:
            # The silence has counted the time until then.
            self._judge.begin(begun_ns)
            self._sampled_ns = self._stamped_ns - max(silent_ns - begun_ns, 0)


class SampleTime:
    """Continues the stamps of samples by the steady clock, which is never set back.

    Attributes
    ----------
    stamp_ns : int
        Newest time that was taken [ns]: a sample's, or a later one while no sample comes.
    """

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, steady_ns: int) -> None:
        """Begin as if a sample with stamp 0 came now."""
        self.stamp_ns = 0
        self.take(0, steady_ns)

    def take(self, stamp_ns: int, steady_ns: int) -> None:
        """Take the stamp of a sample that came now."""
        self.stamp_ns = self._sample_ns = stamp_ns
        self._taken_ns = steady_ns

    def go_on(self, stamp_ns: int) -> None:
        """Take a time without a sample."""
        self.stamp_ns = stamp_ns

    def silence_ns(self, steady_ns: int) -> int:
        """Return the time since the last sample [ns]."""
        return steady_ns - self._taken_ns

    def now_ns(self, steady_ns: int) -> int:
        """Return the stamp that a sample would have now."""
        return self._sample_ns + self.silence_ns(steady_ns)
