# SPDX-License-Identifier: Apache-2.0
"""The record of a flight over a restart, and whether that flight still goes on."""
from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from propulsion_ros.flight.belief.belief import CERTAIN, LIKELY
from propulsion_ros.flight.belief.departure import AWAY, PUSH
from propulsion_ros.flight.belief.motion_watch import UNKNOWN, Kept, MotionWatch
from propulsion_ros.flight.events.events import EventRecord
from propulsion_ros.flight.events.permits import Speed
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.phases.progress import Mark, Marks, Vertex
from propulsion_ros.timing.dwell import Dwell

_LATEST_START_NS = 500_000_000  # a sample on its way may be so much older than the record [ns]
_FRESH = 60.0  # a vehicle that flew so recently is not on a bench [s]
_STALE = 5.0  # factor of the dwell of a flight while the vehicle may be on a bench
_SHORT = 0.2  # share of that dwell that is enough for a certain flight
_HARDLY = 0.05  # probability up to which the vehicle is hardly held, or its height hardly settles
_CERTAIN_RISE = 100.0  # no sensor that settles or drifts on the ground rises so far [m]


@dataclass(frozen=True)
class Snapshot:
    """A flight at one stamp.

    Attributes
    ----------
    stamp_ns, clock_ns : int
        When it was taken: message stamp, and flight clock [ns].
    phase : Phase
        Phase at that stamp.
    is_burning : bool
        Whether it was in boost, not in coast.
    ignition, liftoff, apogee : Mark or None
        Moments of the flight.
    events : tuple of EventRecord
        Single events that are spent.
    vertex : Vertex or None
        Where the flight was highest, once that is decided.
    motion : Kept
        State of the belief.
    pad : float
        Altitude of the pad, as it had drifted by the liftoff [m].
    speed : Speed or None
        Last known upward speed; see `ClimbHold`.
    doubt_ns : int
        How much flight time may be ahead [ns].
    is_rearmed : bool
        Whether it was armed again after a restart on the pad.
    hover : float or None
        Height at which its own engine may have held it [m]; None if none did.
    burning : tuple of int
        Engines that were lit, and not shut down since.
    lit_ns : int or None
        When the first one was lit, on the flight clock [ns].
    """

    stamp_ns: int
    clock_ns: int
    phase: Phase
    is_burning: bool = True
    ignition: Mark | None = None
    liftoff: Mark | None = None
    apogee: Mark | None = None
    events: tuple[EventRecord, ...] = ()
    vertex: Vertex | None = None
    motion: Kept = UNKNOWN
    pad: float = 0.0
    speed: Speed | None = None
    doubt_ns: int = 0
    is_rearmed: bool = False
    hover: float | None = None
    burning: tuple[int, ...] = ()
    lit_ns: int | None = None

    @property
    def essence(self) -> tuple[object, ...]:
        """All but times that merely go on: a change of it is worth a new record."""
        return (
            self.phase, self.is_burning, self.ignition, self.liftoff, self.apogee,
            tuple((event.id, event.count) for event in self.events), self.vertex,
            self.motion.is_supported, self.motion.has_rested, self.is_rearmed,
            self.hover is not None,
        )

    @property
    def marks(self) -> Marks:
        """Ignition, liftoff and apogee."""
        return self.ignition, self.liftoff, self.apogee

    @property
    def first_ns(self) -> int:
        """Earliest stamp in it [ns]."""
        return min([self.stamp_ns, *(mark.stamp_ns for mark in self.marks if mark)])

    def problem(self, events: int) -> str:
        """Return why it is no flight with so many events, '' where it is sound."""
        if self.phase is Phase.FLIGHT and self.liftoff is None:
            return 'in flight without a liftoff'
        if self.phase is Phase.RECOVERY and self.apogee is None:
            return 'in recovery without an apogee'
        ids = [event.id for event in self.events]
        if len(set(ids)) < len(ids) or any(not 0 <= i < events for i in ids):
            return f'events {ids} of {events}'
        return ''


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
    """Judges by the belief since a restart whether a recorded flight goes on.

    The belief begins with the record. A flight is resumed once a live height or speed shows for
    ``resume_time`` that the vehicle is hardly held, or once it certainly flies for a fifth of that
    time. Both take five times as long if the record is older than a minute, or of unknown age.
    Without a live height or speed the flight is resumed if the process was away shortly, by the
    clock since boot, which is never set. The flight is over once something certainly holds the
    vehicle. All of this waits while a height settles.

    A vehicle that was armed on its pad and rests there is armed again if the process was away
    shortly; else its record is set aside. It is resumed in flight once it has left the pad, or
    flies less than a minute after the record in the same boot: after another it may be on a bench.

    A record that is too old is dropped, also while it waits. After another boot, stamps count as
    its age if they add at most ``resume_heartbeat`` to the time since that boot.

    Parameters
    ----------
    params : FlightParams
        The ``resume_`` limits.
    snapshot : Snapshot
        What was recorded.
    heartbeat_age : float
        Time since the record was last known to be true, by a clock that runs since boot, when
        this object is made [s]; infinity after another boot, or where it is unknown.
    trusts_stamps : bool
        Whether stamps may make the record too old then, as in a simulation. The clock of a
        robot that has booted may be ahead.
    least_age : float
        Time since a boot that came after the record, when this object is made [s]; NaN where there
        was none, or none is known. Stamps may add up to ``resume_heartbeat`` to it.

    Attributes
    ----------
    is_aside : bool
        Whether it was armed on its pad, rests, and is resumed only once a liftoff is seen.
    is_aloft : bool
        Whether it was armed on its pad and flies, by a height or a speed that is believed: its
        liftoff went unseen.
    """

    def __init__(
        self,
        params: FlightParams,
        snapshot: Snapshot,
        heartbeat_age: float = math.inf,
        trusts_stamps: bool = False,
        least_age: float = math.nan,
    ) -> None:
        self.snapshot = snapshot
        self.is_aside = self.is_aloft = False
        self._params = params
        self._heartbeat_age, self._least_age = heartbeat_age, least_age
        self._trusts_stamps = trusts_stamps
        self._begun_ns: int | None = None
        self._flew_shortly_ago = heartbeat_age < _FRESH
        time = params.resume_time
        self._rests, self._flies, self._may_fly = Dwell(time), Dwell(time), Dwell(time)

    def begin(self, motion: MotionWatch) -> None:
        """Begin the belief with that of the record."""
        record, in_air = self.snapshot, self.snapshot.phase is not Phase.LAUNCH
        # In the air every second counts, and a process that was killed left its sensors on.
        motion.begin(
            in_air=in_air, kept=record.motion, away=self._heartbeat_age,
            may_settle=math.isinf(self._heartbeat_age) or not in_air, is_windy=not in_air,
        )

    def gap_ns(self, clock_ns: int, stamp_ns: int) -> int:
        """Return the time since the record [ns], as far as it is known.

        Parameters
        ----------
        clock_ns, stamp_ns : int
            Of a sample now, on the flight clock and as stamped [ns].
        """
        least_ns = self._least_ns(clock_ns)
        if math.isfinite(self._heartbeat_age) or not self._is_age_known(clock_ns, stamp_ns):
            return least_ns
        # If the clock was set back, only the time since the restart is known.
        return max(stamp_ns - self.snapshot.stamp_ns, least_ns)

    def doubt_ns(self, clock_ns: int, stamp_ns: int) -> int:
        """Return the part of the gap that only stamps show, whose clock may have been set [ns]."""
        if self._trusts_stamps:
            return 0
        return self.gap_ns(clock_ns, stamp_ns) - self._least_ns(clock_ns)

    def _least_ns(self, clock_ns: int) -> int:
        """Return the least age of the record [ns]."""
        waited_ns = 0 if self._begun_ns is None else clock_ns - self._begun_ns
        # The first is known in the same boot, at most the second after another one.
        for age in (self._heartbeat_age, self._least_age):
            if math.isfinite(age):
                return round(age * 1e9) + waited_ns
        return waited_ns

    def judge(
        self, clock_ns: int, stamp_ns: int, motion: MotionWatch, altitude: float = math.nan
    ) -> Verdict:
        """Take a sample and return what becomes of the flight.

        Parameters
        ----------
        clock_ns, stamp_ns : int
            On the flight clock, and as stamped [ns].
        motion : MotionWatch
            The belief since the restart; see `begin`.
        altitude : float
            Above the pad [m], NaN where unknown.
        """
        if self._begun_ns is None:
            self._begun_ns = clock_ns
        if math.isfinite(self._heartbeat_age):
            self._flew_shortly_ago = self._least_ns(clock_ns) < _FRESH * 1e9
        reason = self._age_reason(clock_ns, stamp_ns)
        if reason:
            return Verdict(Outcome.DROP, reason)
        if motion.unsettled > _HARDLY:
            for dwell in (self._rests, self._flies, self._may_fly):
                dwell.reset()
            return _WAIT
        is_on = self._goes_on(clock_ns, stamp_ns, motion)
        is_on |= self._hovers_on(motion)
        is_pad = self.snapshot.phase is Phase.LAUNCH
        if is_pad:
            is_on = self._has_left(motion, altitude, is_on)
        if is_on:
            return _RESUME
        if not self._rests.update(clock_ns, motion.is_certain) or self.is_aside:
            return _WAIT
        if is_pad and self._was_away_shortly:
            return _RESUME
        return Verdict(Outcome.SET_ASIDE if is_pad else Outcome.DROP, 'the vehicle rests')

    def _has_left(self, motion: MotionWatch, altitude: float, is_on: bool) -> bool:
        """Return whether a vehicle that was armed on its pad has left it since; set ``is_aloft``.

        A vehicle that was set aside must be pushed, or rise by 100 m: people may work on it.
        """
        departure = motion.departure
        if self.is_aside:
            is_far = altitude > _CERTAIN_RISE
            return departure is not None and (departure.source == PUSH or is_far)
        is_at_pad = abs(altitude - self.snapshot.motion.level) <= AWAY
        self.is_aloft = (
            is_on and motion.is_believed and self._flew_shortly_ago and not is_at_pad
        )
        return departure is not None or self.is_aloft

    def _hovers_on(self, motion: MotionWatch) -> bool:
        """Return whether it still hovers where its own engine held it, which looks like a rest."""
        hover = self.snapshot.hover
        if hover is None or not (self._was_away_shortly and motion.is_seen):
            return False
        return abs(motion.height - hover) <= self._params.home_tolerance

    def _goes_on(self, clock_ns: int, stamp_ns: int, motion: MotionWatch) -> bool:
        """Return whether a vehicle that flew still flies."""
        is_fresh = self._is_age_known(clock_ns, stamp_ns) and (
            self.gap_ns(clock_ns, stamp_ns) < _FRESH * 1e9
        )
        may_fly = motion.likely <= _HARDLY and (motion.is_seen or self._was_away_shortly)
        self._flies.update(clock_ns, motion.held <= 1.0 - CERTAIN)
        self._may_fly.update(clock_ns, may_fly)
        time = self._params.resume_time * (1.0 if is_fresh else _STALE)
        return self._flies.has_lasted(_SHORT * time) or self._may_fly.has_lasted(time)

    def may_be_aloft(self, motion: MotionWatch) -> bool:
        """Return whether it waits and is of a flight in the air, or the vehicle seems there."""
        is_in_air = self.snapshot.phase is not Phase.LAUNCH
        return not self.is_aside and (is_in_air or motion.held < LIKELY)

    @property
    def may_be_blocked(self) -> bool:
        """Whether a level height far from the pad may be that of a blocked port, and no rest.

        The vehicle flew, without an apogee yet, less than a minute ago by the clock since boot:
        after another boot the clock may have been set, and the barometer may settle.
        """
        return self.snapshot.phase is Phase.FLIGHT and self._flew_shortly_ago

    @property
    def _was_away_shortly(self) -> bool:
        return self._heartbeat_age < self._params.resume_heartbeat

    def _age_reason(self, clock_ns: int, stamp_ns: int) -> str:
        """Return why the record is too old, or of an earlier simulation; '' if it is not."""
        age_ns = self._least_ns(clock_ns)
        if self._trusts_stamps and not math.isfinite(self._heartbeat_age):
            elapsed_ns = stamp_ns - self.snapshot.stamp_ns
            if elapsed_ns < -_LATEST_START_NS:
                return f'it is {-elapsed_ns * 1e-9:.1f} s later than now, of an earlier simulation'
            age_ns = max(age_ns, elapsed_ns)
        if age_ns > self._params.resume_age * 1e9:
            return f'it is {age_ns * 1e-9:.0f} s old'
        return ''

    def _is_age_known(self, clock_ns: int, stamp_ns: int) -> bool:
        """Return whether the age of the record is known."""
        if math.isfinite(self._heartbeat_age):
            return True
        elapsed_ns, least_ns = stamp_ns - self.snapshot.stamp_ns, 0
        longest_ns = self._params.resume_age * 1e9
        if math.isfinite(self._least_age):
            least_ns = self._least_ns(clock_ns)
            longest_ns = least_ns + self._params.resume_heartbeat * 1e9
        return least_ns - _LATEST_START_NS <= elapsed_ns <= longest_ns
