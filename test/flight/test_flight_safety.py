# SPDX-License-Identifier: Apache-2.0
"""What must not fire or light, and what must fire all the same: rule by rule."""
import contextlib
import copy
import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from flown_vehicle import (
    ACCELERATION,
    ALTITUDE,
    APOGEE,
    DEPLOYERS,
    DROGUE,
    ENGINE,
    MAIN,
    NAN,
    RATE,
    VELOCITY,
    G,
    Motion,
    S,
    Vehicle,
    at_rest,
    wiggle,
)
from parts import amount, few_of
from propulsion_ros.flight.events.conditions import All, LessThan, MoreThan
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.phases.phases import Phase, Subphase
from propulsion_ros.flight.readiness import REQUIRED, required_checks
from propulsion_ros.loops.flight.record_file import FlightRecord, decode, encode
from propulsion_ros.rml.config import load_flight_config
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.study.ground.motion import wandering

TIMED = {'max_ascent_time': 20.0}
LONG = amount('rest', 30.0, 60.0)
"""For how long nothing may fire, longer than that timer [s]."""
AFTERWARDS = amount('rest', 15.0, LONG)
"""When what lasts for less than a second is over for good [s]."""
BARO, IMU = (ALTITUDE,), (ACCELERATION,)
BOTH, ODOMETRY = (ALTITUDE, ACCELERATION), (ALTITUDE, VELOCITY)
ALL = (ALTITUDE, VELOCITY, ACCELERATION)
SHIPPED = Path(__file__).parents[2] / 'config'
SENSORS = pytest.mark.parametrize('sensors', [
    pytest.param(ALL, id='all sensors'), pytest.param(BOTH, id='altitude and acceleration'),
    pytest.param(ODOMETRY, id='odometry'), pytest.param(BARO, id='barometer'),
    pytest.param(IMU, id='acceleration'),
])


def hop(push, duration):
    """Return a motion that is pushed up and caught again within twice a duration."""
    def at(t):
        if not 0.0 <= t < 2.0 * duration:
            height = push * duration**2 if 0.0 <= t < 5.0 else 0.0
            return height, 0.0, 0.0
        if t < duration:
            return 0.5 * push * t * t, push * t, push
        s = 2.0 * duration - t
        return push * duration**2 - 0.5 * push * s * s, push * s, -push
    return at


def armed(sensors=ALL, dead=None, **options):
    """Return an armed vehicle, a second before ignition."""
    vehicle = Vehicle(sensors=sensors, **options)
    # What is not measured is unknown from the beginning; a launch wants to see the altitude once.
    vehicle.sensors = {*sensors, ALTITUDE}
    vehicle.arm()
    vehicle.sensors = sensors
    vehicle.dead = dead or {}
    return vehicle.fly(0.0, at_rest)


# A rocket lifted by hand, a glitch, a knock: acceleration alone is never liftoff.


@SENSORS
@pytest.mark.parametrize(
    'push', few_of([16.0, 6.2, 26.0], 3), ids=lambda push: f'{push:g} m per s2'
)
def test_vehicle_lifted_by_hand_is_not_in_flight_and_fires_nothing(sensors, push):
    vehicle = armed(sensors, params=TIMED).fly(AFTERWARDS, hop(push, 0.15))
    assert vehicle.phases == ['launch']
    assert vehicle.fired == []


def only(column, value):
    """Return a motion on the pad of which one column is something else from 0 on."""
    return lambda t: tuple(value(t) if k == column and t >= 0.0 else 0.0 for k in range(3))


def during(lasts, motion):
    """Return a rest on the pad but for some seconds."""
    return lambda t: motion(t) if 0.0 <= t < lasts else at_rest(t)


@pytest.mark.parametrize(('sensors', 'motion'), [
    pytest.param(sensors, only(column, value), id=name)
    for sensors, column, name, value in [
        (BOTH, ACCELERATION, 'knock', lambda t: 60.0 if t < 0.1 else 0.0),
        (BOTH, ACCELERATION, 'a second of noise', lambda t: 30.0 if t < 1.0 else 0.0),
        (BOTH, ACCELERATION, 'wrong for good', lambda t: 30.0),
        (BOTH, ACCELERATION, 'offset', lambda t: 6.0),
        (IMU, ACCELERATION, 'knock alone', lambda t: 60.0 if t < 0.1 else 0.0),
        (IMU, ACCELERATION, 'dropped by 1 m',
         lambda t: -9.8 if t < 0.45 else 200.0 if t < 0.47 else 0.0),
        (IMU, ACCELERATION, 'shaken', lambda t: 20.0 * math.sin(15.0 * t) if t < 5.0 else 0.0),
        (IMU, ACCELERATION, 'lifted and hammered',
         lambda t: 40.0 if t < 0.12 else 60.0 if t < 20.0 and t % 0.6 > 0.54 else 0.0),
        (BOTH, ALTITUDE, '45 m in 3 s', lambda t: 15.0 * min(t, 3.0)),
        (BOTH, ALTITUDE, '100 m in 2.5 s', lambda t: 40.0 * min(t, 2.5)),
        (BARO, ALTITUDE, 'sinks below the pad', lambda t: -15.0 * min(t, 18.0)),
        ((VELOCITY,), VELOCITY, 'a quarter of a second', lambda t: 40.0 if t < 0.24 else 0.0),
        ((VELOCITY,), VELOCITY, 'one and a half', lambda t: 40.0 if t < 1.5 else 0.0),
    ]
] + [
    pytest.param(sensors, motion, id=name) for sensors, name, motion in [
        (ODOMETRY, 'glitch', during(0.48, lambda t: (100.0 + 50.0 * t, 50.0, 0.0))),
        (ALL, 'glitch beside a force', during(0.48, lambda t: (100.0 + 50.0 * t, 50.0, 0.0))),
        (ODOMETRY, 'height and speed disagree', during(3.0, lambda t: (100.0, 50.0, 0.0))),
        (ODOMETRY, 'up, and back down', during(3.0, lambda t: (90.0 - 30.0 * t, -30.0, 0.0))),
    ]
])
def test_what_one_source_alone_shows_is_no_flight_and_fires_nothing(sensors, motion):
    vehicle = armed(sensors, params=TIMED).fly(LONG, motion)
    assert vehicle.phases == ['launch']
    assert vehicle.fired == []


@pytest.mark.parametrize('rate', [25, 100])
@pytest.mark.parametrize('noise', few_of([0.3, 0.01, 1.0], 3))
@pytest.mark.parametrize(('force', 'drift'), few_of([(15.0, 0.0), (60.0, 2.0), (30.0, 0.5)], 2))
def test_force_that_stays_on_the_pad_beside_noise_of_an_altitude_is_no_liftoff(
    force, drift, noise, rate
):
    """It was a long burn with a blocked port: the timer fired both charges on the pad."""
    rng, vehicle = np.random.default_rng(1), armed(BOTH, params=TIMED, rate=rate)
    vehicle.fly(30.0, lambda t: (
        rng.normal(0.0, 0.3), 0.0,
        (force + drift * t if t >= 0.0 else 0.0) + rng.normal(0.0, noise),
    ))
    assert vehicle.phases == ['launch']
    assert vehicle.fired == []


@pytest.mark.parametrize(('acceleration', 'source'), few_of([
    pytest.param({}, 'climb', id='missing'),
    pytest.param({ACCELERATION: (0.0, NAN)}, 'climb', id='silent'),
    pytest.param({ACCELERATION: (0.0, 0.001)}, 'climb', id='stuck'),
    pytest.param({ACCELERATION: (0.1, 16.0)}, 'acceleration', id='saturated'),
], 2))
@pytest.mark.parametrize('sensors', [ODOMETRY, BARO], ids=['odometry', 'barometer'])
def test_speed_and_rise_that_last_are_liftoff_alone_where_acceleration_is_dead(
    sensors, acceleration, source
):
    sensors = (*sensors, ACCELERATION) if acceleration else sensors
    motion = Motion()
    vehicle = armed(sensors, acceleration, params=TIMED).fly(3.0, motion)
    assert vehicle.phases == ['launch', 'flight']
    assert vehicle.state.liftoff.source == source
    assert vehicle.fly(motion.apogee + 2.0, motion).names == ['drogue']


@pytest.mark.parametrize('value', [NAN, 0.001], ids=['silent', 'stuck'])
@pytest.mark.parametrize(('push', 'latest'), [
    # Slower than 16 m/s it may be carried, for all that one barometer shows.
    pytest.param(5.0, 6.0, id='5 m per s2'), pytest.param(10.0, 3.8, id='10 m per s2'),
    pytest.param(30.0, 2.4, id='30 m per s2'), pytest.param(150.0, 4.4, id='150 m per s2'),
])
def test_liftoff_is_found_where_the_accelerometer_is_dead_from_ignition_on(push, latest, value):
    vehicle = armed(BOTH, {ACCELERATION: (0.0, value)}, params=TIMED)
    vehicle.fly(latest, Motion(push, 200.0 / push))
    assert vehicle.phases == ['launch', 'flight']
    assert 0.0 <= vehicle.state.liftoff.stamp_ns / S - vehicle.offset < latest


@pytest.mark.parametrize('value', [NAN, 0.001], ids=['silent', 'stuck'])
@pytest.mark.parametrize('push', [5.0, 10.0, 30.0, 150.0], ids=lambda push: f'{push:g} m per s2')
def test_liftoff_is_found_where_the_altitude_is_dead_from_ignition_on(push, value):
    """A force that stays may be an accelerometer that is off: certain is the fall after it."""
    motion = Motion(push, 200.0 / push)
    vehicle = armed(BOTH, {ALTITUDE: (0.0, value)}).fly(motion.burn + 3.5, motion)
    assert vehicle.phases == ['launch', 'flight']
    # A weak push of more than 25 s is dated as an accelerometer that is off would be.
    assert push < 10.0 or vehicle.state.liftoff.stamp_ns == vehicle.stamp(0.0)


@pytest.mark.parametrize('rate', [10, 20, 25, 50])
@pytest.mark.parametrize(('offset', 'name'), [
    # One that shows zeros may be dead.
    pytest.param(0.6, 'drogue', id='living accelerometer'), pytest.param(0.0, '', id='zeros'),
])
def test_altitude_that_denies_a_flight_hides_it_only_until_the_coast(offset, name, rate):
    """Beside a force that stays the same the timer may have to fire: it may be that of a fault."""
    motion = Motion()
    # Set as a team would, to end in the free fall: of 1 g beside such an altitude it is rest.
    vehicle = armed(BOTH, params={'max_ascent_time': math.ceil(motion.apogee)}, rate=rate)
    vehicle.fly(25.0, lambda t: (0.0, motion(t)[1], motion(t)[2] + offset * (t > 0.0)))
    assert ''.join(vehicle.names[:1]) == name
    if name:
        assert motion.apogee < vehicle.fired[0][1] < math.ceil(motion.apogee) + 0.3
        assert vehicle.state.liftoff.source == 'acceleration'
        assert abs(vehicle.state.liftoff.stamp_ns - vehicle.stamp(0.0)) <= S // rate


@pytest.mark.parametrize('offset', [0.2, 0.6])
def test_drogue_comes_at_apogee_beside_a_port_that_is_taped_at_the_pad(offset):
    """It fired while the rocket climbed, or only by the timer, or never."""
    motion = Motion()
    vehicle = armed(BOTH)
    vehicle.fly(motion.apogee + 2.0, lambda t: (0.0, 0.0, motion(t)[2] + offset * (t > 0.0)))
    apogee = vehicle.state.apogee
    assert apogee.source == 'detected'
    assert vehicle.stamp(motion.apogee - 0.5) < apogee.stamp_ns < vehicle.stamp(motion.apogee + 2.0)
    assert vehicle.names[0] == 'drogue'


def test_accelerometer_that_rests_hides_a_climb_only_for_five_seconds():
    motion = Motion()
    vehicle = armed(ALL, params=TIMED).fly(motion.apogee + 1.0, lambda t: (*motion(t)[:2], 0.0))
    assert vehicle.names == ['drogue']


@pytest.mark.parametrize('value', [
    pytest.param(NAN, id='unknown'), pytest.param(3.0, id='stuck'),
])
@pytest.mark.parametrize('since', [-1.0, 0.2, 0.6])
def test_velocity_is_enough_where_the_altitude_of_an_odometry_is_dead(since, value):
    """No vote took a velocity alone: the vehicle stayed on its pad for good, without a timer."""
    motion = Motion()
    vehicle = armed(ODOMETRY, {ALTITUDE: (since, value)}, params=TIMED)
    vehicle.fly(4.0, motion)
    assert vehicle.state.liftoff.source == 'climb'
    assert vehicle.fly(motion.landing, motion).names[0] == 'drogue'


def dropped(t):
    """Return the motion of a drop from a balloon on which the pad was set."""
    s = max(t, 0.0)
    return -4.9 * s * s, -9.8 * s, -9.8 if t > 0.0 else 0.0


@pytest.mark.parametrize(('sensors', 'latest'), [
    pytest.param(ALL, 4.0, id='all sensors'), pytest.param(BOTH, 5.0, id='altitude, acceleration'),
    pytest.param(ODOMETRY, 23.0, id='odometry'), pytest.param(BARO, 24.0, id='barometer'),
])
def test_drop_of_a_vehicle_that_was_armed_in_the_air_is_a_flight(sensors, latest):
    """A fall below the pad never counted."""
    vehicle = armed(sensors, params=TIMED).fly(latest, dropped)
    assert vehicle.state.liftoff.source == 'fall'
    assert vehicle.state.phase is not Phase.LAUNCH


@pytest.mark.parametrize(
    ('height', 'sensors'),
    few_of(itertools.product([80.0, 120.0, 400.0], [ALL, BOTH, ODOMETRY, BARO]), 3),
)
def test_drop_from_a_slow_lift_gets_its_drogue_within_55_m_of_fall(sensors, height):
    lifted = height / 3.0

    def at(t):
        if t < lifted:
            return 3.0 * max(t, 0.0), 3.0 * (t > 0.0), 0.0
        return height - 4.9 * (t - lifted) ** 2, -9.8 * (t - lifted), -9.8

    vehicle = armed(sensors).fly(lifted + 3.35, at)
    assert vehicle.phases[-1] == 'recovery'
    assert vehicle.names == ['drogue']


# Stand-down: a liftoff that was none.


def bumped(**options):
    """Return a vehicle that was pushed while its altitude was unknown: that is no liftoff."""
    vehicle = armed(ALL, {ALTITUDE: (0.0, NAN), VELOCITY: (0.0, NAN)}, **options)
    vehicle.fly(1.0, lambda t: (0.0, 0.0, 40.0 if 0.0 <= t < 0.2 else -3.0 if t > 0.0 else 0.0))
    assert vehicle.state.phase is Phase.LAUNCH
    return vehicle


@pytest.mark.parametrize(('sensors', 'motion'), [
    pytest.param(BARO, lambda t: 11.0 * min(max(t, 0.0), 2.0) if t < 4.0 else 0.0, id='barometer'),
    pytest.param(BARO, lambda t: 15.0 * min(max(t, 0.0), 4.0) if t < 6.0 else 5.0, id='60 m'),
    pytest.param(
        ODOMETRY, lambda t: 35.0 * min(max(t, 0.0), 1.2) if t < 1.4 else 0.0, id='odometry'
    ),
])
def test_climb_of_a_sensor_that_is_right_again_on_the_pad_is_none_or_stood_down(sensors, motion):
    """It latched an ascent, and the timer fired both charges beside the people at the pad."""
    def at(t):
        return motion(t), (motion(t + 0.01) - motion(t)) / 0.01, 0.0

    vehicle = armed(sensors, params={'max_ascent_time': 30.0}).fly(amount('rest', 45.0, 90.0), at)
    assert vehicle.phases in (['launch'], ['launch', 'flight', 'preflight'])
    assert vehicle.fired == []


# The backup timer.


def test_backup_timer_of_what_is_armed_in_the_air_counts_from_there():
    """A push long ago is no liftoff of this flight: its charge fired at 104 m/s."""
    flight = Motion(push=60.0, burn=5.0)
    vehicle = Vehicle(params={'max_ascent_time': 20.0}).fly(-9.0, at_rest).fly(25.0, flight)
    assert vehicle.command('launch') == ''
    vehicle.fly(26.0, flight)
    assert vehicle.phases == ['launch', 'flight']
    assert not vehicle.fired
    assert vehicle.state.liftoff.stamp_ns == pytest.approx(vehicle.stamp(25.0), abs=S / 20)


def test_backup_timer_fires_with_all_sensors_dead_after_a_seen_ascent():
    vehicle = armed(BOTH, params=TIMED).fly(1.0, Motion())
    vehicle.dead = dict.fromkeys(ALL, (0.0, NAN))
    vehicle.fly(23.0, at_rest)
    assert vehicle.state.apogee.source == 'timer'
    assert vehicle.names == ['drogue', 'main']


@pytest.mark.parametrize(('pace', 'leap'), [(10.0, 0.0), (1.0, 300.0), (40.0, 2.0)])
def test_flight_time_of_a_robot_runs_no_faster_than_the_steady_clock(pace, leap):
    vehicle = armed(ALL, dict.fromkeys(ALL, (1.5, NAN)), params=TIMED)
    steady = 0
    liftoff = None
    while not vehicle.fired and steady < 60 * S:
        steady += S // RATE
        vehicle.fly(vehicle.t + 1.0 / RATE, Motion(), steady_ns=steady)
        if vehicle.state.liftoff is not None:
            liftoff = liftoff or steady
            # From here on stamps run away.
            vehicle.offset += (pace - 1.0) / RATE
            if round(steady / S * RATE) % 25 == 0:
                vehicle.offset += leap
    since = (steady - liftoff) / S
    assert 20.0 - 1.5 - 0.1 <= since < 21.5


@pytest.mark.parametrize(('semantics', 'is_live', 'required'), [
    ('safe', True, True), ('safe', False, False), ('legacy', True, False),
])
def test_set_timer_is_a_required_check_of_live_safe_computers(semantics, is_live, required):
    found = required_checks(REQUIRED, semantics, is_live=is_live)
    assert ('backup_timer' in found) == required
    assert found >= {'altitude', 'config', 'home'}


# Abort and override.


def test_override_of_apogee_on_the_bench_fires_nothing():
    vehicle = Vehicle(params=TIMED)
    vehicle.fly(-8.0, at_rest)
    assert vehicle.command('debug') == ''
    assert vehicle.command('apogee_override') == ''
    assert vehicle.fly(0.0, at_rest).fired == []


def test_launch_is_refused_while_the_vehicle_flies():
    motion = Motion()
    vehicle = Vehicle(sensors=ALL, required=('motion',)).fly(-1.0, at_rest).fly(3.0, motion)
    reason = 'the vehicle flies, by its acceleration'
    assert vehicle.state.objections['motion'] == reason
    assert vehicle.command('launch') == f"'launch' is refused: {reason}"
    vehicle.fly(30.0, at_rest)
    assert vehicle.command('launch') == ''


def test_debug_lifts_no_protection_of_the_flight_that_is_armed_from_it():
    """Both charges fired when a barometer came back on the ground."""
    motion = Motion(20.0, 1.6)
    vehicle = Vehicle(sensors=ALL, params={'max_ascent_time': 40.0}).fly(-8.0, at_rest)
    assert vehicle.command('debug') == ''
    assert vehicle.command('launch') == ''
    # From below 100 m no apogee is found: everything rests, and the timer would fire.
    vehicle.fly(motion.landing + 60.0, motion)
    assert vehicle.phases[-2:] == ['flight', 'preflight']
    assert vehicle.names == []


def test_abort_of_a_bench_that_overrode_the_liftoff_disarms():
    vehicle = Vehicle(params=TIMED).fly(-8.0, at_rest)
    assert vehicle.command('debug') == ''
    assert vehicle.command('liftoff_override', is_second=True) == ''
    assert vehicle.fly(-1.0, at_rest).state.phase is Phase.FLIGHT
    assert vehicle.command('abort') == ''
    assert vehicle.state.phase is Phase.PREFLIGHT
    assert vehicle.fly(5.0, at_rest).names == []


def test_override_of_liftoff_is_recorded_as_such_and_lets_the_timer_fire():
    vehicle = armed(IMU, params=TIMED)
    vehicle.override_liftoff()
    assert vehicle.state.liftoff.source == 'override'
    record = FlightRecord('config', vehicle.state.snapshot())
    assert decode(encode(record)).snapshot.liftoff.source == 'override'
    assert vehicle.fly(24.0, at_rest).names == ['drogue', 'main']
    assert vehicle.report.liftoff.source == 'override'


def test_override_beside_a_dead_sensor_outlasts_its_minute():
    """What had held the vehicle when its only sensor died did so again: no charge ever fired."""
    vehicle = armed(BARO, params={'max_ascent_time': 75.0})
    assert vehicle.state.snapshot().motion.is_supported
    vehicle.sensors = ()
    vehicle.fly(5.0, at_rest)
    vehicle.override_liftoff()
    assert vehicle.fly(82.0, at_rest).names == ['drogue']
    assert vehicle.state.subphase is Subphase.DESCENT


def test_override_by_mistake_ends_while_a_sensor_drops_out():
    """A dropout of half a second fired both charges of what had rested for more than a minute."""
    vehicle = armed(BARO, params={'max_ascent_time': 62.0})
    vehicle.fly(2.0, at_rest)
    vehicle.override_liftoff()
    vehicle.fly(75.0, at_rest)
    vehicle.sensors = ()
    vehicle.fly(76.5, at_rest)
    vehicle.sensors = BARO
    assert vehicle.fly(90.0, at_rest).names == []


@pytest.mark.parametrize('command', ['abort', 'apogee_override'])
@pytest.mark.parametrize('name', ['rocket_flight.jsonc', 'thanos_flight.jsonc'])
def test_shipped_configurations_hold_charges_after_a_command_until_a_speed_limit(name, command):
    config = load_flight_config(SHIPPED / name)
    vehicle = Vehicle(
        events=config.events, engines=config.engines, deployers=config.deployers,
        controllers=config.controllers,
    )
    motion = Motion()
    vehicle.arm().fly(2.5, motion)
    assert vehicle.command(command) == ''
    vehicle.fly(motion.apogee + 5.0, motion)
    (drogue,) = [t for event, t in vehicle.fired if event == 'drogue parachute']
    assert motion(drogue)[1] <= 30.0
    assert drogue == pytest.approx(3.0 + 60.0 / 9.80665, abs=0.1)


def held(**options):
    drogue = dataclasses.replace(DROGUE, max_climb=30.0)
    return Vehicle(events=(drogue,), sensors=ALL, **options).arm()


# Who stands beside a vehicle that has landed.


BELOW = dataclasses.replace(
    MAIN, condition=All((APOGEE, MoreThan('Position', 2, -100.0))), dwell_ns=300_000_000
)
"""Fires at 100 m, as a main parachute does."""


@pytest.mark.parametrize('value', [
    pytest.param(NAN, id='silent'), pytest.param(140.0, id='stuck'),
])
def test_main_whose_altitude_was_lost_under_the_drogue_never_fires_on_the_ground(value):
    motion = Motion(push=40.0)
    vehicle = armed(BARO, events=(DROGUE, BELOW)).fly(motion.apogee + 5.0, motion)
    assert (vehicle.names, motion(vehicle.t)[0] > 150.0) == (['drogue'], True)
    vehicle.dead = {ALTITUDE: (vehicle.t, value)}
    vehicle.fly(motion.landing + 60.0, motion)
    vehicle.dead = {}
    vehicle.fly(motion.landing + 120.0, motion)
    assert vehicle.names == ['drogue']


@pytest.mark.parametrize('lost', few_of([9.0, 2.0, 20.0], 3), ids=lambda lost: f'{lost:g} s')
def test_main_whose_altitude_was_lost_and_comes_back_in_the_air_fires(lost):
    motion = Motion(push=40.0)
    vehicle = armed(BARO, events=(DROGUE, BELOW)).fly(motion.apogee + 5.0, motion)
    vehicle.dead = {ALTITUDE: (vehicle.t, NAN)}
    vehicle.fly(vehicle.t + lost, motion)
    vehicle.dead = {}
    vehicle.fly(motion.landing, motion)
    assert vehicle.names == ['drogue', 'main']
    assert 85.0 < motion(vehicle.fired[-1][1])[0] < 100.0


def test_main_of_a_vehicle_that_landed_above_its_altitude_does_not_fire_when_it_is_carried_down():
    motion, hill = Motion(), 130.0

    def at(t):
        height, velocity, acceleration = motion(t)
        if t < motion.apogee or height > hill:
            return height, velocity, acceleration
        walked = max(t - motion.landing - 30.0, 0.0)
        return max(hill - 0.8 * walked, 0.0), -0.8 * (0.0 < walked < hill / 0.8), 0.0

    vehicle = armed(ODOMETRY, events=(DROGUE, BELOW)).fly(motion.landing + 200.0, at)
    assert vehicle.names == ['drogue']
    assert vehicle.report.subphase is Subphase.LANDED


@pytest.mark.parametrize(('hill', 'drop', 'names', 'sensors'), few_of([
    (hill, drop, names, sensors) for sensors in (ALL, BOTH, ODOMETRY) for hill, drop, names in (
        (115.0, 20.0, ['drogue']), (130.0, 35.0, ['drogue']), (185.0, 100.0, ['drogue', 'main']),
    )
], 4))
def test_what_has_landed_must_fall_far_before_a_charge_fires(sensors, hill, drop, names):
    """A main is due below an altitude that it passes as it slips from a hand, or from a tree."""
    motion = Motion()
    slips = motion.landing + 80.0
    lasts = math.sqrt(2.0 * drop / G)

    def at(t):
        height, velocity, acceleration = motion(t)
        if t < motion.apogee or height > hill:
            return height, velocity, acceleration
        fall = min(max(t - slips, 0.0), lasts)
        if 0.0 < fall < lasts:
            return hill - 0.5 * G * fall * fall, -G * fall, 0.4 - G
        return hill - 0.5 * G * fall * fall, 0.0, 0.0

    vehicle = armed(sensors, events=(DROGUE, BELOW)).fly(slips + 30.0, at)
    assert vehicle.names == names
    assert vehicle.phases == ['launch', 'flight', 'recovery']


def test_engine_of_a_vehicle_that_hovered_is_shut_down_at_its_altitude():
    """A hover looks like a landing, in which the altitude is hidden from charges alone."""
    motion, low = Motion(), 20.0
    shutdown = EventSpec(
        2, 'off', MoreThan('Position', 2, -0.5), (Action('engine', 0, 0.0),), phases=('recovery',)
    )

    def at(t):
        height, velocity, acceleration = motion(t)
        if t < motion.apogee or height > low:
            return height, velocity, acceleration
        sunk = max(t - motion.landing - 10.0, 0.0)
        return max(low - sunk, 0.0), -1.0 * (0.0 < sunk < low), 0.0

    vehicle = armed(ODOMETRY, events=(DROGUE, shutdown)).fly(motion.landing + 40.0, at)
    assert vehicle.names == ['drogue', 'off']


def test_stage_lights_after_time_has_started_again_before_the_launch():
    motion = Motion(burn=4.0)
    stage = EventSpec(
        1, 'stage', MoreThan('TimeSinceLiftoff', 0, 5000.0), (Action('engine', 0, 1.0),),
        phases=('flight',),
    )
    lit = []
    for back in (0.0, 75.0):
        vehicle = Vehicle(sensors=BARO, events=(DROGUE, stage), keeps_flight=False)
        vehicle.t = -80.0
        vehicle.fly(-10.0, at_rest)
        vehicle.offset -= back
        lit.append(vehicle.arm().fly(motion.apogee, motion).fired)
    assert [name for name, _ in lit[0]] == ['stage']
    assert lit[1] == [('stage', pytest.approx(lit[0][0][1], abs=0.04))]  # a reading more or less


def test_clock_set_back_under_a_drogue_with_a_blocked_barometer_does_not_end_the_flight():
    motion = Motion(push=60.0, burn=4.0, descent=40.0)
    pause = motion.apogee + 5.0

    def blocked(t):
        return motion(t) if t < pause or t > pause + 8.0 else motion(pause)

    vehicle = armed(BARO, events=(DROGUE, BELOW)).fly(pause + 7.0, blocked)
    assert vehicle.report.subphase is Subphase.DESCENT
    vehicle.offset -= 100.0
    vehicle.fly(motion.landing, blocked)
    assert vehicle.names == ['drogue', 'main']


# The clock on the pad. Restarts are in test_resumption.py.


@pytest.mark.parametrize('back', few_of([90.0, 5.0, 1e5], 3), ids=lambda back: f'{back:g} s back')
def test_clock_set_back_on_the_pad_leaves_a_robot_armed_and_its_flight_is_flown(back):
    vehicle = armed(ALL)
    vehicle.offset -= back
    vehicle.fly(20.0, at_rest)
    assert vehicle.phases == ['launch']
    (notice,) = vehicle.notices
    assert notice.startswith('the clock was set back by')
    assert notice.endswith('launch goes on')
    motion = Motion()
    vehicle.fly(20.0 + motion.apogee + 3.0, lambda t: motion(t - 20.0))
    assert vehicle.names == ['drogue', 'main']


def test_time_that_starts_again_on_the_pad_of_a_simulation_is_refused_loudly():
    vehicle = armed(ALL, keeps_flight=False)
    vehicle.offset -= 99.0
    vehicle.fly(1.0, at_rest)
    assert vehicle.phases == ['launch', 'preflight']
    assert vehicle.notices == ['time has started again: launch is over, request launch again']


# Reset.


LOW = dataclasses.replace(MAIN, condition=All((APOGEE, MoreThan('Position', 2, -50.0))))


def silent_descent(events=(DROGUE, LOW), **options):
    """Return a vehicle under its drogue whose sensors have fallen silent."""
    motion = Motion()
    vehicle = armed(ALL, events=events, **options).fly(motion.apogee + 1.0, motion)
    assert vehicle.state.phase is Phase.RECOVERY
    vehicle.dead = dict.fromkeys(ALL, (0.0, NAN))
    return vehicle


def test_reset_in_the_air_is_refused_with_silent_sensors_for_ten_minutes():
    vehicle = silent_descent()
    begin = vehicle.t
    vehicle.fly(begin + 5.0, at_rest)
    reason = vehicle.command('reset')
    assert reason == (
        "'reset' is refused: the vehicle may still be in the air, it was last seen to fly 5 s ago; "
        'wait until 600 s after it, or disarm all outputs and request it twice'
    )
    vehicle.fly(begin + 595.0, at_rest)
    assert vehicle.command('reset') != ''
    vehicle.fly(begin + 602.0, at_rest)
    assert vehicle.command('reset') == ''


def test_reset_in_the_air_is_refused_with_stuck_sensors():
    vehicle = silent_descent()
    vehicle.dead = {ALTITUDE: (0.0, 300.0), VELOCITY: (0.0, 0.0), ACCELERATION: (0.0, 0.0)}
    vehicle.fly(vehicle.t + 60.0, at_rest)
    assert 'may still be in the air' in vehicle.command('reset')


@pytest.mark.parametrize('sensors', [ALL, BARO], ids=['all sensors', 'barometer'])
def test_reset_is_refused_at_apogee_where_the_speed_is_0(sensors):
    motion = Motion()
    vehicle = armed(sensors).fly(motion.apogee - 0.02, motion)
    if vehicle.state.phase is Phase.FLIGHT:
        assert vehicle.command('abort') == ''
    assert vehicle.command('reset').startswith("'reset' is refused: the vehicle")


@pytest.mark.parametrize('circuits', [
    pytest.param(((1, False),), id='circuit of what is left is open'),
    pytest.param(((0, False), (1, False)), id='all circuits are open'),
])
def test_reset_requested_twice_is_followed_with_all_outputs_disarmed(circuits):
    vehicle = silent_descent()
    vehicle.circuits = circuits
    vehicle.fly(vehicle.t + 2.0, at_rest)
    assert vehicle.names == ['drogue']
    reason = vehicle.command('reset')
    assert reason.startswith("'reset' is not done yet: the vehicle may still be in the air")
    assert reason.endswith('nothing is left to fire: request it again within 5 s')
    assert vehicle.command('reset', is_second=True) == ''
    assert vehicle.state.phase is Phase.PREFLIGHT


def test_reset_requested_twice_is_followed_once_all_charges_have_fired():
    vehicle = silent_descent(events=(DROGUE, MAIN))
    vehicle.fly(vehicle.t + 5.0, at_rest)
    assert vehicle.names == ['drogue', 'main']
    assert vehicle.command('reset') != ''
    assert vehicle.command('reset', is_second=True) == ''


@pytest.mark.parametrize('circuits', [(), ((1, True),), ((0, False),)],
                         ids=['unknown', 'closed', 'another is open'])
def test_reset_requested_twice_is_refused_with_an_output_armed(circuits):
    vehicle = silent_descent()
    vehicle.circuits = circuits
    vehicle.fly(vehicle.t + 2.0, at_rest)
    assert 'disarm all outputs' in vehicle.command('reset', is_second=True)
    assert vehicle.state.phase is Phase.RECOVERY


@pytest.mark.parametrize('command', [None, 'abort'], ids=['timer', 'abort'])
@pytest.mark.parametrize('lasts', [1.0, 3.0], ids=lambda lasts: f'gusts of {lasts:g} s')
@pytest.mark.parametrize(('rms', 'seed'), few_of(itertools.product([4.0, 2.0], range(4)), 8))
def test_wind_on_the_port_of_what_landed_without_an_apogee_fires_nothing(
    rms, seed, lasts, command
):
    """Both charges fired after half of such landings."""
    rng, motion, pad = np.random.default_rng(seed), Motion(20.0, 1.6), 30.0
    rate = int(rng.choice([10, 20, 25]))
    gust = wandering(rng, rms, 1.0 / rate / lasts, 200 * rate)
    vehicle = Vehicle(sensors=BARO, rate=rate, params={'max_ascent_time': 40.0})
    vehicle.t = -pad

    def at(t):
        return motion(t)[0] + gust[round((t + pad) * rate)], 0.0, 0.0

    vehicle.fly(-3.0, at)
    assert vehicle.command('launch') == ''
    vehicle.fly(motion.landing + 10.0, at)
    if command:
        vehicle.command(command)
    vehicle.fly(70.0, at)
    assert vehicle.fired == []


@pytest.mark.parametrize(('push', 'burn', 'seed'), [
    (22.0, 2.3, 10), (15.0, 3.0, 3), (15.0, 3.0, 8), (30.0, 2.0, 6), (30.0, 2.0, 7),
])
def test_wind_of_the_pad_hides_no_apogee_beside_an_accelerometer(push, burn, seed):
    """It explains that a height stays, but not beside a force that falls freely."""
    rng, motion, rate, pad = np.random.default_rng(seed), Motion(push, burn), 20, 30.0
    gust = wandering(rng, 4.5, 1.0 / rate / 0.9, 120 * rate)
    noise = rng.normal(0.0, 0.07, len(gust))
    vehicle = Vehicle(sensors=BOTH, rate=rate)
    vehicle.t = -pad

    def at(t):
        i = round((t + pad) * rate)
        return motion(t)[0] + gust[i], 0.0, motion(t)[2] + noise[i]

    vehicle.fly(-3.0, at)
    assert vehicle.command('launch') == ''
    vehicle.fly(motion.apogee + 3.0, at)
    assert vehicle.names[0] == 'drogue'
    assert motion.apogee - 1.5 < vehicle.fired[0][1]


def test_reset_after_landing_is_followed_at_once():
    motion = Motion()
    vehicle = armed(ALL).fly(motion.landing + 6.0, motion)
    assert vehicle.command('reset') == ''


# Engines.


SUSTAINER = EventSpec(
    0, 'sustainer', MoreThan('TimeSinceLiftoff', 0, 4e3), (Action('engine', 0, 1.0),),
    phases=('launch', 'flight'),
)
IGNITION = EventSpec(
    0, 'ignition', MoreThan('TimeSinceIgnition', 0, 0.0), (Action('engine', 0, 1.0),),
    phases=('launch', 'flight'),
)
EVERYWHERE = dataclasses.replace(SUSTAINER, phases=())
LIT = dataclasses.replace(IGNITION, name='lit', phases=EventSpec.phases)


def two_engines(**of_the_second):
    second = dataclasses.replace(ENGINE, id=1, name='second', booster='second', **of_the_second)
    return ENGINE, second


class Refusals(Vehicle):
    """A vehicle that goes on where its outputs refuse."""

    def take(self, sample, **options):
        with contextlib.suppress(CommandError):
            super().take(sample, **options)


@pytest.mark.parametrize('event', [SUSTAINER, EVERYWHERE], ids=['default phases', 'every phase'])
@pytest.mark.parametrize('until', few_of([3.9, 2.0], 2), ids=lambda t: f'abort at {t:g} s')
def test_sustainer_does_not_light_after_an_abort(event, until):
    motion = Motion()
    vehicle = Refusals(events=(event,)).arm().fly(until, motion)
    assert vehicle.command('abort') == ''
    vehicle.fly(motion.landing, motion)
    assert vehicle.thrust == 0.0


@pytest.mark.parametrize('event', [SUSTAINER, EVERYWHERE], ids=['default phases', 'every phase'])
def test_sustainer_does_not_light_under_the_drogue(event):
    motion = Motion()
    late = dataclasses.replace(event, condition=MoreThan(
        'TimeSinceLiftoff', 0, 1e3 * (motion.apogee + 3.0)
    ))
    vehicle = Refusals(events=(late,)).arm().fly(motion.landing, motion)
    assert vehicle.state.phase is Phase.RECOVERY
    assert vehicle.thrust == 0.0


def level_from(time):
    """Return a motion whose altitude and speed stay as they were, as of a blocked barometer."""
    return lambda t: Motion()(t) if t < time else (Motion()(time)[0], 0.0, -9.8)


@pytest.mark.parametrize(('sensors', 'dead', 'motion', 'lights'), [
    pytest.param(BARO, {}, Motion(), True, id='barometer'),
    pytest.param(BARO, {}, level_from(3.2), False, id='barometer is blocked'),
    pytest.param(BARO, {ALTITUDE: (3.2, NAN)}, Motion(), False, id='barometer is silent'),
    pytest.param(BARO, {ALTITUDE: (3.2, 150.0)}, Motion(), False, id='barometer is stuck'),
    pytest.param(ODOMETRY, {VELOCITY: (3.2, NAN)}, Motion(), True, id='speed is lost'),
    pytest.param(ODOMETRY, {VELOCITY: (3.2, 80.0)}, Motion(), True, id='speed is stuck'),
    pytest.param(ODOMETRY, {VELOCITY: (3.2, 80.0), ALTITUDE: (3.2, NAN)}, Motion(), False,
                 id='speed is stuck, altitude is lost'),
    pytest.param(ODOMETRY, {ALTITUDE: (3.2, NAN)}, Motion(), True, id='altitude is lost'),
    pytest.param(ODOMETRY, {ALTITUDE: (3.2, 150.0)}, Motion(), True, id='altitude is stuck'),
])
def test_sustainer_lights_only_while_something_alive_shows_a_climb(sensors, dead, motion, lights):
    vehicle = armed(sensors, dead, events=(SUSTAINER,)).fly(8.0, motion)
    assert vehicle.state.phase is Phase.FLIGHT
    assert vehicle.thrust == (1000.0 if lights else 0.0)


def test_sustainer_waits_for_the_climb_to_be_seen_again():
    vehicle = armed(BARO, events=(SUSTAINER,))
    vehicle.fly(5.0, lambda t: (NAN, NAN, NAN) if 3.2 < t < 5.0 else Motion()(t))
    assert vehicle.thrust == 0.0
    assert vehicle.fly(7.0, Motion()).thrust == 1000.0


class Turned(Vehicle):
    """A vehicle whose attitude is measured: tilted by an angle for each time, or not at all."""

    def take(self, sample, **options):
        angle = self.tilt(sample.stamp_ns / S - self.offset)
        rotation = (math.sin(angle / 2.0), 0.0, 0.0, math.cos(angle / 2.0))
        super().take(sample._replace(rotation=rotation), **options)


@pytest.mark.parametrize(('tilt', 'is_robot', 'lights'), [
    pytest.param(lambda t: wiggle(round(t * RATE)), True, True, id='alive'),
    pytest.param(lambda t: 1e-3 * math.floor(t / 0.4), True, True, id='alive and slow'),
    pytest.param(lambda t: 0.02, True, False, id='stuck'),
    pytest.param(lambda t: 0.02 if t % 0.6 < 0.3 else NAN, True, False, id='stuck and silent'),
    pytest.param(lambda t: 0.02, False, True, id='a simulated body that does not turn'),
    pytest.param(lambda t: 1.2 if t > 3.5 else 0.0, False, False, id='a simulated one tumbled'),
])
def test_engine_with_a_limit_of_tilt_lights_only_while_the_attitude_is_alive(
    tilt, is_robot, lights
):
    condition = All((SUSTAINER.condition, LessThan('Tilt', 0, 0.3)))
    vehicle = Turned(
        events=(dataclasses.replace(SUSTAINER, condition=condition),), may_settle=is_robot
    )
    vehicle.tilt = tilt
    assert vehicle.arm().fly(8.0, Motion()).thrust == (1000.0 if lights else 0.0)


def test_engine_of_a_landing_lights_in_flight_without_a_climb():
    late = dataclasses.replace(SUSTAINER, lands=True)
    assert armed(BARO, events=(late,)).fly(8.0, level_from(3.2)).thrust == 1000.0


def test_engine_of_a_landing_lights_on_the_way_down():
    motion = Motion()
    engine = dataclasses.replace(ENGINE, landing=True)
    late = dataclasses.replace(
        EVERYWHERE, condition=MoreThan('TimeSinceApogee', 0, 3e3), phases=('recovery',),
        lands=True,
    )
    vehicle = Vehicle(events=(late,), engines=(engine,)).arm()
    assert vehicle.fly(motion.apogee + 2.0, motion).thrust == 0.0
    assert vehicle.fly(motion.apogee + 4.0, motion).thrust == 1000.0


@pytest.mark.parametrize('event', [IGNITION, dataclasses.replace(IGNITION, phases=())],
                         ids=['default phases', 'every phase'])
@pytest.mark.parametrize('commands', [
    ('ignition', 'override', 'abort'), ('ignition', 'override', 'apogee_override'),
    ('ignition', 'abort'), ('ignition', 'abort', 'launch'), ('ignition', 'sample', 'abort'),
    ('ignition', 'sample', 'override', 'abort'), ('ignition', 'sample', 'abort', 'launch'),
], ids=' '.join)
def test_commands_between_two_samples_never_leave_a_booster_burning(commands, event):
    vehicle = Refusals(events=(event,)).arm()
    for name in commands:
        if name == 'sample':
            vehicle.fly(vehicle.t + 1.0 / RATE, at_rest)
        elif name == 'override':
            vehicle.override_liftoff()
        else:
            refused = vehicle.command(name)
            assert refused == '' or (name == 'apogee_override' and 'something holds' in refused)
    vehicle.fly(vehicle.t + 2.0, at_rest)
    assert vehicle.thrust == 0.0


def test_no_engine_lights_on_the_pad_before_ignition_is_commanded():
    vehicle = Vehicle(events=(IGNITION,)).arm()
    assert vehicle.thrust == 0.0
    assert vehicle.command('ignition') == ''
    assert vehicle.fly(vehicle.t + 0.1, at_rest).thrust == 1000.0


@pytest.mark.parametrize(
    ('second', 'lights'), [(0.0, True), (2.9, True), (3.2, False), (9.0, False)]
)
def test_where_the_first_ignition_fails_no_other_engine_is_lit_on_the_pad(second, lights):
    events = tuple(
        EventSpec(i, f'engine {i}', MoreThan('TimeSinceIgnition', 0, 1e3 * after),
                  (Action('engine', i, 1.0),))
        for i, after in enumerate((3.0, 3.0 + second))
    )
    vehicle = Vehicle(events=events, engines=two_engines()).arm()
    assert vehicle.command('ignition') == ''
    vehicle.fly(vehicle.t + 20.0, at_rest)
    assert vehicle.thrust == (2000.0 if lights else 1000.0)


def test_an_ignition_that_repeats_is_given_once_on_the_pad_and_its_shutdown_is_not_lost():
    lit = dataclasses.replace(LIT, single_fire=False, cooldown_ns=S // 2)
    shut = EventSpec(1, 'shut', MoreThan('TimeSinceEvent', 0, -1.0), (Action('engine', 0, 0.0),),
                     dwell_ns=5 * S)
    vehicle = Vehicle(events=(lit, shut)).arm()
    assert vehicle.command('ignition') == ''
    assert vehicle.fly(vehicle.t + 4.0, at_rest).thrust == 1000.0
    assert vehicle.fly(vehicle.t + 2.0, at_rest).thrust == 0.0
    assert vehicle.fly(vehicle.t + 9.0, at_rest).thrust == 0.0


@pytest.mark.parametrize('lands', [True, False], ids=['landing', 'stage'])
def test_no_engine_is_lit_where_it_lies_after_a_hop_whose_shutdown_never_came(lands):
    """It seemed to hover, so long as an engine that an event shuts down was not shut down."""
    flight = Motion(push=20.0, burn=1.2, descent=20.0)
    shut = EventSpec(1, 'shut', LessThan('Position', 2, -500.0), (Action('engine', 0, 0.0),))
    late = EventSpec(
        2, 'late', MoreThan('TimeSinceLiftoff', 0, 1e3 * (flight.landing + 8.0)),
        (Action('engine', 1, 1.0),), phases=('flight', 'recovery'), lands=lands,
    )
    vehicle = armed(ODOMETRY, events=(LIT, shut, late), engines=two_engines(landing=lands))
    assert vehicle.command('ignition') == ''
    vehicle.fly(flight.landing + 30.0, flight)
    assert vehicle.actuators.engines.thrusts()['second'] == 0.0


@pytest.mark.parametrize('burns', [True, False], ids=['on its engine', 'on what holds it'])
def test_engine_of_a_landing_lights_after_a_hover_on_the_engine_of_the_vehicle_alone(burns):
    """Nine seconds at 45 m were a rest, and the landing engine waited for 50 m of fall."""
    push, brake, top = 10.0, 7.0, 45.0
    fastest = math.sqrt(2.0 * top / (1.0 / push + 1.0 / brake))
    turns, stops = fastest / push, fastest / push + fastest / brake
    cut = stops + 9.0

    def at(t):
        if t < stops:
            left = stops - t
            rising = 0.5 * push * t * t, push * t, push
            return rising if t < turns else (top - 0.5 * brake * left * left, brake * left, -brake)
        fall = max(t - cut, 0.0)
        return top - 0.5 * G * fall * fall, -G * fall, -G * (fall > 0.0)

    shut = EventSpec(1, 'shut', MoreThan('TimeSinceLiftoff', 0, 1e3 * cut),
                     (Action('engine', 0, 0.0),), phases=('flight', 'recovery'))
    falls = MoreThan('TimeSinceLiftoff', 0, 1e3 * cut)
    lands = EventSpec(
        2, 'lands', All((falls, MoreThan('Position', 2, -25.0))),
        (Action('engine', 1, 1.0),), phases=('flight', 'recovery'), lands=True,
    )
    vehicle = armed(ODOMETRY, events=(LIT, shut, lands), engines=two_engines(landing=True))
    if burns:
        assert vehicle.command('ignition') == ''
    vehicle.fly(cut + 2.7, at)
    assert (vehicle.actuators.engines.thrusts()['second'] > 0.0) is burns


def test_engine_of_a_landing_does_not_light_once_something_likely_holds_the_vehicle():
    motion = Motion()
    engine = dataclasses.replace(ENGINE, landing=True)
    late = dataclasses.replace(
        EVERYWHERE, phases=('recovery',),
        condition=MoreThan('TimeSinceApogee', 0, 1e3 * (motion.landing - motion.apogee + 2.5)),
    )
    vehicle = Vehicle(events=(late,), engines=(engine,)).arm().fly(motion.landing + 2.4, motion)
    assert not vehicle.report.may_deploy
    assert vehicle.state.subphase is Subphase.DESCENT
    assert vehicle.fly(motion.landing + 30.0, motion).thrust == 0.0


@pytest.mark.parametrize(('command', 'phase'), [('', 'launch'), ('abort', 'preflight')])
def test_without_a_seen_ascent_nothing_fires_and_no_sustainer_lights(command, phase):
    vehicle = bumped(params=TIMED, events=(
        DROGUE, MAIN, dataclasses.replace(SUSTAINER, id=2),
    ))
    if command:
        assert vehicle.command(command) == ''
        vehicle.dead = {}
    vehicle.fly(LONG, lambda t: (0.0, 0.0, 3.0 * math.sin(40.0 * t)))
    assert vehicle.state.phase.value == phase
    assert (vehicle.fired, vehicle.thrust) == ([], 0.0)


# Refusals.


def test_legacy_semantics_deploy_without_a_seen_ascent_as_flown():
    vehicle = Vehicle(semantics='legacy', events=(dataclasses.replace(
        DROGUE, condition=MoreThan('Position', 2, -1e6)), MAIN,
    ))
    vehicle.arm().fly(2.0, at_rest)
    assert vehicle.names == ['drogue']
    assert DEPLOYERS[0].name in vehicle.actuators.deployers.names


def test_what_is_aborted_after_an_ignition_and_armed_again_may_be_carried_at_once():
    """With a barometer alone nothing carries what was just ignited."""
    vehicle = armed(BARO)
    for command in ('ignition', 'abort', 'launch'):
        assert vehicle.command(command) == ''

    def lifted(t):
        faster, steady = min(max(t, 0.0), 6.0), max(t - 6.0, 0.0)
        return faster * faster + 12.0 * steady, 2.0 * faster, 2.0 * (0.0 < t < 6.0)

    vehicle.fly(40.0, lifted)
    assert vehicle.phases[-1] == 'launch'
    assert vehicle.names == []


# A restart.


HOVER = 45.0


def hovering(t):
    """Rise to a hover, which its own engine holds."""
    return (7.5 * t * t, 15.0 * t, 15.0) if t < 1.5 else (
        (16.9 + 22.5 * (t - 1.5) - 4.5 * (t - 1.5) ** 2, 22.5 - 9.0 * (t - 1.5), -9.0)
        if t < 4.0 else (HOVER, 0.0, 0.0)
    )


def restarted(vehicle, away=0.3):
    """Return the vehicle with a computer that was away for so long [s]."""
    again = copy.deepcopy(vehicle)
    record = decode(encode(FlightRecord('config', vehicle.state.snapshot())))
    again.__post_init__()
    again.dead, again.t = vehicle.dead, vehicle.t + away
    assert again.state.offer(record.snapshot, away) == ''
    return again


_SHUT = EventSpec(1, 'shut', MoreThan('TimeSinceLiftoff', 0, 60e3), (Action('engine', 0, 0.0),))
_FLIGHT = Motion(push=30.0, burn=3.0, descent=15.0)


def _repeating(*events):
    return tuple(dataclasses.replace(each, single_fire=False) for each in events)


_CUT = dataclasses.replace(_SHUT, condition=MoreThan('TimeSinceLiftoff', 0, 5e3))


@pytest.mark.parametrize(('motion', 'moment', 'commands', 'events'), [
    pytest.param(_FLIGHT, 2.8, ['ignition'], (LIT, _SHUT), id='boost'),
    pytest.param(_FLIGHT, 8.0, [], (LIT, _SHUT), id='coast without a command'),
    pytest.param(_FLIGHT, 8.0, ['ignition'], (LIT, _CUT), id='shut down'),
    pytest.param(_FLIGHT, 8.0, ['ignition'], (LIT, *_repeating(_CUT)), id='and again'),
    pytest.param(_FLIGHT, 8.0, ['ignition'], _repeating(LIT, _CUT), id='both again'),
    pytest.param(_FLIGHT, 6.0, ['ignition', 'abort'], (LIT, _SHUT), id='aborted in the climb'),
    pytest.param(_FLIGHT, _FLIGHT.apogee + 8.0, ['ignition'], (LIT, _SHUT), id='descent'),
    pytest.param(hovering, 12.0, ['ignition'], (LIT, _SHUT), id='hover'),
])
def test_a_restart_changes_nothing_that_decides_what_may_act(motion, moment, commands, events):
    """Of what the record had not, each made a fault: a hover was cut, a charge fired in a climb."""
    vehicle = armed(ODOMETRY, events=events, params={'max_ascent_time': 40.0})
    for name in commands[:1]:
        assert vehicle.command(name) == ''
    vehicle.fly(moment, motion)
    for name in commands[1:]:
        assert vehicle.command(name) == ''
    once = restarted(vehicle)
    twice = restarted(once.fly(moment + 3.0, motion))
    for each in (vehicle, once, twice):
        each.fly(moment + 7.0, motion)
    kept = [
        (each.state._standing, each.state.snapshot().pad, each.state.snapshot().speed.value)
        for each in (vehicle, once, twice)
    ]
    assert kept[1:] == kept[:1] * 2


def test_a_speed_limit_holds_a_charge_over_a_restart_whose_sensors_are_silent():
    vehicle = held().fly(4.0, _FLIGHT)
    assert vehicle.command('abort') == ''
    speed = vehicle.state.snapshot().speed.value
    again = restarted(vehicle)
    again.sensors = ()
    (_, fired), *_ = again.fly(20.0, _FLIGHT).fired
    assert fired == pytest.approx(4.0 + (speed - 30.0) / G, abs=0.2)


@pytest.mark.parametrize(('height', 'phase'), [
    pytest.param(HOVER, Phase.FLIGHT, id='it hovers'),
    pytest.param(0.0, Phase.PREFLIGHT, id='it lies on its pad'),
])
def test_a_hover_goes_on_after_a_restart_where_it_was_alone(height, phase):
    vehicle = armed(ODOMETRY, events=(LIT, _SHUT), params={'max_ascent_time': 40.0})
    assert vehicle.command('ignition') == ''
    again = restarted(vehicle.fly(12.0, hovering), 2.0)
    assert again.fly(26.0, lambda t: (height, 0.0, 0.0)).state.phase is phase


def test_a_charge_beside_an_engine_that_recovery_refuses_fires():
    both = EventSpec(
        0, 'both', MoreThan('TimeSinceApogee', 0, 1e3),
        (Action('deployment', 0, 1e3), Action('engine', 0, 1.0)), phases=('recovery',),
    )
    vehicle = Refusals(events=(both,)).arm().fly(_FLIGHT.apogee + 6.0, _FLIGHT)
    assert vehicle.names == ['both']
    assert vehicle.thrust == 0.0
