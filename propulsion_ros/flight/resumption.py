# SPDX-License-Identifier: Apache-2.0
"""Whether a recorded flight still goes on after a restart."""
from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

from propulsion_ros.flight.belief.motion_watch import SETTLING, MotionWatch
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.snapshot import Snapshot
from propulsion_ros.timing.dwell import Dwell

_LATEST_START_NS = 500_000_000  # samples may be on their way while a record is written
_FRESH = 60.0  # what was recorded so shortly before is as likely now [s]
_LANDED = 0.3  # and else, or after a boot, it may have landed: an impact cuts the power
_SETTLING = 5.0  # of a barometer after a boot in the air: longer costs height under a drogue [s]
_MOVED = 20.0  # it goes on no further when it has settled [m]
_AWAY_TIME, _FLIES_TIME = 0.5, 2.0  # for so long it must be far from the pad, and fly [s]
_CERTAIN_RISE = 100.0  # that no sensor has which settles, drifts or glitches on the ground [m]


class Outcome(Enum):
    """What becomes of a recorded flight by the first samples after a restart."""

    WAIT = 'wait'
    RESUME = 'resume'
    DROP = 'drop'
    SET_ASIDE = 'set aside'  # on the pad: taken up only if a liftoff is seen


class Verdict(NamedTuple):
    """An outcome, and its reason where it is no resumption."""

    outcome: Outcome
    reason: str = ''


_WAIT, _RESUME = Verdict(Outcome.WAIT), Verdict(Outcome.RESUME)


class Resumption:
    """Judges by the belief about the motion, which it begins where the record left it.

    Where the process alone has died, less than a minute ago, what was likely is as likely now. Else
    it may have landed without a record, as the power may fail at the impact. A flight goes on where
    likely nothing holds the vehicle for 2 s, or at once by the evidence of a liftoff or a fall.
    After a boot a barometer settles, and must then move on; after the death of the process alone
    it is enough that flight is shown for a second. The flight must also be far above or below its
    pad, unless the altitude is dead or an accelerometer felt it leave.

    After a short absence by the clock since boot, which is never set, a flight also goes on where
    the sensors give nothing new, or where its apogee is still to come and the altitude is far from
    the pad: what is level there may be a port that is blocked.

    It is over where something certainly holds the vehicle. One that was armed and is held at its
    pad is armed again after a short absence; else its record is set aside. A record that is too
    old is dropped, and so is one that no sample has confirmed for so long.

    Parameters
    ----------
    params : FlightParams
        The ``resume_`` limits.
    snapshot : Snapshot
        What was recorded.
    motion : MotionWatch
        Follows the samples that are judged, before each.
    heartbeat_age : float
        Time since the record was last known to be true, by a clock that runs since boot, when
        this object is made [s]; infinity after another boot, or where it is unknown.
    trusts_stamps : bool
        Whether stamps may make the record too old then, as in a simulation. The clock of a
        robot that has booted may be ahead.
    least_age : float
        Time since a boot that came after the record, when this object is made [s]; NaN where there
        was none, or none is known. Stamps count only where they add up to ``resume_heartbeat``.

    Attributes
    ----------
    is_aside : bool
        Whether it was armed on its pad, rests, and is resumed only once a liftoff is seen.
    """

    def __init__(
        self,
        params: FlightParams,
        snapshot: Snapshot,
        motion: MotionWatch,
        heartbeat_age: float = math.inf,
        trusts_stamps: bool = False,
        least_age: float = math.nan,
    ) -> None:
        self.snapshot = snapshot
        self.is_aside = False
        self._params, self._motion = params, motion
        self._heartbeat_age, self._least_age = heartbeat_age, least_age
        self._trusts_stamps = trusts_stamps
        self._begun_ns: int | None = None
        self._settled = math.nan
        self._away, self._flies = Dwell(_AWAY_TIME), Dwell(_FLIES_TIME)
        self._is_pad = snapshot.phase is Phase.LAUNCH
        self._has_booted = not heartbeat_age < _FRESH
        motion.begin(
            in_air=not self._is_pad, is_supported=snapshot.is_supported,
            held=max(snapshot.held, _LANDED) if self._has_booted else snapshot.held,
            settling=SETTLING if self._is_pad else _SETTLING if self._has_booted else 0.0,
        )

    def gap_ns(self, clock_ns: int, stamp_ns: int) -> int:
        """Return the time since the record [ns], as far as it is known.

        Parameters
        ----------
        clock_ns, stamp_ns : int
            Of a sample now, on the flight clock and as stamped [ns].
        """
        least_ns = self._least_ns(clock_ns)
        if math.isfinite(self._heartbeat_age) or not self._is_certain(clock_ns, stamp_ns):
            return least_ns
        # Of a clock that was set back only the time since the restart is known.
        return max(stamp_ns - self.snapshot.stamp_ns, least_ns)

    def doubt_ns(self, clock_ns: int, stamp_ns: int) -> int:
        """Return how much of the gap is by stamps alone, of a clock that may have been set [ns]."""
        if self._trusts_stamps:
            return 0
        return self.gap_ns(clock_ns, stamp_ns) - self._least_ns(clock_ns)

    def _least_ns(self, clock_ns: int) -> int:
        """Return how old the record certainly is [ns]."""
        for age in (self._heartbeat_age, self._least_age):
            if math.isfinite(age):
                return round(age * 1e9) + self._waited_ns(clock_ns)
        return self._waited_ns(clock_ns)

    def _waited_ns(self, clock_ns: int) -> int:
        return 0 if self._begun_ns is None else clock_ns - self._begun_ns

    def judge(self, clock_ns: int, stamp_ns: int, altitude: float) -> Verdict:
        """Take a sample and return what becomes of the flight.

        Parameters
        ----------
        clock_ns, stamp_ns : int
            On the flight clock, and as stamped [ns].
        altitude : float
            As measured [m]; NaN where unknown.
        """
        if self._begun_ns is None:
            self._begun_ns = clock_ns
        reason = self._age_reason(clock_ns, stamp_ns)
        if reason:
            return Verdict(Outcome.DROP, reason)
        if self._is_pad:
            return self._judge_pad(altitude)
        motion, found = self._motion, self._motion.departure
        is_far = abs(altitude) > self._params.resume_height
        is_away = self._away.update(clock_ns, is_far) if math.isfinite(altitude) else False
        is_felt = found is not None and found.source == 'acceleration'
        flies = self._flies.update(clock_ns, motion.flies and self._has_moved(clock_ns, altitude))
        flies = flies or found is not None or (motion.is_shown and not self._has_booted)
        is_ascent = self.snapshot.phase is Phase.FLIGHT
        if flies and (is_away or math.isnan(altitude) or (is_felt and is_ascent)):
            return _RESUME
        if self._was_away_shortly and ((is_ascent and is_away) or self._is_silent(clock_ns)):
            return _RESUME
        return Verdict(Outcome.DROP, 'the vehicle rests') if motion.is_certain else _WAIT

    def _judge_pad(self, altitude: float) -> Verdict:
        """Return what becomes of a vehicle that was armed on its pad.

        Without any sensor it waits: armed again, it would wait for a liftoff that may have passed.
        What has rested since and was not armed again must be pushed, or rise by 100 m: people may
        be at work on it.
        """
        found = self._motion.departure
        if self.is_aside:
            is_certain = found is not None and (
                found.source == 'acceleration' or altitude > _CERTAIN_RISE
            )
            return _RESUME if is_certain else _WAIT
        if found is not None:
            return _RESUME
        if not self._motion.is_certain:
            return _WAIT
        if self._was_away_shortly and abs(altitude) <= self._params.resume_height:
            return _RESUME
        return Verdict(Outcome.SET_ASIDE, 'the vehicle rests')

    def _has_moved(self, clock_ns: int, altitude: float) -> bool:
        """Return whether an altitude that may have to settle after a boot has gone on since."""
        if not self._has_booted or math.isnan(altitude):
            return True
        if math.isnan(self._settled) and self._waited_ns(clock_ns) >= _SETTLING * 1e9:
            self._settled = altitude
        return abs(altitude - self._settled) > _MOVED

    @property
    def _was_away_shortly(self) -> bool:
        return self._heartbeat_age < self._params.resume_heartbeat

    def _is_silent(self, clock_ns: int) -> bool:
        """Return whether no sensor has given anything new for a while."""
        silence_ns = min(self._waited_ns(clock_ns), clock_ns - self._motion.news_ns)
        return silence_ns >= self._params.resume_silence * 1e9

    def _age_reason(self, clock_ns: int, stamp_ns: int) -> str:
        """Return why the record is of another time than now, '' where it is not."""
        age_ns = self._least_ns(clock_ns)
        if self._trusts_stamps and not math.isfinite(self._heartbeat_age):
            elapsed_ns = stamp_ns - self.snapshot.stamp_ns
            if elapsed_ns < -_LATEST_START_NS:
                return f'it is {-elapsed_ns * 1e-9:.1f} s later than now, of an earlier simulation'
            age_ns = max(age_ns, elapsed_ns)
        if age_ns > self._params.resume_age * 1e9:
            return f'it is {age_ns * 1e-9:.0f} s old'
        return ''

    def _is_certain(self, clock_ns: int, stamp_ns: int) -> bool:
        """Return whether the age of the record is known."""
        if math.isfinite(self._heartbeat_age):
            return True
        elapsed_ns, least_ns = stamp_ns - self.snapshot.stamp_ns, 0
        longest_ns = self._params.resume_age * 1e9
        if math.isfinite(self._least_age):
            least_ns = self._least_ns(clock_ns)
            longest_ns = least_ns + self._params.resume_heartbeat * 1e9
        return least_ns - _LATEST_START_NS <= elapsed_ns <= longest_ns
