# SPDX-License-Identifier: Apache-2.0
"""A flight computer on raw sensors, restarted in the air."""
import random

import pytest
from flight_computer import APOGEE, BURNOUT, GRAVITY, LIFTOFF, MAIN, TOP, Computer, altitude

from fake_host import message
from parts import amount, few_of
from propulsion_ros.loops.flight.record_file import read_state
from propulsion_ros.models.common.atmosphere import temperature_and_pressure

SITE = 120.0
PERIOD = amount('rest', 0.04, 0.02)
"""Of the samples [s]."""


def force(t):
    """Return the specific force along the nose [m/s^2]."""
    if LIFTOFF <= t < BURNOUT:
        return 30.0 + GRAVITY
    return 0.0 if BURNOUT <= t < APOGEE + 2.0 else GRAVITY


def feed(computer, begin, end, motion=altitude, push=force, stuck=None, noise=(3.0, 0.05)):
    """Deliver pressure and inertial samples; the stamps of one may stand still."""
    rng = random.Random(1)
    for k in range(round(begin / PERIOD), round(end / PERIOD)):
        t = k * PERIOD
        computer.wait(PERIOD)
        stamps = dict.fromkeys(('pressure', 'imu'), round(t * 1e9))
        if stuck and t > stuck[1]:
            stamps[stuck[0]] = round(stuck[1] * 1e9)
        _, pressure = temperature_and_pressure(SITE + motion(t))
        computer.host.deliver('~/pressure', message(
            stamps['pressure'], variance=9.0,
            fluid_pressure=float(pressure) + rng.gauss(0.0, noise[0]),
        ))
        vector = {axis: rng.gauss(0.0, 0.003) for axis in 'xyz'}
        pushed = {axis: rng.gauss(0.0, noise[1]) for axis in 'xyz'}
        pushed['z'] += push(t)
        computer.host.deliver(
            '~/imu', message(stamps['imu'], angular_velocity=vector, linear_acceleration=pushed)
        )


def rows(computer):
    return [(stamp_ns * 1e-9, row) for stamp_ns, row in computer.host.of('~/odometry')]


@pytest.mark.parametrize('at', few_of([11.0, APOGEE + 3.0], 2))
def test_estimator_begins_anew_in_the_air_above_the_recorded_pad(tmp_path, at):
    path = str(tmp_path / 'flight.json')
    first = Computer('sensors', state_file=path)
    feed(first, 0.0, 3.0)
    first.command('launch')
    feed(first, 3.0, at)
    assert read_state(tmp_path / 'flight.json').pad_altitude == pytest.approx(SITE, abs=3.0)
    second = Computer('sensors', state_file=path)
    feed(second, at + 1.0, MAIN + 2.0)
    assert any(line.startswith('resumed in ') for line in second.warnings)
    assert [name for name, _ in first.fired + second.fired] == [
        'drogue parachute', 'main parachute'
    ]
    begun, row = rows(second)[0]
    assert row.pose_covariance[14] > 1.0, 'height is hardly known at first'
    for t, row in rows(second):
        if t > begun + 1.0:
            assert row.position[2] == pytest.approx(altitude(t), abs=8.0), t
    stamp_ns, (_, _, top) = second.host.of('~/apogee')[-1]
    assert stamp_ns * 1e-9 == pytest.approx(APOGEE, abs=0.5)
    assert top == pytest.approx(TOP, abs=8.0), 'the apogee has its altitude after a restart'


def test_at_rest_it_goes_back_to_the_pad(tmp_path):
    path = str(tmp_path / 'flight.json')
    first = Computer('sensors', state_file=path)
    feed(first, 0.0, 3.0)
    first.command('launch')
    feed(first, 3.0, 11.0)
    second = Computer('sensors', state_file=path)
    feed(second, 12.0, 20.0, motion=lambda t: 0.0, push=lambda t: GRAVITY)
    assert second.flags['phase'] == 'preflight'
    assert 'resuming' not in second.flags['flags']
    assert not second.fired


@pytest.mark.parametrize('sensor', ['pressure', 'imu'])
@pytest.mark.parametrize('since', few_of([8.0, APOGEE + 1.0], 2))
def test_raw_sensor_whose_stamps_stand_still_fires_both_charges_in_time(sensor, since):
    computer = Computer('sensors', **{'flight.max_ascent_time': 25.0})
    feed(computer, 0.0, 3.0)
    computer.command('launch')
    feed(computer, 3.0, MAIN + 4.0, stuck=(sensor, since))
    assert [name for name, _ in computer.fired] == ['drogue parachute', 'main parachute']
    assert [t for _, t in computer.fired] == pytest.approx([APOGEE, MAIN], abs=1.2)
    assert computer.host.counts['stuck_stamps'] == 1


@pytest.mark.parametrize('noise', [(72.0, 0.2), (72.0, 6.0), (12.0, 8.0)])
def test_noise_that_no_message_states_moves_no_charge(noise):
    """Of pressure [Pa] and force [m/s^2]: up to 6 m where 0.3 m are stated."""
    computer = Computer('sensors')
    feed(computer, 0.0, 3.0, noise=noise)
    computer.command('launch')
    feed(computer, 3.0, MAIN + 4.0, noise=noise)
    assert [name for name, _ in computer.fired] == ['drogue parachute', 'main parachute']
    assert [t for _, t in computer.fired] == pytest.approx([APOGEE, MAIN], abs=1.0)
    for t, row in rows(computer):
        if LIFTOFF < t < MAIN:
            assert row.position[2] == pytest.approx(altitude(t), abs=30.0), t
