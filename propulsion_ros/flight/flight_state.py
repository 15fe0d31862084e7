"""The flight state: samples and commands in, phase, apogee, events and deployments out."""
from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from propulsion_ros.flight.apogee.ascent_watch import AscentWatch
from propulsion_ros.flight.apogee.detector_protocol import Detector
from propulsion_ros.flight.apogee.mach import MachMeter
from propulsion_ros.flight.burn_monitor import BurnMonitor
from propulsion_ros.flight.event_runner import EventRunner
from propulsion_ros.flight.events.controllers import ControlOutput, PidSpec
from propulsion_ros.flight.events.events import EventFired, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.landing import LandingDetector
from propulsion_ros.flight.liftoff import LiftoffDetector
from propulsion_ros.flight.phases.course import Course
from propulsion_ros.flight.phases.mark import Mark
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
from propulsion_ros.flight.pyros.deployers import DeployerCommand, DeployerSpec, deployer_command
from propulsion_ros.flight.readiness import Readiness
from propulsion_ros.flight.resumption import Resumption
from propulsion_ros.flight.snapshot import Snapshot
from propulsion_ros.timing.flight_clock import FlightClock, Stamp
from propulsion_ros.timing.held import Held


class FlightState:
    """Joins apogee detector, phases, liftoff, landing and events; reads no clock.

    A sample whose altitude is unknown still lets time pass: with sensors that fall silent, feed
    such samples so that the backup timer and timed events go on.

    Parameters
    ----------
    params : FlightParams
        Of everything but the detector.
    detector : Detector
        From `make_detector`; owned by this object from now on.
    events : sequence of EventSpec
        In order of evaluation.
    deployers : sequence of DeployerSpec
        That the events' actions name by id.
    controllers : sequence of PidSpec
        Run in flight.
    semantics : str
        'safe' or 'legacy': how events are evaluated.
    required : collection of str
        Checks of `readiness` that refuse a launch; what the others find is only said.
    keeps_flight : bool
        Whether a flight in the air outlives stamps of before it, as of a sensor that starts anew
        without the time; a simulation that starts again ends it.

    Raises
    ------
    ConfigError
        Where an action names a deployer or controller that is not there.
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
    ) -> None:
        self._params = params
        self._readiness = Readiness(params, events, deployers)
        self._required = frozenset(required)
        self._keeps_flight = keeps_flight
        self._watch = AscentWatch(params, detector)
        self._events = EventRunner(
            events, controllers, len(deployers), semantics, params.nose.tolist()
        )
        self._deployers = tuple(deployers)
        self._clock = FlightClock(params.longest_step)
        # A feed is frozen at the limit itself.
        self._frozen = Held(round(params.frozen_time * 1e9) - 1)
        self._mach = MachMeter(params.site_altitude)
        self._liftoff = LiftoffDetector(params)
        self._burn = BurnMonitor()
        self._landing = LandingDetector(params)
        self.reset()

    @property
    def phase(self) -> Phase:
        """Now."""
        return self._course.phase

    @property
    def ignition(self) -> Mark | None:
        """When ignition was commanded, None before."""
        return self._course.ignition

    @property
    def liftoff(self) -> Mark | None:
        """When the vehicle left the pad, None before."""
        return self._course.liftoff

    @property
    def apogee(self) -> Mark | None:
        """When apogee was decided, None before."""
        return self._course.apogee

    @property
    def objections(self) -> dict[str, str]:
        """What speaks against a launch, by check; nothing once launched or before a sample."""
        if self.phase.is_armed or self._sample is None:
            return {}
        return self._readiness.objections(self._sample, is_frozen=self._is_frozen)

    @property
    def subphase(self) -> Subphase:
        """Finer division of flight and recovery."""
        if self.phase is Phase.FLIGHT:
            return Subphase.BOOST if self._burn.is_burning else Subphase.COAST
        if self.phase is Phase.RECOVERY:
            return Subphase.LANDED if self._landing.has_landed else Subphase.DESCENT
        return Subphase.NONE

    @property
    def stamp_counts(self) -> dict[Stamp, int]:
        """How many samples were accepted, duplicate, late, stray, jumped or restarted."""
        return dict(self._clock.counts)

    def reset(self) -> None:
        """Return to preflight with nothing remembered."""
        self._course = Course()
        self._clock.reset()
        self._frozen.reset()
        self._mach.reset()
        self._sample: Sample | None = None
        self._is_frozen = False
        self._notice = ''
        self._resumption: Resumption | None = None
        self._forget_flight()
        self._trigger('configured', Mark(0, 0, 'configured'))
        self._course.take_changes()

    def command(self, name: str, stamp_ns: int, *, force: bool = False) -> str:
        """Carry out a command, or return why it is refused.

        Parameters
        ----------
        name : str
            One of `propulsion_ros.flight.phases.phases.COMMANDS`.
        stamp_ns : int
            When it was given [ns].
        force : bool
            Whether to overrule the guard of the command; never its phase.

        Returns
        -------
        str
            '' where it is accepted.
        """
        facts = Facts(True, False) if force else self._facts(stamp_ns)
        reason = refusal(self.phase, name, facts)
        row = find_transition(self.phase, name)
        if reason or row is None:
            return reason
        self._drop_record('a command came first')
        mark = Mark(stamp_ns, self._clock.now_ns, 'command')
        if name == 'ignition':
            self._course.ignition = mark
        self._follow(row, mark)
        return ''

    def update(self, sample: Sample) -> FlightReport:
        """Take one sample and return what it changed.

        A sample whose stamp does not advance, is late, or strays from the others is not used;
        the report says so. See `FlightClock` for stamps that jump.
        """
        is_in_air = self.subphase not in (Subphase.NONE, Subphase.LANDED)
        verdict = self._clock.advance(
            sample.stamp_ns, may_restart=not (self._keeps_flight and is_in_air)
        )
        if not verdict.is_accepted:
            return self._report(sample.stamp_ns, verdict, [])
        if verdict is Stamp.RESTARTED:
            self._restart(sample.stamp_ns)
        known = self._watch.see(sample, self._mach.update(sample))
        if math.isfinite(known.altitude):
            self._sample = known
        # As text, in which NaN is the same as NaN.
        values = repr((sample.altitude, sample.velocity, sample.acceleration))
        self._frozen.repeats(self._clock.now_ns, values)
        is_frozen = self._is_frozen = self._frozen.is_held(self._clock.now_ns)
        self._consider_record(known)
        self._observe(known)
        controls, fired = self._events.update(
            self._clock.now_ns, known, self._course, self.subphase, is_frozen
        )
        return self._report(
            known.stamp_ns, verdict, fired, self._flags(known, is_frozen, verdict), controls
        )

    def _observe(self, sample: Sample) -> None:
        """Follow the transitions that the sample makes, and the sub-phases."""
        now_ns = self._clock.now_ns
        if self._course.does(Duty.DETECT_LIFTOFF):
            self._observe_pad(sample)
        if self._course.does(Duty.DETECT_APOGEE):
            self._burn.update(now_ns, sample.acceleration, self._watch.fitted_acceleration)
            trigger = self._watch.end(now_ns, self.liftoff)
            if trigger:
                self._trigger(trigger, Mark(sample.stamp_ns, now_ns, trigger))
        if self._course.does(Duty.DETECT_LANDING):
            self._landing.update(now_ns, sample.altitude, sample.velocity)

    def _observe_pad(self, sample: Sample) -> None:
        now_ns = self._clock.now_ns
        liftoff = self._liftoff.update(
            now_ns, sample.altitude, sample.velocity, sample.acceleration,
            self._watch.fitted_velocity,
        )
        if liftoff is None:
            return
        stamp_ns = sample.stamp_ns - (now_ns - liftoff.clock_ns)
        self._course.liftoff = Mark(stamp_ns, liftoff.clock_ns, liftoff.source)
        self._trigger('liftoff', Mark(sample.stamp_ns, now_ns, 'liftoff'))

    def _trigger(self, trigger: str, mark: Mark) -> None:
        row = find_transition(self.phase, trigger)
        if row is not None:
            self._follow(row, mark)

    def _follow(self, row: Transition, mark: Mark) -> None:
        if row.target is row.source:
            return
        self._course.enter(row, mark)
        if self._course.begins_with(Duty.FORGET_FLIGHT):
            self._forget_flight()
        if self._course.begins_with(Duty.BEGIN_ASCENT):
            self._begin_ascent()

    def _begin_ascent(self) -> None:
        self._events.begin_ascent()
        is_falling = self.liftoff is not None and self.liftoff.source == 'fall'
        self._burn.reset(burning=not is_falling)
        self._watch.begin(self.liftoff)

    def _forget_flight(self) -> None:
        """Forget the last flight and what the detector saw: every latch, stamp and event."""
        self._watch.reset()
        self._begin_flight()

    def _begin_flight(self) -> None:
        self._course.forget_moments()
        self._clock.begin_flight()
        self._events.reset()
        self._liftoff.reset()
        self._burn.reset(burning=True)
        self._landing.reset()
        self._watch.restart_timer()

    def _restart(self, stamp_ns: int) -> None:
        """Begin anew after time did; the clock has done so already."""
        self._drop_record('time has started again')
        self._frozen.reset()
        self._mach.reset()
        self._watch.reset()
        self._trigger('time restarted', Mark(stamp_ns, self._clock.now_ns, 'restart'))
        self._begin_flight()

    # The record of a flight, for a restart of the computer.

    def snapshot(self) -> Snapshot:
        """Return what must outlive a restart."""
        return Snapshot(
            self._clock.stamp_ns or 0, self._clock.now_ns, self.phase, self._burn.is_burning,
            self._landing.has_landed, *self._course.marks, self._events.records(),
        )

    def offer(self, snapshot: Snapshot) -> str:
        """Take a record from before a restart, to be taken up if the vehicle still flies.

        Returns
        -------
        str
            Why it is not considered, '' where it is.
        """
        problem = snapshot.problem(self._events.count)
        if problem:
            return problem
        if not snapshot.phase.is_armed:
            return 'it is of no armed phase'
        self._resumption = Resumption(self._params, snapshot)
        return ''

    @property
    def is_resuming(self) -> bool:
        """Whether a recorded flight waits to be taken up or dropped."""
        return self._resumption is not None

    def _consider_record(self, sample: Sample) -> None:
        record = self._resumption
        if record is None:
            return
        verdict = record.judge(
            self._clock.now_ns, sample.stamp_ns, sample.altitude, sample.velocity
        )
        if verdict == 'resume':
            self._resume(record, sample.stamp_ns)
        elif verdict:
            self._drop_record(verdict)

    def _drop_record(self, reason: str) -> None:
        if self._resumption is not None:
            phase = self._resumption.snapshot.phase.value
            self._notice = f'the recorded flight, in {phase}, is not resumed: {reason}'
            self._resumption = None

    def _resume(self, record: Resumption, stamp_ns: int) -> None:
        """Go on as if there had been no restart, but for the time that passed."""
        snapshot, self._resumption = record.snapshot, None
        row = find_transition(self.phase, f'resumed in {snapshot.phase.value}')
        if row is None:
            return
        gap_ns = record.gap_ns(stamp_ns)
        now_ns = snapshot.clock_ns + gap_ns
        self._begin_flight()
        self._clock.resume(now_ns, snapshot.first_ns)
        self._frozen.reset()
        self._course.resume(row, Mark(stamp_ns, now_ns, 'resumed'), snapshot.marks)
        self._events.restore(snapshot.events, now_ns, gap_ns)
        self._burn.reset(burning=snapshot.is_burning)
        self._landing.has_landed = snapshot.has_landed
        self._notice = f'resumed in {snapshot.phase.value}, {gap_ns * 1e-9:.2f} s after the record'

    def _facts(self, stamp_ns: int) -> Facts:
        sample = self._sample
        ignition_commanded = self.ignition is not None
        if sample is None or abs(stamp_ns - sample.stamp_ns) > self._params.sample_timeout * 1e9:
            return Facts(ignition_commanded=ignition_commanded)
        return Facts(
            altitude_known=math.isfinite(sample.altitude),
            is_moving=abs(sample.velocity) > self._params.landed_velocity,
            ignition_commanded=ignition_commanded,
            is_resuming=self.is_resuming,
            objections=tuple(
                reason for name, reason in self.objections.items() if name in self._required
            ),
        )

    def _flags(self, sample: Sample, is_frozen: bool, verdict: Stamp) -> frozenset[str]:
        found = {
            'altitude_unknown': math.isnan(sample.altitude),
            'velocity_unknown': math.isnan(sample.velocity),
            'frozen': is_frozen,
            'jumped': verdict is not Stamp.ACCEPTED,
            'debug': self._course.is_debug,
            'resuming': self.is_resuming,
        }
        return frozenset(name for name, is_set in found.items() if is_set)

    def _deployer_commands(self, fired: Sequence[EventFired]) -> tuple[DeployerCommand, ...]:
        return tuple(
            deployer_command(self._deployers[action.target], event.stamp_ns, action.param)
            for event in fired
            for action in event.actions
            if action.kind == 'deployment'
        )

    def _report(
        self,
        stamp_ns: int,
        verdict: Stamp,
        fired: Sequence[EventFired],
        flags: frozenset[str] = frozenset(),
        controls: tuple[ControlOutput, ...] = (),
    ) -> FlightReport:
        notice, self._notice = self._notice, ''
        return FlightReport(
            stamp_ns,
            verdict,
            self.phase,
            self.subphase,
            self._watch.estimate,
            self._course.take_changes(),
            tuple(fired),
            self._deployer_commands(fired),
            *self._course.marks,
            flags,
            controls,
            notice,
        )
