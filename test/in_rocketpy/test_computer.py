# SPDX-License-Identifier: Apache-2.0
"""The flight computer behind triggers, with sensors that look like those of RocketPy."""
from __future__ import annotations

import copy
import functools
import inspect

import pytest
from rocketpy_fakes import (
    APOGEE,
    Accelerometer,
    Barometer,
    Flight,
    GnssReceiver,
    Gyroscope,
    SpecificForce,
    height,
    with_settings,
)

from parts import few_of
from propulsion_ros.rocketpy import FlightComputer, SensorFault
from propulsion_ros.settings.errors import ConfigError

TOP = APOGEE + 2.0
"""When what happens at the apogee has happened [s]."""


@pytest.fixture
def config(tmp_path):
    return functools.partial(with_settings, tmp_path / 'flight.yaml')


def triggers(computer):
    return {name: computer.trigger(name) for name in ('drogue', 'main')}


@pytest.mark.parametrize(
    ('rate', 'sampling'), few_of([(20.0, 50.0), (50.0, 50.0), (100.0, 20.0)], 3)
)
def test_drogue_fires_at_the_apogee_and_main_at_its_height(config, rate, sampling):
    computer = FlightComputer(config())
    flight = Flight([Barometer(sampling)], triggers(computer), rate)
    drogue, main = computer.deployed
    assert (drogue.name, main.name) == ('drogue', 'main')
    assert APOGEE - 0.5 < drogue.time < APOGEE + 0.5
    assert height(main.time) == pytest.approx(450.0, abs=7.0)
    assert [each.name for each in computer.events] == ['drogue parachute', 'main parachute']
    # What is measured since a call is there after the next one, and read by the one after that.
    for each in computer.deployed:
        assert 0.0 <= flight.fired[each.name] - each.time < 2.0 / rate


def test_triggers_share_one_computer_and_a_dropped_one_is_not_missed(config):
    computer = FlightComputer(config())
    asked = []

    def noting(name):
        trigger = computer.trigger(name)

        def fires(p, h, y, sensors):
            asked.append(name)
            return trigger(p, h, y, sensors)
        return fires

    flight = Flight([Barometer(20.0)], {name: noting(name) for name in ('main', 'drogue')})
    last = len(asked) - asked[::-1].index('drogue')
    assert 'main' in asked[last:]
    alone = FlightComputer(config())
    other = Flight([Barometer(20.0)], {'main': alone.trigger('main')})
    assert alone.deployed == computer.deployed
    assert other.fired['main'] == flight.fired['main']


def test_a_new_flight_begins_anew(config):
    computer, sensors = FlightComputer(config()), [Barometer(10.0)]
    first = Flight(sensors, triggers(computer), end=TOP)
    kept = computer.deployed
    assert kept
    again = Flight(sensors, triggers(computer), end=TOP)
    assert computer.deployed == kept
    assert again.fired == first.fired
    # Another rocket, with the same computer.
    Flight([Barometer(10.0)], triggers(computer), end=TOP)
    assert computer.deployed == kept


def test_a_copy_begins_anew_and_its_triggers_share_it(config):
    computer = FlightComputer(config())
    Flight([Barometer(10.0)], triggers(computer), end=10.0)
    copied = copy.deepcopy(triggers(computer))
    owners = {trigger.func.__self__ for trigger in copied.values()}
    assert len(owners) == 1
    (other,) = owners
    assert other is not computer
    assert not other.received
    assert Flight([Barometer(10.0)], copied, end=TOP).fired


def test_finish_takes_what_no_trigger_has_taken(config):
    computer, barometer = FlightComputer(config()), Barometer(20.0)
    Flight([barometer], triggers(computer))
    before = len(computer.received)
    computer.finish()
    pad = 100
    requests = 1
    assert before < len(computer.received) == len(barometer.measured_data) + pad + requests
    computer.finish()
    assert len(computer.received) == len(barometer.measured_data) + pad + requests


def test_raw_sensors_give_an_estimate(config):
    computer = FlightComputer(config(altitude_source='sensors'))
    sensors = [GnssReceiver(1.0), Gyroscope(25.0), SpecificForce(25.0), Barometer(25.0)]
    Flight(sensors, triggers(computer), end=50.0)
    drogue, main = computer.deployed
    assert APOGEE - 0.5 < drogue.time < APOGEE + 0.5
    assert height(main.time) == pytest.approx(450.0, abs=10.0)
    kinds = {each.kind.rpartition('/')[2] for each in computer.received}
    assert kinds == {'Imu', 'FluidPressure', 'NavSatFix', 'DiagnosticArray'}


def test_silence_lets_the_backup_timer_run(config):
    fault = SensorFault('silent', 5.0, {'length': float('inf')})
    computer = FlightComputer(config(), faults={'pressure': fault})
    Flight([Barometer(10.0)], triggers(computer))
    (drogue,) = [each for each in computer.deployed if each.name == 'drogue']
    assert drogue.time == pytest.approx(40.0, abs=1.5)


def test_time_is_that_of_the_flight_whatever_the_clock_of_a_sensor(config):
    fault = SensorFault('clock', 6.0, {'size': 3600.0})
    computer = FlightComputer(config(), faults={'pressure': fault})
    Flight([Barometer(10.0)], triggers(computer), end=TOP)
    assert APOGEE - 0.5 < computer.deployed[0].time < APOGEE + 0.5


def test_a_trigger_is_called_as_rocketpy_calls_it(config):
    trigger = FlightComputer(config()).trigger('drogue')
    assert [*inspect.signature(trigger).parameters] == ['p', 'h', 'y', 'sensors']
    assert trigger(1e5, 0.0, [0.0] * 13, [Barometer(50.0)]) is False


@pytest.mark.parametrize(('make', 'problem'), [
    pytest.param(lambda path: FlightComputer(path / 'none.yaml'), 'none.yaml', id='no file'),
    pytest.param(
        lambda path: FlightComputer(path, {'altitude_source': 'odometry'}),
        'expected pressure or sensors: RocketPy has no sensor', id='odometry',
    ),
    pytest.param(
        lambda path: FlightComputer(path, {'config_file': 'none.jsonc'}), 'none.jsonc', id='RML'
    ),
    pytest.param(lambda path: FlightComputer(path, {'altitude': 1}), 'altitude', id='unknown key'),
    pytest.param(
        lambda path: FlightComputer(path, pad_time=-1.0), 'pad_time: expected seconds', id='pad'
    ),
    pytest.param(
        lambda path: FlightComputer(path, pad_time=float('inf')),
        'pad_time: expected seconds, from 0 to 3600, got inf', id='endless pad'
    ),
    pytest.param(
        lambda path: FlightComputer(path, faults={'pressure': 'stuck'}),
        "pressure: expected a SensorFault, got 'stuck'", id='no fault',
    ),
    pytest.param(
        lambda path: FlightComputer(path, faults={'pressure': SensorFault('stuck', None)}),
        "fault 'stuck': at: expected a number, got None", id='fault at no time',
    ),
    pytest.param(
        lambda path: FlightComputer(path, faults={'pressure': SensorFault('stuck', 1.0, {}, 0.5)}),
        'seed: expected an integer of at least 0, got 0.5', id='seed',
    ),
    pytest.param(
        lambda path: FlightComputer(path).trigger('drouge'), "did you mean 'drogue'", id='deployer'
    ),
    pytest.param(
        lambda path: FlightComputer(path, faults={'imu': SensorFault('stuck', 1.0)}),
        "expected one of pressure, got 'imu'", id='fault of no source',
    ),
    pytest.param(
        lambda path: FlightComputer(path, faults={'pressure': SensorFault('zeros', 1.0)}),
        "fault 'zeros': expected one of imu, got pressure", id='fault of another source',
    ),
])
def test_what_is_wrong_is_refused_before_the_flight(config, make, problem):
    path = config()
    with pytest.raises(ConfigError) as error:
        make(path.parent if 'none.yaml' in problem else path)
    assert problem in str(error.value)
    assert '\n' not in str(error.value)


@pytest.mark.parametrize(('source', 'sensors', 'problem'), [
    ('pressure', [], 'pressure: expected a Barometer on the rocket'),
    ('pressure', [Barometer(50.0), Barometer(50.0)], 'expected one Barometer, got 2: name'),
    ('sensors', [Barometer(50.0), Gyroscope(50.0)], 'imu: expected a SpecificForce on the rocket'),
    ('sensors', [Barometer(50.0), Accelerometer(50.0), Gyroscope(50.0)],
     "RocketPy's Accelerometer does not show the 1 g"),
    ('sensors', [Barometer(50.0), SpecificForce(100.0), Gyroscope(50.0)],
     'expected sensors of one sampling_rate, got SpecificForce 100 Hz, Gyroscope 50 Hz'),
], ids=['none', 'two', 'no force', 'force without 1 g', 'rates'])
def test_sensors_that_are_missing_or_wrong_are_one_line(config, source, sensors, problem):
    computer = FlightComputer(config(altitude_source=source))
    with pytest.raises(ConfigError) as error:
        Flight(sensors, triggers(computer), end=1.0)
    assert problem in str(error.value)
    assert '\n' not in str(error.value)


def test_of_two_barometers_the_wired_one_counts(config):
    mine, other = Barometer(10.0), Barometer(10.0)
    computer = FlightComputer(config(), sensors=[mine])
    Flight([other, mine], triggers(computer), end=TOP)
    assert computer.deployed


def test_a_sensor_that_is_added_twice_is_refused(config):
    computer, barometer = FlightComputer(config()), Barometer(20.0)
    barometer.measured_data = [[], []]
    with pytest.raises(ConfigError, match='added to the rocket once'):
        computer.trigger('main')(0.0, 0.0, None, [barometer, barometer][:1])


def test_a_refused_launch_says_why(config):
    computer = FlightComputer(config(**{'flight.max_ascent_time': 0.0}))
    why = r'flight\.yaml: flight_state: .*no backup timer'
    with pytest.raises(ConfigError, match=why) as error:
        Flight([Barometer(20.0)], triggers(computer), end=1.0)
    assert '\n' not in str(error.value)
