# SPDX-License-Identifier: Apache-2.0
"""What of a flight outlives a restart; whether it still goes on, until that is known."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from propulsion_ros.flight.belief.departure import PUSH, Departure
from propulsion_ros.flight.events.events import EventRecord
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.motion.signs import Fall, LiveValue, MotionSigns, Repeated, Slope
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.phases.progress import Mark, Marks, Vertex
from propulsion_ros.timing.dwell import Dwell

_LATEST_START_NS = 500_000_000  # samples may be on their way while a record is written
_CERTAIN_RISE = 100.0  # no sensor that settles or drifts on the ground gains so much [m]
_UNCERTAIN = 3.0  # times as long must motion last where the age of the record is uncertain
_REST_WINDOW = 1.0  # over which an altitude at rest has no slope [s]
_CHAIN = 3.0  # times as long may it be away on the pad: a restart may follow another one
_REST_ACCELERATION = 1.5  # net of gravity, at most, of what rests [m/s^2]
_FRESH_NS = 60_000_000_000  # what has flown so shortly before is on no bench
_AGREES = 0.25  # of a velocity input, which the slope of a live altitude must show


@dataclass(frozen=True)
class Snapshot:
    """A flight at one stamp.

    Attributes
    ----------
    stamp_ns, clock_ns : int
        When it was taken: message stamp, and flight clock [ns].
    phase : Phase
        Then.
    is_burning : bool
        Boost or coast.
    ignition, liftoff, apogee : Mark or None
        Moments of the flight.
    events : tuple of EventRecord
        Single events that are spent.
    vertex : Vertex or None
        Where the flight was highest, once that is decided.
    is_supported : bool
        Whether something certainly held the vehicle; see `MotionWatch`.
    held : float
        Probability that something did.
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
    is_supported: bool = False
    held: float = 0.0

    @property
    def essence(self) -> tuple[object, ...]:
        """What makes it worth recording again: all but the times that merely go on."""
        return (
            self.phase, self.is_burning, self.ignition, self.liftoff, self.apogee,
            tuple((event.id, event.count) for event in self.events), self.vertex,
            self.is_supported,
        )

    @property
    def marks(self) -> Marks:
        """Ignition, liftoff and apogee."""
        return self.ignition, self.liftoff, self.apogee

    @property
    def first_ns(self) -> int:
        """Earliest stamp that it knows of [ns]."""
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
    """Judges from the first samples after a restart.

    A flight goes on where the vehicle is far above or below its pad and moves up or down, or is in
    free fall; where the altitude is dead, motion is enough. Far from the pad it need not move if
    its apogee was not seen yet and the process was away shortly. One that was armed
    on its pad goes on once a liftoff is seen, or where it is high and moves for three times as
    long after short restarts.
    Of a vehicle that was not certainly flying within the last minute, an altitude that sinks is
    believed as `Fall` does: a barometer that settles after a start sinks too.
    A flight that was not yet at its apogee also goes on where a push is seen that is a liftoff.
    A flight in the air also goes on where no sensor gives anything new, if the process was away
    shortly by the clock since boot, which is never set. What is stuck gives nothing new, which
    counts only where the record has a liftoff.

    It is over where the vehicle rests. A vehicle that was armed and rests on its pad is armed
    again if the process was away shortly; else its record is set aside. A record that is too old
    is dropped, and so is one that no sample has confirmed for so long. Where stamps do not give its
    age, since the clock was set or lost, motion must last three times as long. After a boot that
    is where they add more than ``resume_heartbeat`` to the time since it.

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
        was none, or none is known. Stamps count only where they add up to ``resume_heartbeat``.

    Attributes
    ----------
    is_aside : bool
        Whether it was armed on its pad, rests, and is resumed only once a liftoff is seen.
    is_aloft : bool
        Whether it was armed on its pad and is high and moving after short restarts: its liftoff
        went unseen.
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
        self.is_aside = False
        self.is_aloft = False
        self._params = params
        self._heartbeat_age, self._least_age = heartbeat_age, least_age
        self._trusts_stamps = trusts_stamps
        self._begun_ns: int | None = None
        self._known_ns = self._news_ns = 0
        time = params.resume_moving_time
        self._altitude = LiveValue(params.frozen_time)
        self._velocity = LiveValue(params.frozen_time)
        self._acceleration = LiveValue(params.frozen_time)
        limit = params.resume_velocity
        self._signs = {
            True: MotionSigns(time, limit), False: MotionSigns(_UNCERTAIN * time, limit)
        }
        self._rest_slope = Slope(_REST_WINDOW)
        self._fall, self._calm = Fall(), Dwell(time)
        self._away = Repeated(time)
        self._lowest_high = math.inf
        self._rest = Dwell(params.resume_time)

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
        waited_ns = 0 if self._begun_ns is None else clock_ns - self._begun_ns
        for age in (self._heartbeat_age, self._least_age):
            if math.isfinite(age):
                return round(age * 1e9) + waited_ns
        return waited_ns

    def judge(
        self,
        clock_ns: int,
        stamp_ns: int,
        altitude: float,
        velocity: float,
        acceleration: float = math.nan,
        departure: Departure | None = None,
    ) -> Verdict:
        """Take a sample and return what becomes of the flight.

        Parameters
        ----------
        clock_ns, stamp_ns : int
            On the flight clock, and as stamped [ns].
        altitude, velocity, acceleration : float
            As measured, up positive [m], [m/s], [m/s^2] net of gravity; NaN where unknown.
        departure : Departure or None
            What was seen of a liftoff since the restart.
        """
        if self._begun_ns is None:
            self._begun_ns = self._known_ns = self._news_ns = clock_ns
        reason = self._age_reason(clock_ns, stamp_ns)
        if reason:
            return Verdict(Outcome.DROP, reason)
        self._sense(clock_ns, altitude, velocity, acceleration)
        rests = self._rests(clock_ns, altitude, velocity, acceleration)
        is_pad = self.snapshot.phase is Phase.LAUNCH
        # From its apogee a vehicle may fall below the level of its pad.
        height = altitude if is_pad else abs(altitude)
        is_away = self._away.update(clock_ns, altitude, height > self._params.resume_height)
        is_certain = not is_pad and self._is_certain(clock_ns, stamp_ns)
        is_fresh = is_certain and self.gap_ns(clock_ns, stamp_ns) < _FRESH_NS
        moves = self._moves(
            clock_ns, altitude, velocity, acceleration, is_certain,
            may_settle=not (self._is_flown and is_fresh),
        )
        if is_pad:
            self.is_aloft = (
                moves and is_away and not self.is_aside
                and self._heartbeat_age < _CHAIN * self._params.resume_heartbeat
            )
            return self._judge_pad(rests, altitude, departure)
        if is_away and (moves or self._was_ascending_shortly):
            return _RESUME
        if moves and not self._altitude.is_alive(clock_ns):
            return _RESUME
        is_pushed = departure is not None and departure.source == PUSH
        if self.snapshot.phase is Phase.FLIGHT and is_pushed:
            return _RESUME
        if self._is_silent(clock_ns):
            return _RESUME
        return Verdict(Outcome.DROP, 'the vehicle rests') if rests else _WAIT

    def _judge_pad(self, rests: bool, altitude: float, departure: Departure | None) -> Verdict:
        """Return what becomes of a vehicle that was armed on its pad.

        Without any sensor it waits: armed again, it would wait for a liftoff that may have passed.
        What has rested since and was not armed again must be pushed, or rise by 100 m: people may
        be at work on it.
        """
        if self.is_aside:
            is_certain = departure is not None and (
                departure.source == PUSH or altitude > _CERTAIN_RISE
            )
            return _RESUME if is_certain else _WAIT
        if departure is not None or self.is_aloft:
            return _RESUME
        if not rests:
            return _WAIT
        is_near = abs(altitude) <= self._params.resume_height
        if is_near and self._was_away_shortly:
            return _RESUME
        return Verdict(Outcome.SET_ASIDE, 'the vehicle rests')

    @property
    def _was_ascending_shortly(self) -> bool:
        """Whether it flew, without an apogee yet, and the process was away shortly.

        What is level far from the pad is then no rest, but a sensor that is blocked.
        """
        return self.snapshot.phase is Phase.FLIGHT and self._was_away_shortly

    @property
    def _was_away_shortly(self) -> bool:
        return self._heartbeat_age < self._params.resume_heartbeat

    def _is_silent(self, clock_ns: int) -> bool:
        """Return whether no sensor gives anything, after a restart that was short.

        What is stuck counts as silent only in a flight whose liftoff was seen: a coarse barometer
        at rest on its pad repeats itself too.
        """
        silence_ns = clock_ns - (self._news_ns if self._is_flown else self._known_ns)
        return self._was_away_shortly and silence_ns >= self._params.resume_silence * 1e9

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

    def _sense(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float
    ) -> None:
        sensed = (
            (self._altitude, altitude), (self._velocity, velocity),
            (self._acceleration, acceleration),
        )
        for live, value in sensed:
            live.update(clock_ns, value)
            if math.isfinite(value):
                self._known_ns = clock_ns
            # A first value is no news: a stuck sensor has one too.
            if live.is_new and live.is_alive(clock_ns):
                self._news_ns = clock_ns

    def _moves(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float,
        is_certain: bool, *, may_settle: bool,
    ) -> bool:
        """Take a sample and return whether the vehicle certainly moves up or down.

        Parameters
        ----------
        clock_ns, altitude, velocity, acceleration
            As of `judge`.
        is_certain : bool
            Whether the age of the record is known.
        may_settle : bool
            Whether it may rest, and what sinks be a sensor that settles.
        """
        may_climb, may_drop = self._agreement(clock_ns, velocity)
        sample = clock_ns, altitude, velocity, acceleration, may_climb, may_drop
        seen = {certain: signs.update(*sample) for certain, signs in self._signs.items()}
        signs = seen[is_certain]
        is_alive = self._altitude.is_alive(clock_ns)
        sinks = signs.drops or signs.sinks
        is_calm = self._calm.update(clock_ns, abs(acceleration) < _REST_ACCELERATION)
        rests = is_calm and self._acceleration.is_alive(clock_ns)
        # A step of a sensor makes a long line rise while a short one sinks.
        rises = signs.climbs or (signs.rises and not (signs.sinks and may_settle))
        # After apogee nothing rises, and nor does what has its weight.
        rises = rises and not rests and self.snapshot.phase is not Phase.RECOVERY
        has_gained = self._has_gained(altitude)
        if may_settle and is_alive:
            rises = rises and has_gained
        found = rises or signs.is_weightless or (signs.drops and not is_alive)
        self._fall.sense(clock_ns, altitude, rests=rests)
        is_fall = self._fall.update(clock_ns, altitude, sinks) is not None
        return found or is_fall or (sinks and not may_settle)

    def _has_gained(self, altitude: float) -> bool:
        """Take an altitude; return whether it rose more than a sensor does that settles."""
        if altitude > self._params.resume_height:
            self._lowest_high = min(self._lowest_high, altitude)
        return altitude - self._lowest_high > _CERTAIN_RISE

    @property
    def _is_flown(self) -> bool:
        """Whether the record is of a flight whose liftoff was seen."""
        return self.snapshot.phase is not Phase.LAUNCH and self.snapshot.liftoff is not None

    def _agreement(self, clock_ns: int, velocity: float) -> tuple[bool, bool]:
        """Return whether a live altitude lets a velocity upward, and downward, be true."""
        slope = self._signs[True].slope
        if not self._altitude.is_alive(clock_ns) or math.isnan(slope):
            return True, True
        share = _AGREES * abs(velocity)
        return slope > share, slope < -share

    def _rests(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float
    ) -> bool:
        """Take a sample and return whether the vehicle has rested, by sensors that are alive."""
        self._rest_slope.update(clock_ns, altitude)
        limit = self._params.resume_velocity
        is_level = self._altitude.is_alive(clock_ns) and abs(self._rest_slope.value) <= limit
        moves = self._velocity.is_alive(clock_ns) and abs(velocity) > limit
        is_free = (
            self._acceleration.is_alive(clock_ns) and abs(acceleration) > 2.0 * _REST_ACCELERATION
        )
        return self._rest.update(clock_ns, is_level and not moves and not is_free)


class RecordedFlight:
    """Keeps the record that is offered after a restart, and decides when it is resumed.

    Parameters
    ----------
    params : FlightParams
        The ``resume_`` limits.
    notify : callable
        Receives what an operator must know.
    trusts_stamps : bool
        See `Resumption`.

    Attributes
    ----------
    was_armed : bool
        Whether the vehicle was armed on its pad before the restart, and is not now.
    """

    def __init__(
        self, params: FlightParams, notify: Callable[[str], object], *, trusts_stamps: bool
    ) -> None:
        self._params, self._notify, self._trusts_stamps = params, notify, trusts_stamps
        self.reset()

    def reset(self) -> None:
        """Forget it, without a notice."""
        self._resumption: Resumption | None = None
        self.was_armed = False

    @property
    def is_held(self) -> bool:
        """Whether a record may still be resumed, also one that was set aside."""
        return self._resumption is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a record waits to be resumed or dropped."""
        return self._resumption is not None and not self._resumption.is_aside

    def offer(
        self, snapshot: Snapshot, heartbeat_age: float = math.inf, least_age: float = math.nan
    ) -> None:
        """Take a record; see `Resumption`."""
        self._resumption = Resumption(
            self._params, snapshot, heartbeat_age, self._trusts_stamps, least_age
        )

    def judge(
        self, clock_ns: int, sample: Sample, velocity: float, departure: Departure | None
    ) -> Resumption | None:
        """Take a sample, its measured velocity and a departure; return what is to be resumed."""
        record = self._resumption
        if record is None:
            return None
        verdict = record.judge(
            clock_ns, sample.stamp_ns, sample.altitude, velocity, sample.acceleration, departure
        )
        if verdict.outcome is Outcome.RESUME:
            self._resumption = None
            return record
        if verdict.outcome is Outcome.DROP:
            self.drop(verdict.reason)
        elif verdict.outcome is Outcome.SET_ASIDE:
            record.is_aside = self.was_armed = True
            self._notify(
                f'it was armed before the restart and is not armed now: {verdict.reason}; '
                'request launch again'
            )
        return None

    def drop(self, reason: str) -> None:
        """Drop the record, with a notice unless it was set aside with one."""
        record, self._resumption = self._resumption, None
        if record is not None and not record.is_aside:
            phase = record.snapshot.phase.value
            self._notify(f'the recorded flight, in {phase}, is not resumed: {reason}')
