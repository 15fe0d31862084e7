# SPDX-License-Identifier: Apache-2.0
"""What a flight state makes of samples and commands, from the pad to the ground."""
import math

import pytest

from deployments import deployments
from flown_vehicle import APOGEE, DEPLOYERS, DROGUE, NAN, RATE, G, Motion, S, Vehicle, at_rest
from parts import few_of
from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeEstimate, ApogeeParams
from propulsion_ros.flight.events.conditions import All, MoreThan
from propulsion_ros.flight.events.controllers import PidSpec
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.timing.flight_clock import Stamp

LOW = EventSpec(
    1, 'main', All((APOGEE, MoreThan('Position', 2, -100.0))), (Action('deployment', 1, 2000.0),)
)
FLIGHT = Motion()
FALLING = Motion(descent=25.0)
"""What sinks slower may be carried."""


class FakeDetector:
    """Detects once told to in the air, and latches until reset."""

    is_told = flies = latched = False

    def update(self, stamp_ns, altitude, velocity=NAN, acceleration=NAN):
        self.latched |= self.is_told and self.flies
        return ApogeeEstimate(stamp_ns, self.latched)

    def reset(self):
        self.latched = False

    withdraw = reset

    def expect(self, *, flies, may_light, pad):
        self.flies = flies

    def wait(self, stamp_ns):
        return self.update(stamp_ns, NAN)


def made(detector=None, **options):
    return Vehicle(detector=detector, **{'events': (DROGUE, LOW), **options})


def in_flight(detector=None, until=1.0, **options):
    """Return a vehicle some time after ignition."""
    vehicle = made(detector, **options).arm().fly(until, FLIGHT)
    assert vehicle.state.phase is Phase.FLIGHT
    return vehicle


def times(vehicle, name):
    return [time for event, time in vehicle.fired if event == name]


def apogee(vehicle):
    """Return the time of the apogee [s]."""
    return vehicle.state.apogee.stamp_ns / S - vehicle.offset


def test_whole_flight_and_a_second_one():
    vehicle, flights, each = made(), [], ['launch', 'flight', 'recovery']
    for _ in range(2):
        subphases, vehicle.fired = [], []
        vehicle.arm()
        assert vehicle.state.apogee is None
        while vehicle.t < FLIGHT.landing + 8.0:
            vehicle.fly(vehicle.t + 1.0 / RATE, FLIGHT)
            if vehicle.report.subphase.value not in subphases[-1:]:
                subphases.append(vehicle.report.subphase.value)
        assert subphases == ['', 'boost', 'coast', 'descent', 'landed']
        assert vehicle.report.liftoff.source == 'acceleration'
        assert vehicle.report.liftoff.stamp_ns == vehicle.stamp(0.0)
        assert vehicle.report.apogee.source == 'detected'
        flights.append((apogee(vehicle), *vehicle.fired))
        assert vehicle.command('reset') == ''
        vehicle.offset, vehicle.t = vehicle.offset + FLIGHT.landing + 20.0, -10.0
    assert vehicle.phases == [*each, 'preflight', *each]
    decided, drogue, (_, main) = flights[0]
    assert decided == pytest.approx(FLIGHT.apogee, abs=0.3)
    assert drogue == ('drogue', decided)
    assert FLIGHT(main)[0] <= 100.0 < FLIGHT(main - 1.5 / RATE)[0]
    assert flights[1] == (
        pytest.approx(decided, abs=1e-6), ('drogue', pytest.approx(decided, abs=1e-6)),
        ('main', pytest.approx(main, abs=1e-6)),
    )


@pytest.mark.parametrize(
    ('command', 'source'), [('abort', 'abort'), ('apogee_override', 'override')]
)
def test_forced_end_of_ascent_stamps_apogee_and_the_drogue_comes(command, source):
    vehicle = in_flight(FakeDetector())
    assert vehicle.command(command) == ''
    vehicle.fly(2.0, FLIGHT)
    assert vehicle.report.apogee.source == source
    assert apogee(vehicle) == pytest.approx(1.0 - 1.0 / RATE)
    assert times(vehicle, 'drogue') == [1.0]


def test_no_apogee_is_believed_before_the_least_time_of_ascent():
    vehicle = in_flight(FakeDetector(), params={'min_ascent_time': 10.0})
    for until, is_told in ((2.0, True), (12.0, False)):
        vehicle.detector.is_told = is_told
        vehicle.fly(until, FLIGHT)
    assert vehicle.state.phase is Phase.FLIGHT, 'what was withdrawn must be voted anew'
    vehicle.detector.is_told = True
    assert vehicle.fly(12.1, FLIGHT).phases[-1] == 'recovery'


@pytest.mark.parametrize(('least', 'earliest'), [
    pytest.param(FLIGHT.apogee, FLIGHT.apogee, id='least time'),
    pytest.param(0.0, FLIGHT.apogee - 20.0 / G, id='it climbs'),
])
def test_a_detection_that_goes_on_counts_after_the_least_time_and_a_fast_climb(least, earliest):
    vehicle = in_flight(FakeDetector(), params={'min_ascent_time': least})
    vehicle.detector.is_told = True
    vehicle.fly(15.0, FLIGHT)
    assert vehicle.report.apogee.source == 'detected'
    (drogue,) = times(vehicle, 'drogue')
    assert earliest - 1.1 / RATE < drogue <= FLIGHT.apogee + 1.1 / RATE


def test_real_detector_votes_anew_after_the_least_time():
    least = FLIGHT.apogee + 3.0
    vehicle = made(params={'min_ascent_time': least}).arm().fly(least + 7.0, FLIGHT)
    assert vehicle.report.apogee.source == 'detected'
    assert least < apogee(vehicle) < least + 0.5


@pytest.mark.parametrize(('start', 'params', 'liftoff'), [
    pytest.param(2.0, {}, 'acceleration', id='in boost'),
    pytest.param(5.0, {}, 'climb', id='in coast'),
    pytest.param(FLIGHT.apogee + 5.0, {}, 'fall', id='under the drogue'),
    pytest.param(FLIGHT.apogee + 5.0, {'min_ascent_time': 60.0}, 'fall',
                 id='under the drogue, before the least time of an ascent'),
])
def test_feed_that_begins_in_the_air_comes_down(start, params, liftoff):
    vehicle = made(params=params)
    vehicle.t = start
    vehicle.fly(start + 1.0 / RATE, FALLING)
    assert vehicle.command('launch') == ''
    # A barometer that starts may settle for 10 s.
    vehicle.fly(FALLING.apogee + 18.0, FALLING)
    assert vehicle.report.liftoff.source == liftoff
    assert vehicle.phases == ['launch', 'flight', 'recovery']
    assert len(times(vehicle, 'drogue')) == 1


def test_window_of_the_backup_must_not_be_empty():
    with pytest.raises(ConfigError, match=r'min_ascent_time.*9 s is above max_ascent_time, 8 s'):
        FlightParams(min_ascent_time=9.0, max_ascent_time=8.0)


@pytest.mark.parametrize('noise', [0.0, 1e-4], ids=['never filled in', 'noise alone'])
def test_velocity_input_of_0_hides_no_flight(noise):
    class Blind(Vehicle):
        def measured(self, i, t, values):
            altitude, *_ = super().measured(i, t, values)
            return altitude, noise * (-1) ** i, NAN

    vehicle = Blind(events=(DROGUE,)).arm().fly(20.0, FLIGHT)
    assert vehicle.phases == ['launch', 'flight', 'recovery']
    assert vehicle.report.liftoff.source == 'climb'
    assert times(vehicle, 'drogue') == [pytest.approx(FLIGHT.apogee, abs=0.3)]


@pytest.mark.parametrize('is_overridden', [False, True], ids=['liftoff', 'override'])
def test_detection_on_the_pad_does_not_end_the_next_ascent(is_overridden):
    vehicle = made(FakeDetector()).arm()
    vehicle.detector.is_told = True
    vehicle.fly(-0.5, at_rest)
    assert vehicle.state.phase is Phase.LAUNCH
    vehicle.detector.is_told = False
    if is_overridden:
        vehicle.override_liftoff()
    vehicle.fly(0.0, at_rest).fly(0.2 if is_overridden else 5.0, FLIGHT)
    assert vehicle.state.phase is Phase.FLIGHT
    assert (vehicle.report.liftoff.source == 'override') is is_overridden
    assert vehicle.fired == []


def test_repeated_late_and_stray_samples_are_counted_and_change_nothing():
    vehicle = in_flight(FakeDetector(), params={'max_ascent_time': 15.0})
    before = vehicle.report
    for t in (1.0 - 1.0 / RATE, 0.9, 1000.0, -100.0):
        vehicle.take(Sample(vehicle.stamp(t), 1e6, -100.0, -100.0))
        report = vehicle.report
        assert (report.phase, report.apogee, report.events) == (before.phase, None, ())
    counts = vehicle.state.stamp_counts
    assert [counts[stamp] for stamp in (Stamp.DUPLICATE, Stamp.LATE, Stamp.STRAY)] == [1, 1, 2]
    assert vehicle.fly(3.0, FLIGHT).state.phase is Phase.FLIGHT
    assert vehicle.fired == []


def test_simulation_that_starts_again_is_a_new_flight():
    vehicle = in_flight(FakeDetector(), keeps_flight=False)
    vehicle.offset, vehicle.t = 12.0, -10.0
    vehicle.fly(-9.0, at_rest)
    assert vehicle.phases == ['launch', 'flight', 'preflight']
    assert vehicle.notices[-1].startswith('time has started again')
    assert vehicle.state.liftoff is None
    assert vehicle.arm().fly(1.0, FLIGHT).state.phase is Phase.FLIGHT


@pytest.mark.parametrize('until', few_of([
    pytest.param(8.0, id='coast'), pytest.param(2.0, id='boost'),
    pytest.param(FLIGHT.apogee + 5.0, id='descent'),
], 3))
def test_sensor_that_starts_anew_without_the_time_does_not_end_a_flight_of_a_robot(until):
    vehicle = made().arm().fly(until, FLIGHT)
    vehicle.offset = -until
    vehicle.fly(FLIGHT.landing + 8.0, FLIGHT)
    assert vehicle.phases == ['launch', 'flight', 'recovery']
    assert vehicle.names == ['drogue', 'main']
    assert vehicle.report.subphase.value == 'landed'


def test_stamps_that_were_never_set_do_not_end_a_flight_of_a_robot():
    vehicle = in_flight(until=8.0)
    for _ in range(50):
        vehicle.take(Sample(0, 300.0, 50.0, -G))
    vehicle.fly(FLIGHT.apogee + 1.0, FLIGHT)
    assert vehicle.phases == ['launch', 'flight', 'recovery']
    assert times(vehicle, 'drogue') == [pytest.approx(FLIGHT.apogee, abs=0.4)]


def test_launch_is_refused_blind_unless_forced():
    vehicle = made()
    refusal = "'launch' is refused: no recent sample gives an altitude"
    assert vehicle.command('launch') == refusal
    for altitude, seconds in ((NAN, 0.0), (0.0, 5.0)):
        vehicle.take(Sample(vehicle.stamp(vehicle.t), altitude))
        vehicle.t += seconds
        assert vehicle.command('launch') == refusal
    assert vehicle.command('launch', force=True) == ''
    assert vehicle.command('reset', force=True) == (
        "'reset' is refused in launch, it belongs to recovery or debug"
    )


def test_ignition_is_stamped_once_and_conditions_see_it():
    vehicle = made(events=(EventSpec(0, 'lit', MoreThan('TimeSinceIgnition', 0, 500.0)),)).arm()
    begun = vehicle.t - 1.0 / RATE
    assert vehicle.command('ignition') == ''
    vehicle.fly(vehicle.t + 0.2, at_rest)
    again = "'ignition' is refused: it was commanded before: abort and launch again"
    assert vehicle.command('ignition') == again
    vehicle.fly(0.0, at_rest)
    assert vehicle.state.ignition.stamp_ns == vehicle.stamp(begun)
    assert times(vehicle, 'lit') == [pytest.approx(begun + 0.5, abs=1.0 / RATE)]


def test_engine_that_did_not_light_is_lit_again_after_an_abort():
    vehicle = made(events=(EventSpec(0, 'lit', MoreThan('TimeSinceIgnition', 0, 0.0)),)).arm()
    begun = []
    for _ in range(2):
        begun.append(vehicle.t)
        assert vehicle.command('ignition') == ''
        vehicle.fly(vehicle.t + 1.0, at_rest)
        assert vehicle.command('abort') == ''
        assert vehicle.command('launch') == ''
    assert times(vehicle, 'lit') == begun


def test_events_run_in_armed_phases_alone():
    always = EventSpec(0, 'always', MoreThan('Position', 2, -1e9), (Action('command', 1, 2.0),))
    vehicle = made(events=(always,)).fly(-5.0, at_rest)
    assert vehicle.command('debug') == ''
    assert vehicle.fly(-4.0, at_rest).fired == []
    assert vehicle.command('reset') == ''
    assert vehicle.command('launch') == ''
    assert vehicle.fly(-3.0, at_rest).fired == [('always', -4.0)]


def test_infinite_values_are_unknown_ones():
    vehicle = made(FakeDetector()).arm()
    vehicle.take(Sample(vehicle.stamp(vehicle.t), math.inf, -math.inf, math.inf))
    assert vehicle.report.flags == {'altitude_unknown', 'velocity_unknown'}
    assert vehicle.report.phase is Phase.LAUNCH


# Phases that commands lead through, and what runs in them.


def test_debug_says_so_until_the_vehicle_is_back_on_the_pad():
    vehicle, seen = made().fly(-9.0, at_rest), []
    for name in ('debug', 'launch', 'abort', 'launch', 'abort', 'debug', 'reset'):
        assert vehicle.command(name) == ''
        vehicle.fly(vehicle.t + 1.0 / RATE, at_rest)
        seen.append((vehicle.state.phase.value, 'debug' in vehicle.report.flags))
    assert seen == [
        ('debug', True), ('launch', True), ('preflight', False), ('launch', False),
        ('preflight', False), ('debug', True), ('preflight', False),
    ]


@pytest.mark.parametrize(('command', 'phase'), [
    ('launch', Phase.LAUNCH), ('liftoff_override', Phase.FLIGHT),
    ('apogee_override', Phase.RECOVERY),
])
def test_debug_leads_everywhere_without_an_altitude_and_with_a_clean_slate(command, phase):
    vehicle = made(events=(EventSpec(0, 'once', APOGEE),)).fly(-9.0, at_rest)
    assert vehicle.command('launch') == ''
    vehicle.override_liftoff()
    for begun, name in ((0.0, 'abort'), (10.0, 'reset'), (0.0, 'debug')):
        vehicle.fly(vehicle.t + begun, at_rest)
        assert vehicle.command(name) == ''
    vehicle.fly(vehicle.t + 4.0, at_rest)
    vehicle.fired = []
    if command == 'liftoff_override':
        vehicle.override_liftoff()
    else:
        assert vehicle.command(command) == ''
    vehicle.fly(vehicle.t + 2.0 / RATE, at_rest)
    assert vehicle.state.phase is phase
    assert (vehicle.state.liftoff is not None) == (phase is Phase.FLIGHT)
    assert vehicle.names == (['once'] if phase is Phase.RECOVERY else [])


def test_set_home_belongs_to_preflight_and_needs_an_altitude():
    vehicle = made()
    assert vehicle.command('set_home') == (
        "'set_home' is refused: no recent sample gives an altitude"
    )
    vehicle.fly(-9.0, at_rest)
    assert vehicle.command('set_home') == ''
    assert vehicle.state.phase is Phase.PREFLIGHT
    assert vehicle.command('launch') == ''
    assert vehicle.command('set_home') == (
        "'set_home' is refused in launch, it belongs to preflight"
    )


class Aside(Vehicle):
    """A vehicle that stands 3 m east of its home."""

    def take(self, sample, **options):
        super().take(sample._replace(horizontal_position=(3.0, 0.0)), **options)


def test_controllers_run_in_flight_alone_and_events_stop_them():
    stop, run = (
        EventSpec(i, f'{i}', MoreThan('TimeSinceLiftoff', 0, 1e3 * (i + 1)),
                  (Action('controller', 0, i),)) for i in range(2)
    )
    vehicle = Aside(
        events=(stop, run), controllers=(PidSpec(0, 'east', 1.0, 0.0, 0.0, 0.0, 0, 0),)
    ).arm()
    assert vehicle.report.controls == ()
    vehicle.override_liftoff()
    outputs = []
    for _ in range(3):
        vehicle.fly(vehicle.t + 0.9, at_rest)
        outputs += [repr(control.output) for control in vehicle.report.controls]
    assert outputs == ['-3.0', 'nan', '-3.0']
    assert vehicle.command('abort') == ''
    assert vehicle.fly(vehicle.t + 0.1, at_rest).report.controls == ()


def test_events_see_the_attitude():
    vehicle, half = made(events=(
        EventSpec(0, 'tilted', MoreThan('Tilt', 0, 1.0)),
        EventSpec(1, 'rolled', MoreThan('BoardOrientation', 0, 1.0)),
    )).arm(), math.sqrt(0.5)
    assert vehicle.fired == []
    vehicle.take(Sample(vehicle.stamp(vehicle.t), 0.0, rotation=(half, 0.0, 0.0, half)))
    assert vehicle.names == ['tilted', 'rolled']


@pytest.mark.parametrize('action', [Action('deployment', 2, 1.0), Action('controller', 1, 1.0)])
def test_actions_on_what_is_not_there_are_refused_at_once(action):
    event = EventSpec(0, 'e', MoreThan('Tilt', 0, 1.0), (action,))
    with pytest.raises(ConfigError, match=f'events\\[0\\].*{action.kind} {action.target} of'):
        made(events=(event,))


def test_legacy_semantics_can_be_flown():
    silent = EventSpec(0, 'later', MoreThan('TimeSinceLiftoff', 0, 100.0), (), True, 0)
    vehicle = made(events=(silent,), semantics='legacy').arm()
    begun = vehicle.t
    vehicle.override_liftoff()
    assert vehicle.fly(begun + 0.3, at_rest).fired == [
        ('later', pytest.approx(begun + 0.1, abs=1.0 / RATE))
    ]


def test_other_semantics_are_refused():
    with pytest.raises(ConfigError, match="'semantics': expected 'safe' or 'legacy', got 'legcy'"):
        FlightState(FlightParams(), ApogeeDetector(ApogeeParams()), semantics='legcy')


# Safety defects of the flown software that no other test has, by what happens here instead.


MS = 1_000_000
FALL = Motion(descent=1000.0)


@pytest.mark.parametrize('method', ['robust', 'legacy'])
def test_nothing_of_a_flight_outlives_it(method):
    vehicle = Vehicle(events=(DROGUE,), method=method)
    for start in (0.0, 100.0):
        def moved(t, start=start):
            return FALL(t - start)

        vehicle.t = start - 4.0
        vehicle.fly(start - 3.0, moved)
        assert vehicle.command('launch') == ''
        vehicle.fly(start + 1.0, moved)
        assert vehicle.state.phase is Phase.FLIGHT, 'no apogee of the flight before'
        assert vehicle.command('abort') == ''
        vehicle.fly(start + 10.0, at_rest)
        assert vehicle.command('reset') == ''
    assert vehicle.names == ['drogue', 'drogue']
    assert vehicle.command('launch') == ''
    vehicle.fly(118.0, at_rest)
    assert len(vehicle.fired) == 2, 'nothing on the pad'


def test_detection_works_a_minute_after_launch():
    vehicle = Vehicle(events=(DROGUE,)).arm()
    vehicle.fly(89.0, at_rest).fly(90.0 + FALL.apogee + 2.0, lambda t: FALL(t - 90.0))
    assert vehicle.state.apogee.source == 'detected'


def test_delays_count_from_the_decision():
    late = EventSpec(1, 'payload', MoreThan('TimeSinceApogee', 0, 10e3))
    vehicle = Vehicle(events=(DROGUE, late)).arm()
    vertex = FALL.apogee + 12.0
    # A feed that falls silent until long after the vertex that its fit predicts.
    vehicle.fly(FALL.apogee - 0.5, FALL).fly(vertex, lambda t: (NAN, NAN, NAN))
    (_, drogue), (_, payload) = vehicle.fly(vertex + 15.0, FALL).fired
    assert payload - drogue == pytest.approx(10.0, abs=0.021)


def test_every_action_keeps_its_own_parameter():
    events = tuple(
        EventSpec(i, f'{i}', MoreThan('TimeSinceLiftoff', 0, 100.0 * i),
                  (Action('deployment', 0, 100.0 + i), Action('deployment', 0, 200.0 + i)))
        for i in range(3)
    )
    vehicle = Vehicle(events=events).arm()
    on_times = []
    for i in range(-RATE, 2 * RATE):
        vehicle.fly((i + 1) / RATE, FALL)
        on_times += [command.on_time_ns // MS for command in deployments(vehicle.report, DEPLOYERS)]
    assert on_times == [100, 200, 101, 201, 102, 202]
