# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from deployments import deployments
from parts import few_of
from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeEstimate, ApogeeParams
from propulsion_ros.flight.events.conditions import All, MoreThan
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.timing.flight_clock import Stamp

NAN = math.nan
S = 1_000_000_000
RATE = 50
G = 9.80665

DEPLOYERS = (DeployerSpec(0, 'drogue'), DeployerSpec(1, 'main'))
APOGEE = MoreThan('TimeSinceApogee', 0, 0.0)
EVENTS = (
    EventSpec(0, 'drogue', APOGEE, (Action('deployment', 0, 1000.0),)),
    EventSpec(
        1, 'main', All((MoreThan('Position', 2, -100.0), APOGEE)),
        (Action('deployment', 1, 2000.0),),
    ),
)
BURN_TIME, THRUST_ACCELERATION, DESCENT = 3.0, 30.0, 10.0
BURNOUT_SPEED = THRUST_ACCELERATION * BURN_TIME
BURNOUT_ALTITUDE = 0.5 * BURNOUT_SPEED * BURN_TIME
APOGEE_TIME = BURN_TIME + BURNOUT_SPEED / G
APOGEE_ALTITUDE = BURNOUT_ALTITUDE + 0.5 * BURNOUT_SPEED**2 / G
LANDING_TIME = APOGEE_TIME + APOGEE_ALTITUDE / DESCENT


class FakeDetector:
    """Detects once told to in the air, and latches until reset."""

    def __init__(self):
        self.is_told = self.flies = False
        self.resets = 0
        self.latched = False
        self.velocity = NAN
        self.health = 'ok'

    def update(self, stamp_ns, altitude, velocity=NAN, acceleration=NAN):
        self.latched |= self.is_told and self.flies
        return ApogeeEstimate(stamp_ns, self.latched, velocity=self.velocity, health=self.health)

    def reset(self):
        self.resets += 1
        self.latched = False

    def withdraw(self):
        self.latched = False

    def expect(self, *, flies, may_light, pad):
        self.flies, self.may_light, self.pad = flies, may_light, pad

    def wait(self, stamp_ns):
        return self.update(stamp_ns, NAN)


def wiggle(i):
    return 1e-4 * (-1) ** i


def motion(t):
    """Return altitude, velocity and acceleration t seconds after liftoff, in closed form."""
    if t < 0.0 or t > LANDING_TIME:
        return 0.0, 0.0, 0.0
    if t < BURN_TIME:
        a = THRUST_ACCELERATION
        return 0.5 * a * t * t, a * t, a
    if t < APOGEE_TIME:
        s = t - BURN_TIME
        return BURNOUT_ALTITUDE + BURNOUT_SPEED * s - 0.5 * G * s * s, BURNOUT_SPEED - G * s, -G
    return APOGEE_ALTITUDE - DESCENT * (t - APOGEE_TIME), -DESCENT, 0.0


def motion_under_drogue(t):
    """Return `motion` with 15 m/s more speed on the way down: what is slower may be carried."""
    altitude, velocity, acceleration = motion(t)
    past = max(0.0, t - APOGEE_TIME)
    return altitude - 15.0 * past, velocity - 15.0 * (past > 0.0), acceleration


def at_rest(t):
    return 0.0, 0.0, 0.0


class Flight:
    """A flight state that is fed a feed whose time is in seconds after liftoff."""

    def __init__(
        self, detector=None, events=EVENTS, offset=100.0, keeps_flight=False, **params
    ):
        self.detector = detector or ApogeeDetector(ApogeeParams())
        self.state = FlightState(
            FlightParams(**params), self.detector, events, DEPLOYERS, keeps_flight=keeps_flight
        )
        self.offset = offset
        self.changes = []
        self.fired = []
        self.commands = []
        self.subphases = []
        self.report = None

    def stamp(self, t):
        return round((t + self.offset) * S)

    def feed(self, start, stop, at=motion):
        """Feed samples at 50 Hz from start to before stop [s]."""
        for i in range(round(start * RATE), round(stop * RATE)):
            altitude, velocity, acceleration = at(i / RATE)
            self.sample(i / RATE, altitude + wiggle(i), velocity + wiggle(i),
                        acceleration + wiggle(i))
        return self

    def sample(self, t, altitude, velocity=NAN, acceleration=NAN):
        self.report = self.state.update(Sample(self.stamp(t), altitude, velocity, acceleration))
        self.changes += [
            (c.target.value, c.trigger, (c.stamp_ns / S) - self.offset)
            for c in self.report.phase_changes
        ]
        self.fired += [(e.name, e.stamp_ns / S - self.offset) for e in self.report.events]
        self.commands += deployments(self.report, DEPLOYERS)
        if self.report.subphase.value not in self.subphases[-1:]:
            self.subphases.append(self.report.subphase.value)
        return self.report

    def command(self, name, t, **options):
        return self.state.command(name, self.stamp(t), **options)

    def override_liftoff(self, t):
        """Request it twice, as it must be."""
        assert 'request it again' in self.command('liftoff_override', t)
        assert self.command('liftoff_override', t, is_second=True) == ''

    def armed(self, t=-3.0):
        """Rest on the pad for two seconds and arm."""
        self.feed(t - 2.0, t)
        assert self.command('launch', t) == ''
        return self

    @property
    def words(self):
        return [target for target, _, _ in self.changes]

    def times(self, name):
        return [time for event, time in self.fired if event == name]


def in_flight(detector=None, **options):
    """Return a flight one second after liftoff."""
    flight = Flight(detector, **options).armed().feed(-3.0, 1.0)
    assert flight.state.phase is Phase.FLIGHT
    return flight


def test_whole_flight_and_a_second_one():
    flight = Flight().armed().feed(-3.0, LANDING_TIME + 8.0)
    assert flight.words == ['launch', 'flight', 'recovery']
    assert flight.subphases == ['', 'boost', 'coast', 'descent', 'landed']
    report = flight.report
    assert report.liftoff.source == 'acceleration'
    assert report.liftoff.stamp_ns == flight.stamp(0.0)
    assert report.apogee.source == 'detected'
    assert report.apogee.stamp_ns / S - flight.offset == pytest.approx(APOGEE_TIME, abs=0.3)
    (drogue,), (main,) = flight.times('drogue'), flight.times('main')
    assert drogue == report.apogee.stamp_ns / S - flight.offset
    assert main == pytest.approx(APOGEE_TIME + (APOGEE_ALTITUDE - 100.0) / DESCENT, abs=1.5 / RATE)
    assert [(c.name, c.on_time_ns) for c in flight.commands] == [
        ('drogue', 1 * S), ('main', 2 * S),
    ]
    assert flight.command('reset', LANDING_TIME + 8.0) == ''
    assert flight.state.phase is Phase.PREFLIGHT
    first, flight.fired = flight.fired, []
    subphases, flight.subphases = flight.subphases, []
    flight.offset += LANDING_TIME + 20.0
    flight.armed()
    assert flight.state.apogee is None
    flight.feed(-3.0, LANDING_TIME + 8.0)
    assert flight.subphases == subphases
    assert flight.fired == [(name, pytest.approx(t, abs=1e-6)) for name, t in first]


@pytest.mark.parametrize(
    ('command', 'source'), [('abort', 'abort'), ('apogee_override', 'override')]
)
def test_forced_end_of_ascent_stamps_apogee_and_the_drogue_comes(command, source):
    flight = in_flight(FakeDetector())
    assert flight.command(command, 1.0) == ''
    flight.feed(1.0, 2.0)
    assert flight.report.apogee.source == source
    assert flight.report.apogee.stamp_ns == flight.stamp(1.0)
    assert flight.times('drogue') == [1.0]


def test_no_apogee_is_believed_before_the_least_time_of_ascent():
    detector = FakeDetector()
    flight = in_flight(detector, min_ascent_time=10.0)
    detector.is_told = True
    flight.feed(1.0, 2.0)
    detector.is_told = False
    flight.feed(2.0, 12.0)
    assert flight.state.phase is Phase.FLIGHT, 'what was withdrawn must be voted anew'
    detector.is_told = True
    flight.feed(12.0, 12.1)
    assert flight.words[-1] == 'recovery'


@pytest.mark.parametrize(('least', 'earliest'), [
    pytest.param(APOGEE_TIME, APOGEE_TIME, id='least time'),
    pytest.param(0.0, APOGEE_TIME - 20.0 / G, id='it climbs'),
])
def test_a_detection_that_goes_on_counts_after_the_least_time_and_a_fast_climb(least, earliest):
    detector = FakeDetector()
    flight = in_flight(detector, min_ascent_time=least)
    detector.is_told = True
    flight.feed(1.0, 15.0)
    assert flight.report.apogee.source == 'detected'
    (drogue,) = flight.times('drogue')
    assert earliest - 0.021 < drogue <= APOGEE_TIME + 0.021


def test_real_detector_votes_anew_after_the_least_time():
    least = APOGEE_TIME + 3.0
    flight = Flight(min_ascent_time=least).armed().feed(-3.0, APOGEE_TIME + 10.0)
    assert flight.report.apogee.source == 'detected'
    assert least < flight.report.apogee.stamp_ns / S - flight.offset < least + 0.5


def test_a_feed_that_begins_in_the_fall_ends_in_recovery_without_a_least_time_of_ascent():
    start = APOGEE_TIME + 5.0
    flight = Flight(min_ascent_time=60.0)
    flight.sample(start, *motion_under_drogue(start))
    assert flight.command('launch', start) == ''
    # A barometer that starts may settle for 10 s.
    flight.feed(start + 0.02, start + 12.0, at=motion_under_drogue)
    assert flight.words == ['launch', 'flight', 'recovery']


def test_window_of_the_backup_must_not_be_empty():
    with pytest.raises(ConfigError, match=r'min_ascent_time.*9 s is above max_ascent_time, 8 s'):
        FlightParams(min_ascent_time=9.0, max_ascent_time=8.0)


@pytest.mark.parametrize('noise', [0.0, 1.0], ids=['never filled in', 'noise alone'])
def test_velocity_input_of_0_hides_no_flight(noise):
    flight = Flight()
    for i in range(-5 * RATE, 20 * RATE):
        flight.sample(i / RATE, motion(i / RATE)[0] + wiggle(i), noise * wiggle(i))
        if i == -3 * RATE:
            assert flight.command('launch', -3.0) == ''
    assert flight.words == ['launch', 'flight', 'recovery']
    assert flight.report.liftoff.source == 'climb'
    assert flight.times('drogue') == [pytest.approx(APOGEE_TIME, abs=0.3)]


def test_detection_on_the_pad_does_not_end_the_next_ascent():
    detector = FakeDetector()
    flight = Flight(detector)
    flight.armed()
    detector.is_told = True
    flight.feed(-3.0, 0.0)
    assert flight.state.phase is Phase.LAUNCH
    assert flight.fired == []
    detector.is_told = False
    flight.feed(0.0, 5.0)
    assert flight.state.phase is Phase.FLIGHT


def test_override_of_liftoff_drops_a_detection_on_the_pad_too():
    detector = FakeDetector()
    flight = Flight(detector).armed()
    detector.is_told = True
    flight.feed(-3.0, -2.0)
    detector.is_told = False
    flight.override_liftoff(-2.0)
    flight.feed(-2.0, -1.0)
    assert flight.state.phase is Phase.FLIGHT
    assert flight.report.liftoff.source == 'override'


def test_repeated_late_and_stray_samples_are_counted_and_change_nothing():
    flight = in_flight(FakeDetector(), max_ascent_time=15.0)
    before = flight.report
    for t in (0.98, 0.9, 1000.0, -100.0):
        report = flight.sample(t, 1e6, -100.0, -100.0)
        assert (report.phase, report.apogee, report.events) == (before.phase, None, ())
    counts = flight.state.stamp_counts
    assert [counts[stamp] for stamp in (Stamp.DUPLICATE, Stamp.LATE, Stamp.STRAY)] == [1, 1, 2]
    flight.feed(1.0, 3.0)
    assert flight.state.phase is Phase.FLIGHT
    assert flight.fired == []


def test_simulation_that_starts_again_is_a_new_flight():
    flight = in_flight(FakeDetector())
    flight.offset = 2.0
    flight.feed(-2.0, -1.0)
    assert flight.words == ['launch', 'flight', 'preflight']
    assert flight.changes[-1][1] == 'time restarted'
    assert flight.state.liftoff is None
    flight.offset = 10.0
    flight.armed().feed(-3.0, 1.0)
    assert flight.state.phase is Phase.FLIGHT


@pytest.mark.parametrize('until', few_of([
    pytest.param(8.0, id='coast'), pytest.param(2.0, id='boost'),
    pytest.param(APOGEE_TIME + 5.0, id='descent'),
], 3))
def test_sensor_that_starts_anew_without_the_time_does_not_end_a_flight_of_a_robot(until):
    flight = Flight(keeps_flight=True).armed().feed(-3.0, until)
    flight.offset = -until
    flight.feed(until, LANDING_TIME + 8.0)
    assert flight.words == ['launch', 'flight', 'recovery']
    assert [name for name, _ in flight.fired] == ['drogue', 'main']
    assert flight.subphases[-1] == 'landed'


def test_stamps_that_were_never_set_do_not_end_a_flight_of_a_robot():
    flight = Flight(keeps_flight=True).armed().feed(-3.0, 8.0)
    for _ in range(50):
        flight.state.update(Sample(0, 300.0, 50.0, -G))
    flight.feed(8.0, APOGEE_TIME + 1.0)
    assert flight.words == ['launch', 'flight', 'recovery']
    assert flight.times('drogue') == [pytest.approx(APOGEE_TIME, abs=0.4)]


@pytest.mark.parametrize(
    ('start', 'liftoff'),
    [
        pytest.param(2.0, 'acceleration', id='in boost'),
        pytest.param(5.0, 'climb', id='in coast'),
        pytest.param(APOGEE_TIME + 5.0, 'fall', id='under the drogue'),
    ],
)
def test_log_that_begins_in_the_air_comes_down(start, liftoff):
    flight = Flight()
    flight.feed(start, start + 0.02, at=motion_under_drogue)
    assert flight.command('launch', start) == ''
    flight.feed(start + 0.02, APOGEE_TIME + 20.0, at=motion_under_drogue)
    assert flight.report.liftoff.source == liftoff
    assert flight.state.phase is Phase.RECOVERY
    assert len(flight.times('drogue')) == 1


def test_launch_is_refused_blind_unless_forced():
    flight = Flight()
    refusal = "'launch' is refused: no recent sample gives an altitude"
    assert flight.command('launch', 0.0) == refusal
    flight.sample(0.0, NAN)
    assert flight.command('launch', 0.0) == refusal
    flight.sample(0.1, 0.0)
    assert flight.command('launch', 5.0) == refusal
    assert flight.command('launch', 5.0, force=True) == ''
    assert flight.command('reset', 5.0, force=True) == (
        "'reset' is refused in launch, it belongs to recovery or debug"
    )


def test_ignition_is_stamped_once_and_conditions_see_it():
    events = (EventSpec(0, 'lit', MoreThan('TimeSinceIgnition', 0, 500.0)),)
    flight = Flight(FakeDetector(), events=events).armed()
    assert flight.command('ignition', -3.0) == ''
    flight.feed(-3.0, -2.8)
    again = "'ignition' is refused: it was commanded before: abort and launch again"
    assert flight.command('ignition', -2.8) == again
    flight.feed(-2.8, 0.0)
    assert flight.state.ignition.stamp_ns == flight.stamp(-3.0)
    # The clock stood at the last sample before the command, 0.02 s earlier.
    assert flight.times('lit') == [pytest.approx(-2.52, abs=1e-6)]


def test_engine_that_did_not_light_is_lit_again_after_an_abort():
    events = (EventSpec(0, 'lit', MoreThan('TimeSinceIgnition', 0, 0.0)),)
    flight = Flight(FakeDetector(), events=events).armed()
    for begin in (-3.0, -2.0):
        assert flight.command('ignition', begin) == ''
        flight.feed(begin, begin + 1.0, at=at_rest)
        assert flight.command('abort', begin + 1.0) == ''
        assert flight.command('launch', begin + 1.0) == ''
    assert flight.times('lit') == [-3.0, -2.0]


def test_events_run_in_armed_phases_alone():
    events = (EventSpec(0, 'always', MoreThan('Position', 2, -1e9), (Action('command', 1, 2.0),)),)
    flight = Flight(FakeDetector(), events=events).feed(-5.0, -3.0)
    assert flight.fired == []
    assert flight.command('debug', -3.0) == ''
    flight.feed(-3.0, -2.0)
    assert flight.fired == []
    assert flight.command('reset', -2.0) == ''
    assert flight.command('launch', -2.0) == ''
    flight.feed(-2.0, -1.0)
    assert flight.times('always') == [-2.0]


def test_infinite_values_are_unknown_ones():
    flight = Flight(FakeDetector()).armed()
    report = flight.sample(-3.0, math.inf, -math.inf, math.inf)
    assert report.flags == {'altitude_unknown', 'velocity_unknown'}
    assert report.phase is Phase.LAUNCH


def test_other_semantics_are_refused():
    with pytest.raises(ConfigError, match="'semantics': expected 'safe' or 'legacy', got 'legcy'"):
        FlightState(FlightParams(), ApogeeDetector(ApogeeParams()), semantics='legcy')
