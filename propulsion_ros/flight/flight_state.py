# SPDX-License-Identifier: Apache-2.0
"""The flight state: samples and commands in, phase, apogee, events and deployments out."""
from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from propulsion_ros.flight.apogee.apogee_watch import ApogeeWatch
from propulsion_ros.flight.apogee.estimate import Detector
from propulsion_ros.flight.belief.belief import ALONE, LIKELY
from propulsion_ros.flight.belief.departure import CLIMB, FALL, Departure
from propulsion_ros.flight.belief.feed import Readings
from propulsion_ros.flight.belief.motion_watch import Kept, MotionWatch
from propulsion_ros.flight.event_runner import EventRunner
from propulsion_ros.flight.events.controllers import ControlOutput, PidSpec
from propulsion_ros.flight.events.events import SEMANTICS, EventFired, EventSpec
from propulsion_ros.flight.events.permits import ANYTHING, Standing, permits_of
from propulsion_ros.flight.events.signs import Climb, LiveValue
from propulsion_ros.flight.events.variables import UNKNOWN_ROTATION, Sample, sane
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import (
    Duty,
    Facts,
    Phase,
    Subphase,
    Transition,
    find_transition,
    refusal,
)
from propulsion_ros.flight.phases.progress import BurnMonitor, Doubt, Mark, Progress, Vertex
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.readiness import Readiness, all_disarmed, why_aloft
from propulsion_ros.flight.resumption import Outcome, Resumption, Snapshot
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.timing.dwell import Dwell, Held
from propulsion_ros.timing.flight_clock import FlightTime, Stamp

_OVERRIDES_NS = 60_000_000_000  # an override counts more than the sensors for so long [ns]


class FlightState:
    """Combines apogee detector, phases, liftoff, landing and events; reads no clock.

    A sample with an unknown altitude still advances the time of the flight. Pass such samples to
    `update` while sensors are silent, also before their first sample after a restart, so that the
    backup timer, timed events and a resumption continue.

    Parameters
    ----------
    params : FlightParams
        Settings of everything except the detector.
    detector : Detector
        From `make_detector`; no other object may use it from now on.
    events : sequence of EventSpec
        In order of evaluation.
    deployers : sequence of DeployerSpec
        That the events' actions name by id.
    controllers : sequence of PidSpec
        Run in flight.
    semantics : str
        'safe' or 'legacy': how events are evaluated.
    required : collection of str
        Checks of `readiness` that refuse a launch; the others only report.
    keeps_flight : bool
        Whether a flight that is armed, or a recorded one, continues when stamps are earlier than
        its first one, as those of a sensor that restarts with a wrong time. In a simulation such
        stamps mean that it has started again, so the flight ends.
    may_settle : bool
        Whether a sensor may start and settle while the vehicle is armed, and a repeated attitude
        is that of a stuck sensor, not of a simulated body that does not turn. Else the samples may
        begin in the air.

    Raises
    ------
    ConfigError
        If an action names a deployer or controller that does not exist, or for other semantics.
    """

    def __init__(
        self,
        params: FlightParams,
        detector: Detector,
        events: Sequence[EventSpec] = (),
        deployers: Sequence[DeployerSpec] = (),
        controllers: Sequence[PidSpec] = (),
        semantics: str = 'safe',
        required: Collection[str] = (),
        keeps_flight: bool = False,
        may_settle: bool = True,
    ) -> None:
        if semantics not in SEMANTICS:
            known = ' or '.join(map(repr, SEMANTICS))
            raise ConfigError('semantics', f'expected {known}, got {semantics!r}')
        self._params = params
        self._readiness = Readiness(params, events, deployers)
        self._required = frozenset(required)
        self._keeps_flight = keeps_flight
        self._apogee_watch = ApogeeWatch(params, detector)
        self._events = EventRunner(
            events, controllers, len(deployers), semantics, params.nose.tolist(),
            params.max_ascent_time,
        )
        self._deployers = tuple(deployers)
        self._is_legacy = semantics == 'legacy'
        self._clock = FlightTime(params.longest_step, reanchors=keeps_flight)
        # 1 ns less, because a feed counts as frozen at the limit itself.
        self._frozen = Held(round(params.frozen_time * 1e9) - 1)
        self._attitude = Held(round(params.frozen_time * 1e9) - 1)
        self._may_stick = may_settle and not self._is_legacy
        self._burn = BurnMonitor()
        self._velocity = LiveValue(params.frozen_time)
        self._stand_down_dwell = Dwell(params.stand_down_time)
        self._motion = MotionWatch(params.stand_down_time, begins_anywhere=not may_settle)
        self._climb = Climb(params.resume_velocity, params.frozen_time)
        self._host_checks: dict[str, str] = {}
        self.reset()

    @property
    def phase(self) -> Phase:
        """The present phase."""
        return self._progress.phase

    @property
    def ignition(self) -> Mark | None:
        """When ignition was commanded, None before."""
        return self._progress.ignition

    @property
    def liftoff(self) -> Mark | None:
        """When the vehicle left what held it, or the override that counts as that; None before."""
        return self._progress.liftoff

    @property
    def apogee(self) -> Mark | None:
        """When apogee was decided, None before."""
        return self._progress.apogee

    @property
    def vertex(self) -> Vertex | None:
        """Where the flight was highest, None before that is decided or where it is unknown."""
        return self._progress.vertex

    @property
    def arms_deployers(self) -> bool:
        """Whether deployers are armed: in flight and recovery, after a liftoff."""
        is_in_air = self.phase in (Phase.FLIGHT, Phase.RECOVERY)
        return self._is_legacy or (is_in_air and self.liftoff is not None)

    @property
    def may_lose(self) -> bool:
        """Whether making safe may cost a charge: nothing certainly holds the vehicle.

        A record that waits may be of a flight in the air.
        """
        waits_aloft = self._record is not None and self._record.may_be_aloft(self._motion)
        return waits_aloft or (self.arms_deployers and not self._is_held)

    @property
    def objections(self) -> dict[str, str]:
        """Reasons against a launch, by check; none once launched or before a sample."""
        if self.phase.is_armed or self._sample is None:
            return {}
        found = self._readiness.objections(
            self._sample, self._motion.departure, is_frozen=self._is_frozen
        )
        found.update({name: reason for name, reason in self._host_checks.items() if reason})
        return found

    def set_check(self, name: str, reason: str) -> None:
        """Set the reason that one of the host's own checks has against a launch, '' for none."""
        self._host_checks[name] = reason

    @property
    def subphase(self) -> Subphase:
        """Finer division of flight and recovery."""
        if self.phase is Phase.FLIGHT:
            return Subphase.BOOST if self._burn.is_burning else Subphase.COAST
        if self.phase is Phase.RECOVERY:
            return Subphase.LANDED if self._motion.is_supported else Subphase.DESCENT
        return Subphase.NONE

    @property
    def unfired(self) -> list[str]:
        """Why charges never fired since liftoff, a line for each that an event fires."""
        return [] if self.liftoff is None else [
            f"{' and '.join(repr(self._deployers[i].name) for i in left)} never fired: "
            f"'{event.name}' needs {event}; last {', '.join(map(' '.join, measured))}"
            for event, left, measured in self._events.unfired()
        ]

    @property
    def stamp_counts(self) -> dict[Stamp, int]:
        """How many samples were accepted, duplicate, late, stray, jumped or restarted."""
        return dict(self._clock.counts)

    def reset(self) -> None:
        """Return to preflight and clear all data."""
        self._progress = Progress()
        self._clock.reset()
        self._forget_sensors()
        self._sample: Sample | None = None
        self._circuits: dict[int, bool] = {}
        self._is_frozen = False
        self._notices: list[str] = []
        self._record: Resumption | None = None
        self._forget_flight()
        self._trigger('configured', Mark(0, 0, 'configured'))
        self._progress.take_changes()

    def command(
        self,
        name: str,
        stamp_ns: int,
        *,
        force: bool = False,
        steady_ns: int | None = None,
        is_second: bool = False,
    ) -> str:
        """Carry out a command, or return why it is refused; a refusal changes nothing.

        Parameters
        ----------
        name : str
            One of `propulsion_ros.flight.phases.phases.COMMANDS`.
        stamp_ns : int
            When it was given [ns].
        force : bool
            Whether to overrule the guard of the command; never its phase.
        steady_ns : int, optional
            When it was given, on a steady clock [ns].
        is_second : bool
            Whether the same was requested shortly before.

        Returns
        -------
        str
            '' where it is accepted.
        """
        facts = self._facts(stamp_ns, has_asked=is_second)
        reason = refusal(self.phase, name, facts, force=force)
        row = find_transition(self.phase, name, facts)
        if reason or row is None:
            return reason
        self._clock.note(steady_ns)
        self._drop_record('a command came first')
        mark = Mark(stamp_ns, self._clock.now_ns, 'command')
        if name == 'ignition':
            self._progress.ignition = mark
            self._motion.light()
            self._clock.anchor()
        elif name == 'liftoff_override':
            self._pad = self._motion.pad
        self._follow(row, mark)
        return ''

    def refusal(self, name: str, stamp_ns: int, *, is_second: bool) -> str:
        """Return why a command would be refused, '' where it would be accepted."""
        return refusal(self.phase, name, self._facts(stamp_ns, has_asked=is_second))

    def update(
        self, sample: Sample, steady_ns: int | None = None, *, is_silence: bool = False
    ) -> FlightReport:
        """Take one sample and return what it changed.

        A sample whose stamp does not advance, is late, or strays from the others is not used, and
        the report has the reason. See `FlightTime` for stamps that jump.

        Parameters
        ----------
        sample : Sample
            What is known now.
        steady_ns : int, optional
            On a robot the time of arrival on a steady clock [ns], which limits the speed of flight
            time. None in simulation and replay, where only stamps count.
        is_silence : bool
            Whether the stamp is not from a sensor, but only advances time while all are silent.
        """
        before_ns = self._clock.stamp_ns
        verdict = self._clock.advance(
            sample.stamp_ns, steady_ns, may_restart=self._may_restart, is_silence=is_silence
        )
        if not verdict.is_accepted:
            return self._report(sample.stamp_ns, verdict, [])
        if verdict is Stamp.RESTARTED:
            self._restart(sample.stamp_ns)
        elif verdict is Stamp.JUMPED and before_ns is not None and self.phase.is_armed:
            back_ns = before_ns - sample.stamp_ns
            if back_ns > 0:
                phase = self.phase.value
                self._notify(f'the clock was set back by {back_ns * 1e-9:.1f} s: {phase} goes on')
        if self._is_attitude_stuck(sample):
            sample = sample._replace(rotation=UNKNOWN_ROTATION)
        known = self._apogee_watch.see(
            sample, flies=self.liftoff is not None, pad=self._pad, is_silence=is_silence,
            may_light=self._events.may_ignite,
        )
        if math.isfinite(known.altitude):
            self._sample = known
        self._circuits = dict(sample.circuits)
        self._frozen.repeats(self._clock.now_ns, [
            None if math.isnan(value) else value
            for value in (sample.altitude, sample.velocity, sample.acceleration)
        ])
        is_frozen = self._is_frozen = self._frozen.is_held(self._clock.now_ns)
        velocity = sane(sample.velocity)
        self._follow_motion(sample, is_silence=is_silence)
        self._sense(known, velocity)
        self._consider_record(known)
        self._observe(known)
        permits = permits_of(self._standing)
        controls, fired = self._events.update(
            self._clock.now_ns, known if self._is_legacy else self._apogee_watch.filtered(known),
            self._progress, self.subphase, is_frozen, ANYTHING if self._is_legacy else permits,
            doubt=self._doubt,
        )
        return self._report(
            known.stamp_ns, verdict, fired, self._flags(known, is_frozen, verdict), controls,
            may_deploy=permits.deploy,
        )

    @property
    def _may_restart(self) -> bool:
        """Whether stamps may end a flight that is armed or waits to be resumed."""
        return not (self._keeps_flight and (self.phase.is_armed or self.holds_record))

    @property
    def _doubt(self) -> Doubt:
        """How far flight time may be ahead by a clock that was set; 0 once the climb is over."""
        # Hardly any flight has a doubt, and whether it climbs is a fit of a line.
        is_on = self._doubt_ns and not self._is_legacy and self._climb.is_certain
        return Doubt(self._resumed_ns, self._doubt_ns if is_on else 0)

    @property
    def _standing(self) -> Standing:
        return Standing(
            self.phase,
            has_lifted_off=self.liftoff is not None,
            is_free=self._is_free,
            hovers=self._hovers,
            is_ascending=self._is_ascending,
            is_commanded=self.ignition is not None,
            is_rearmed=self._is_rearmed,
            is_first=self._events.is_first_ignition(self._clock.now_ns),
        )

    @property
    def _hovers(self) -> bool:
        """Whether an engine that another event shuts down may hold the vehicle.

        The vehicle is away from the pad, and was lit so recently that people are still away.
        """
        lit_ns = self._events.lit_ns
        is_recent = lit_ns is not None and self._clock.now_ns - lit_ns < ALONE * 1e9
        if not (is_recent and self.phase is Phase.FLIGHT and self._events.burns):
            return False
        return abs(self._motion.height - self._pad) > self._params.home_tolerance

    @property
    def _is_free(self) -> bool:
        """Whether likely nothing holds the vehicle, nor did before a fall that is still short."""
        motion = self._motion
        is_held = motion.is_supported or motion.is_likely or motion.has_rested
        return self._is_overridden or not is_held

    @property
    def _is_held(self) -> bool:
        # An override lets charges fire, but must not weaken a command that makes safe.
        return self._motion.is_supported and not self._is_legacy

    @property
    def repeats_height(self) -> bool:
        """Whether a repeated height is valid; see `MotionWatch`."""
        return self._motion.repeats_height

    @property
    def _is_overridden(self) -> bool:
        """Whether an override of the liftoff counts more than what the sensors show."""
        mark = self.liftoff
        if mark is None or mark.source != 'override':
            return False
        return self._clock.now_ns - mark.clock_ns < _OVERRIDES_NS

    def _follow_motion(self, sample: Sample, *, is_silence: bool) -> None:
        """Update the belief with what the sensors measured."""
        readings = sample.readings
        if readings is None:
            force = sane(sample.acceleration) + STANDARD_GRAVITY
            readings = Readings(
                sane(sample.altitude), sane(sample.velocity), (0.0, 0.0, force), is_estimate=True
            )
        self._motion.update(
            self._clock.now_ns - self._skipped_ns, Readings() if is_silence else readings,
            learns=not (self.phase.is_armed or self.holds_record),
            has_flown=self.liftoff is not None or (
                self._record is not None and self._record.may_be_blocked
            ),
            hovers=self._hovers,
        )
        if self._is_overridden and not self._motion.is_seen:
            # After the last dropout no sensor can show that nothing holds the vehicle any more.
            self._motion.withdraw()

    def _is_attitude_stuck(self, sample: Sample) -> bool:
        """Return whether the attitude has repeated itself for too long; an unknown one has not."""
        if not self._may_stick or not all(map(math.isfinite, sample.rotation)):
            return False
        self._attitude.repeats(self._clock.now_ns, sample.rotation)
        return self._attitude.is_held(self._clock.now_ns)

    def _sense(self, sample: Sample, velocity: float) -> None:
        """Follow the velocity, which must be measured, and the climb of the altitude."""
        now_ns = self._clock.now_ns
        self._velocity.update(now_ns, velocity)
        self._climb.update(now_ns - self._skipped_ns, sample.altitude)
        self._live_velocity = velocity if self._velocity.is_alive(now_ns) else None

    @property
    def _is_ascending(self) -> bool:
        """Whether the vehicle climbs, by a live velocity, or else by its altitude."""
        if self._live_velocity is None:
            return self._climb.is_certain
        return self._live_velocity > self._params.resume_velocity

    def _observe(self, sample: Sample) -> None:
        """Make the transitions that the sample causes, and follow the sub-phases."""
        now_ns = self._clock.now_ns
        found = self._departure
        if found and self._progress.does(Duty.DETECT_LIFTOFF):
            # A departure before arming counts from arming, or the backup timer would end at once.
            armed_ns = max(found.clock_ns, self._begun_ns)
            self._progress.liftoff = self._mark_of(found._replace(clock_ns=armed_ns), sample)
            self._pad = self._motion.pad
            self._trigger('liftoff', Mark(sample.stamp_ns, now_ns, 'liftoff'))
        if self._progress.does(Duty.WATCH_REST) and self._is_over():
            self._stand_down(Mark(sample.stamp_ns, now_ns, 'stand-down'))
        if self._progress.does(Duty.DETECT_APOGEE):
            self._burn.update(now_ns, sample.acceleration, self._apogee_watch.fitted_acceleration)
            liftoff = self.liftoff
            if liftoff is not None:
                liftoff = replace(liftoff, clock_ns=self._doubt.latest(liftoff.clock_ns))
            trigger = self._apogee_watch.end(now_ns, liftoff, self._motion)
            if trigger:
                self._trigger(trigger, Mark(sample.stamp_ns, now_ns, trigger))

    @property
    def _departure(self) -> Departure | None:
        """When the vehicle left what held it, on the flight clock; None where it has not."""
        found = self._motion.departure
        if found is None or not self._skipped_ns:
            return found
        return found._replace(clock_ns=found.clock_ns + self._skipped_ns)

    def _mark_of(self, found: Departure, sample: Sample) -> Mark:
        """Return the moment at which a detected change began."""
        stamp_ns = sample.stamp_ns - (self._clock.now_ns - found.clock_ns)
        return Mark(stamp_ns, found.clock_ns, found.source)

    def _is_over(self) -> bool:
        """Return whether the vehicle rests at its pad without a liftoff, or without an apogee."""
        is_held = (
            self._motion.is_certain and self._motion.is_supported
            and abs(self._motion.height - self._pad) <= self._params.home_tolerance
        )
        counts = self._is_legacy or self._is_overridden or self._events.burns
        is_none = self.liftoff is None or (self.phase is Phase.FLIGHT and not counts)
        return self._stand_down_dwell.update(self._clock.now_ns, is_held and is_none)

    def _stand_down(self, mark: Mark) -> None:
        phase = self.phase.value
        self._trigger('stand-down', mark)
        self._notify(
            f'the vehicle rests near its pad in {phase}, without an apogee: it is disarmed, '
            'request launch again'
        )

    def _trigger(self, trigger: str, mark: Mark) -> None:
        row = find_transition(self.phase, trigger)
        if row is not None:
            self._follow(row, mark)

    def _follow(self, row: Transition, mark: Mark) -> None:
        if row.target is row.source:
            return
        self._progress.enter(row, mark)
        self._clock.anchor()
        if row.apogee_source:
            self._progress.vertex = self._apogee_watch.vertex
        if self._progress.begins_with(Duty.DISARM):
            self._motion.douse()
        if self._progress.begins_with(Duty.FORGET_FLIGHT):
            self._forget_flight()
        if self._progress.begins_with(Duty.BEGIN_ASCENT):
            self._events.controllers.reset()
            self._stand_down_dwell.reset()
            is_falling = self.liftoff is not None and self.liftoff.source == FALL
            self._burn.reset(burning=not is_falling)

    def _forget_flight(self) -> None:
        """Clear every latch, stamp and event of the last flight, and the data of the detector."""
        self._apogee_watch.reset()
        self._begin_flight()

    def _begin_flight(self) -> None:
        self._progress.forget_moments()
        self._clock.begin_flight()
        self._events.reset()
        self._doubt_ns = self._resumed_ns = 0
        self._begun_ns = self._clock.now_ns
        self._pad = 0.0
        self._is_rearmed = self._was_armed = False
        self._burn.reset(burning=True)
        self._stand_down_dwell.reset()
        self._apogee_watch.restart_timer()

    def _restart(self, stamp_ns: int) -> None:
        """Start again, because time has started again; the clock has done so already."""
        self._drop_record('time has started again')
        if self.phase.is_armed:
            phase = self.phase.value
            self._notify(f'time has started again: {phase} is over, request launch again')
        self._forget_sensors()
        self._apogee_watch.reset()
        self._trigger('time restarted', Mark(stamp_ns, self._clock.now_ns, 'restart'))
        self._begin_flight()

    def _forget_sensors(self) -> None:
        """Forget what was measured before time began, or has started again."""
        for sensed in (
            self._climb, self._velocity, self._frozen, self._attitude, self._motion
        ):
            sensed.reset()
        self._live_velocity = None
        # How far a resumption has set the flight clock ahead [ns]. The motion is timed without it,
        # because the sensors did not stop for so long.
        self._skipped_ns: int = 0

    # The record of a flight, for a restart of the computer.

    def snapshot(self) -> Snapshot:
        """Return the data that is kept over a restart."""
        return Snapshot(
            self._clock.stamp_ns or 0, self._clock.now_ns, self.phase, self._burn.is_burning,
            self.ignition, self.liftoff, self.apogee, self._events.engine.records(), self.vertex,
            self._motion.kept, self._pad, self._events.speed, self._doubt_ns, self._is_rearmed,
            self._motion.height if self._hovers else None,
            self._events.burning, self._events.lit_ns,
        )

    def offer(
        self, snapshot: Snapshot, heartbeat_age: float = math.inf, least_age: float = math.nan
    ) -> str:
        """Take a record from before a restart; the flight is resumed if the vehicle still flies.

        Parameters
        ----------
        snapshot : Snapshot
            What was recorded.
        heartbeat_age : float
            Time since the record was last known to be true, by a clock that runs since boot [s];
            infinity after another boot, or where it is unknown.
        least_age : float
            Time since that other boot [s]; NaN where it is unknown.

        Returns
        -------
        str
            Why the record is not used, '' if it is.
        """
        problem = snapshot.problem(self._events.count)
        if problem:
            return problem
        if not snapshot.phase.is_armed:
            return 'it is of no armed phase'
        self._record = Resumption(
            self._params, snapshot, heartbeat_age, not self._keeps_flight, least_age
        )
        self._record.begin(self._motion)
        return ''

    @property
    def is_resuming(self) -> bool:
        """Whether a recorded flight waits to be resumed or dropped."""
        return self._record is not None and not self._record.is_aside

    @property
    def holds_record(self) -> bool:
        """Whether a recorded flight may still be resumed, also one that was set aside."""
        return self._record is not None

    @property
    def may_have_left(self) -> bool:
        """Whether a record waits, or one that was set aside has likely left its pad since."""
        return self.is_resuming or (self.holds_record and self._motion.held < LIKELY)

    def _consider_record(self, sample: Sample) -> None:
        """Judge the record by a sample and the belief."""
        record = self._record
        if record is None:
            return
        outcome, reason = record.judge(
            self._clock.now_ns, sample.stamp_ns, self._motion, sample.altitude
        )
        if outcome is Outcome.RESUME:
            self._record = None
            self._resume(record, sample)
        elif outcome is Outcome.DROP:
            self._drop_record(reason)
        elif outcome is Outcome.SET_ASIDE:
            record.is_aside = self._was_armed = True
            self._notify(
                f'it was armed before the restart and is not armed now: {reason}; '
                'request launch again'
            )

    def _drop_record(self, reason: str) -> None:
        """Drop the record, with a notice unless it was set aside with one."""
        record, self._record = self._record, None
        if record is not None and not record.is_aside:
            phase = record.snapshot.phase.value
            self._notify(f'the recorded flight, in {phase}, is not resumed: {reason}')

    def _resume(self, record: Resumption, sample: Sample) -> None:
        """Continue as if there had been no restart, except for the time that passed."""
        snapshot = record.snapshot
        row = find_transition(self.phase, f'resumed in {snapshot.phase.value}')
        if row is None:
            return
        gap_ns = record.gap_ns(self._clock.now_ns, sample.stamp_ns)
        doubt_ns = record.doubt_ns(self._clock.now_ns, sample.stamp_ns)
        now_ns, found = snapshot.clock_ns + gap_ns, self._departure
        age_ns = 0 if found is None else self._clock.now_ns - found.clock_ns
        self._begin_flight()
        self._skipped_ns += now_ns - self._clock.now_ns
        self._doubt_ns, self._resumed_ns = snapshot.doubt_ns + doubt_ns, snapshot.clock_ns
        self._clock.resume(now_ns, min(snapshot.first_ns, sample.stamp_ns))
        self._frozen.reset()
        self._progress.resume(
            row, Mark(sample.stamp_ns, now_ns, 'resumed'), snapshot.marks, snapshot.vertex
        )
        self._events.restore(
            snapshot.events, now_ns, gap_ns,
            speed=snapshot.speed, burning=snapshot.burning, lit_ns=snapshot.lit_ns,
        )
        self._pad, self._is_rearmed = snapshot.pad, snapshot.is_rearmed
        self._burn.reset(burning=snapshot.is_burning)
        self._notify(
            f'resumed in {snapshot.phase.value}, {gap_ns * 1e-9:.2f} s after the record'
        )
        if self.phase is Phase.LAUNCH:
            self._is_rearmed = True
            # Ignition was commanded before the restart, and what it lit then is not lit again.
            self._events.engine.spend_ignitions()
            if found is not None:
                self._lift_off(sample, Departure(now_ns - age_ns, found.source))
            elif record.is_aloft:
                self._lift_off(sample, Departure(now_ns, CLIMB))

    def _lift_off(self, sample: Sample, found: Departure) -> None:
        """Begin a flight whose liftoff came before the resumption, seen or not."""
        self._pad = self._motion.pad
        kept = self._motion.kept
        self._motion.begin(in_air=True, kept=Kept(wander=kept.wander, usual_ns=kept.usual_ns))
        self._progress.liftoff = self._mark_of(found, sample)
        self._trigger('liftoff', Mark(sample.stamp_ns, self._clock.now_ns, 'liftoff'))

    def _facts(self, stamp_ns: int, *, has_asked: bool) -> Facts:
        facts = Facts(
            ignition_commanded=self.ignition is not None,
            is_resuming=self.is_resuming,
            is_rearmed=self._is_rearmed,
            has_asked=has_asked,
            ask_again_time=self._params.ask_again_time,
            is_supported=self._is_held,
            is_bench=self._progress.is_debug,
            aloft=self._aloft(has_asked=has_asked),
        )
        sample = self._sample
        if sample is None or abs(stamp_ns - sample.stamp_ns) > self._params.sample_timeout * 1e9:
            return facts
        return replace(
            facts,
            altitude_known=math.isfinite(sample.altitude),
            objections=tuple(
                reason for name, reason in self.objections.items() if name in self._required
            ),
        )

    def _aloft(self, *, has_asked: bool) -> str:
        """Return why the vehicle may still be in the air, '' where it is not."""
        if self._motion.is_supported:
            return ''
        disarmed = all_disarmed(self._events.pending(), self._deployers, self._circuits)
        flown_ns = self._motion.flown_ns
        since_ns = self._begun_ns if flown_ns is None else flown_ns + self._skipped_ns
        unseen = (self._clock.now_ns - since_ns) * 1e-9
        return why_aloft(self._params, unseen, disarmed=disarmed, has_asked=has_asked)

    def _notify(self, text: str) -> None:
        """Report something with the next sample."""
        self._notices.append(text)

    def _flags(self, sample: Sample, is_frozen: bool, verdict: Stamp) -> frozenset[str]:
        found = {
            'altitude_unknown': math.isnan(sample.altitude),
            'velocity_unknown': math.isnan(sample.velocity),
            'frozen': is_frozen,
            'jumped': verdict is not Stamp.ACCEPTED,
            'debug': self._progress.is_debug,
            'resuming': self.is_resuming,
            'was_armed': self._was_armed,
        }
        return frozenset(name for name, is_set in found.items() if is_set)

    def _report(
        self,
        stamp_ns: int,
        verdict: Stamp,
        fired: Sequence[EventFired],
        flags: frozenset[str] = frozenset(),
        controls: tuple[ControlOutput, ...] = (),
        *,
        may_deploy: bool = False,
    ) -> FlightReport:
        notices, self._notices = self._notices, []
        return FlightReport(
            stamp_ns,
            verdict,
            self.phase,
            self.subphase,
            self._apogee_watch.estimate,
            self._progress.take_changes(),
            tuple(fired),
            self.ignition,
            self.liftoff,
            self.apogee,
            flags,
            controls,
            '; '.join(notices),
            self.vertex,
            may_deploy,
        )
