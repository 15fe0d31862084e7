"""The flight state: samples and commands in, phase, apogee, events and deployments out."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from propulsion_ros.flight.apogee_estimate import ApogeeEstimate
from propulsion_ros.flight.deployers import DeployerCommand, DeployerSpec
from propulsion_ros.flight.detectors import Detector
from propulsion_ros.flight.dwell import Dwell, FrozenCheck
from propulsion_ros.flight.events import EventEngine, EventFired, EventSpec
from propulsion_ros.flight.flight_clock import FlightClock, Stamp
from propulsion_ros.flight.flight_params import FlightParams
from propulsion_ros.flight.flight_report import FlightReport, Mark
from propulsion_ros.flight.liftoff import LiftoffDetector
from propulsion_ros.flight.mach import MachMeter
from propulsion_ros.flight.phases import (
    Facts,
    Phase,
    PhaseChange,
    Subphase,
    Transition,
    find_transition,
    refusal,
)
from propulsion_ros.flight.subphases import BurnMonitor, LandingDetector
from propulsion_ros.flight.variables import NAN, Sample, Variables, ned

# The backup timer must agree with itself over several samples: one wild stamp is no apogee.
_TIMER_DWELL = 0.05
# Health of the detector under which its fit says nothing of the motion now.
_UNFIT = ('filling', 'no altitude', 'gap', 'frozen', 'outliers', 'shock')


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

    Attributes
    ----------
    phase : Phase
        Now.
    ignition, liftoff, apogee : Mark or None
        Moments of the flight, forgotten on entry to launch.
    """

    def __init__(
        self,
        params: FlightParams,
        detector: Detector,
        events: Sequence[EventSpec] = (),
        deployers: Sequence[DeployerSpec] = (),
    ) -> None:
        self._params = params
        self._detector = detector
        self._events = EventEngine(events)
        self._deployers = {deployer.id: deployer for deployer in deployers}
        self._clock = FlightClock(params.longest_step)
        self._frozen = FrozenCheck(params.frozen_time)
        self._mach = MachMeter(params.site_altitude)
        self._liftoff = LiftoffDetector(params)
        self._burn = BurnMonitor()
        self._landing = LandingDetector(params)
        self._timer = Dwell(_TIMER_DWELL)
        self.ignition: Mark | None = None
        self.liftoff: Mark | None = None
        self.apogee: Mark | None = None
        self.reset()

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
        self.phase = Phase.SETUP
        self._clock.reset()
        self._frozen.reset()
        self._mach.reset()
        self._changes: list[PhaseChange] = []
        self._sample: Sample | None = None
        self._estimate: ApogeeEstimate | None = None
        self._detector.reset()
        self._begin_flight()
        configured = find_transition(self.phase, 'configured')
        self.phase = configured.target if configured else self.phase

    def command(self, name: str, stamp_ns: int, *, force: bool = False) -> str:
        """Carry out a command, or return why it is refused.

        Parameters
        ----------
        name : str
            One of `propulsion_ros.flight.phases.COMMANDS`.
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
        mark = Mark(stamp_ns, self._clock.now_ns, 'command')
        if name == 'ignition':
            self.ignition = self.ignition or mark
        if row.target is Phase.FLIGHT:
            self.liftoff = replace(mark, source='override')
        self._follow(row, mark)
        return ''

    def update(self, sample: Sample) -> FlightReport:
        """Take one sample and return what it changed.

        A sample whose stamp does not advance, is late, or strays from the others is not used;
        the report says so. See `FlightClock` for stamps that jump.
        """
        verdict = self._clock.advance(sample.stamp_ns)
        if not verdict.is_accepted:
            return self._report(sample.stamp_ns, verdict, [])
        if verdict is Stamp.RESTARTED:
            self._restart(sample.stamp_ns)
        known = self._complete(sample)
        if math.isfinite(known.altitude):
            self._sample = known
        is_frozen = self._frozen.update(
            self._clock.now_ns, sample.altitude, sample.velocity, sample.acceleration
        )
        self._observe(known)
        fired = []
        if self.phase.is_armed:
            fired = self._events.update(self._variables(known, is_frozen), known.stamp_ns)
        return self._report(known.stamp_ns, verdict, fired, self._flags(known, is_frozen, verdict))

    def _complete(self, sample: Sample) -> Sample:
        """Run the detector, and take the fitted speed where none was measured."""
        altitude, velocity, acceleration = (
            value if math.isfinite(value) else NAN
            for value in (sample.altitude, sample.velocity, sample.acceleration)
        )
        estimate = self._detector.update(
            sample.stamp_ns, altitude, velocity, acceleration, self._mach.update(sample)
        )
        self._estimate = estimate
        if math.isnan(velocity) and estimate.health not in _UNFIT:
            velocity = estimate.velocity
        return replace(sample, altitude=altitude, velocity=velocity, acceleration=acceleration)

    def _observe(self, sample: Sample) -> None:
        """Follow the transitions that the sample makes, and the sub-phases."""
        now_ns = self._clock.now_ns
        if self.phase is Phase.LAUNCH:
            self._observe_pad(sample)
        if self.phase is Phase.FLIGHT:
            fitted = NAN if self._estimate is None else self._estimate.acceleration
            self._burn.update(now_ns, sample.acceleration, fitted)
            trigger = self._end_of_ascent()
            if trigger:
                self._trigger(trigger, Mark(sample.stamp_ns, now_ns, trigger))
        if self.phase is Phase.RECOVERY:
            self._landing.update(now_ns, sample.altitude, sample.velocity)

    def _observe_pad(self, sample: Sample) -> None:
        now_ns = self._clock.now_ns
        liftoff = self._liftoff.update(
            now_ns, sample.altitude, sample.velocity, sample.acceleration
        )
        if liftoff is None:
            return
        stamp_ns = sample.stamp_ns - (now_ns - liftoff.clock_ns)
        self.liftoff = Mark(stamp_ns, liftoff.clock_ns, liftoff.source)
        self._trigger('liftoff', Mark(sample.stamp_ns, now_ns, 'liftoff'))

    def _end_of_ascent(self) -> str:
        """Return what ends the ascent now: 'apogee', 'timer', or ''."""
        now_ns = self._clock.now_ns
        ascent_ns = 0 if self.liftoff is None else now_ns - self.liftoff.clock_ns
        if self._estimate is not None and self._estimate.detected:
            if self._is_possible(ascent_ns):
                return 'apogee'
            self._withdraw()
        limit_ns = round(self._params.max_ascent_time * 1e9)
        is_over = limit_ns > 0 and ascent_ns >= limit_ns
        return 'timer' if self._timer.update(now_ns, is_over) else ''

    def _is_possible(self, ascent_ns: int) -> bool:
        """Return whether an apogee may come so soon; a feed from after it has no liftoff."""
        is_falling = self.liftoff is not None and self.liftoff.source == 'fall'
        return is_falling or ascent_ns >= self._params.min_ascent_time * 1e9

    def _withdraw(self) -> None:
        """Let the detector vote anew."""
        self._detector.withdraw()
        if self._estimate is not None:
            self._estimate = self._estimate._replace(detected=False, detected_ns=None, reason='')

    def _trigger(self, trigger: str, mark: Mark) -> None:
        row = find_transition(self.phase, trigger)
        if row is not None:
            self._follow(row, mark)

    def _follow(self, row: Transition, mark: Mark) -> None:
        if row.target is row.source:
            return
        self.phase = row.target
        self._changes.append(PhaseChange(mark.stamp_ns, row.source, row.target, row.trigger))
        if row.apogee_source:
            self.apogee = replace(mark, source=row.apogee_source)
        if row.target is Phase.LAUNCH:
            self._detector.reset()
            self._estimate = None
            self._begin_flight()
        elif row.target is Phase.FLIGHT:
            self._begin_ascent()

    def _begin_ascent(self) -> None:
        is_falling = self.liftoff is not None and self.liftoff.source == 'fall'
        self._burn.reset(burning=not is_falling)
        if self._estimate is not None and self._estimate.detected and not is_falling:
            # What was detected on the pad is no apogee of this flight.
            self._detector.reset()
            self._withdraw()

    def _begin_flight(self) -> None:
        """Forget the last flight: every latch, stamp and event."""
        self.ignition = self.liftoff = self.apogee = None
        self._clock.begin_flight()
        self._events.reset()
        self._liftoff.reset()
        self._burn.reset(burning=True)
        self._landing.reset()
        self._timer.reset()

    def _restart(self, stamp_ns: int) -> None:
        """Begin anew after time did; the clock has done so already."""
        self._frozen.reset()
        self._mach.reset()
        self._detector.reset()
        self._trigger('time restarted', Mark(stamp_ns, self._clock.now_ns, 'restart'))
        self._begin_flight()

    def _facts(self, stamp_ns: int) -> Facts:
        sample = self._sample
        if sample is None or abs(stamp_ns - sample.stamp_ns) > self._params.sample_timeout * 1e9:
            return Facts()
        return Facts(
            altitude_known=math.isfinite(sample.altitude),
            is_moving=abs(sample.velocity) > self._params.landed_velocity,
        )

    def _variables(self, sample: Sample, is_frozen: bool) -> Variables:
        variables = Variables(
            self._clock.now_ns,
            ignition_ns=_clock_ns(self.ignition),
            liftoff_ns=_clock_ns(self.liftoff),
            apogee_ns=_clock_ns(self.apogee),
            time_since_event=self._events.time_since,
        )
        if is_frozen:
            return variables
        return replace(
            variables,
            position=ned(sample.horizontal_position, sample.altitude),
            velocity=ned(sample.horizontal_velocity, sample.velocity),
            acceleration=ned(sample.horizontal_acceleration, sample.acceleration),
        )

    @staticmethod
    def _flags(sample: Sample, is_frozen: bool, verdict: Stamp) -> frozenset[str]:
        found = {
            'altitude_unknown': math.isnan(sample.altitude),
            'velocity_unknown': math.isnan(sample.velocity),
            'frozen': is_frozen,
            'jumped': verdict is not Stamp.ACCEPTED,
        }
        return frozenset(name for name, is_set in found.items() if is_set)

    def _deployer_commands(self, fired: Sequence[EventFired]) -> tuple[DeployerCommand, ...]:
        return tuple(
            DeployerCommand(
                action.target,
                self._deployers[action.target].name,
                event.stamp_ns,
                round(action.param * 1e6),
            )
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
    ) -> FlightReport:
        changes, self._changes = tuple(self._changes), []
        return FlightReport(
            stamp_ns,
            verdict,
            self.phase,
            self.subphase,
            self._estimate,
            changes,
            tuple(fired),
            self._deployer_commands(fired),
            self.ignition,
            self.liftoff,
            self.apogee,
            flags,
        )


def _clock_ns(mark: Mark | None) -> int | None:
    return None if mark is None else mark.clock_ns
