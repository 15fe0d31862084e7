# SPDX-License-Identifier: Apache-2.0
"""Logs of PX4 as messages, against the truth of a simulated flight."""
from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip('rosbags')
pytest.importorskip('pyulog')

from ulog_flights import (
    BOOT_US,
    FORMATS,
    MAP,
    ORDER,
    PARAMETERS,
    flown,
    messages_of,
    record,
    rows,
    short,
    ulog,
    written,
)

from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.rotation import matrix_of
from propulsion_ros.replay.bags import BagReader, BagWriter
from propulsion_ros.replay.flight_log import read_flight_log
from propulsion_ros.replay.ulog_reader import UNMAPPED, Target, read_map
from propulsion_ros.settings.errors import ConfigError, SourceError

BOOT = BOOT_US * 1e-6


@pytest.fixture(scope='module')
def flight(tmp_path_factory):
    return flown(tmp_path_factory.mktemp('flight'), seconds=4.0)


def read(path, topic, names=UNMAPPED):
    """Return times since the boot of the flight [s] and contents of a topic."""
    with BagReader(path, names) as bag:
        found = [(m.stamp_ns, bag.decode(m)) for m in bag.messages([topic])]
    return np.array([stamp * 1e-9 - BOOT for stamp, _ in found]), [each for _, each in found]


def given(tmp_path, messages, **more):
    path = tmp_path / 'log.ulg'
    path.write_bytes(ulog(messages, **more))
    return path


def test_everything_is_in_a_log_once(tmp_path, flight):
    path = written(tmp_path / 'log.ulg', flight)
    with BagReader(path, read_map([MAP])) as bag:
        assert bag.topics == {
            '/rotors/command': Kind.JOINTS, '/rotors/state': Kind.JOINTS, '/px4/imu': Kind.IMU,
            '/px4/odometry': Kind.ODOMETRY, '/px4/pressure': Kind.PRESSURE,
            '/px4/battery_state': Kind.BATTERY,
        }
        stamps = [message.stamp_ns for message in bag.messages()]
        lines = list(bag.inside())
    assert len(stamps) == 1000 + 200 + 1000 + 200 + 200 + 20
    assert stamps == sorted(stamps)
    assert '/px4/imu: 1000 sensor_msgs/msg/Imu' in lines
    assert 'PX4 1.16.1 on TEST' in lines
    assert 'motor_3: actuator_outputs.output[0], PWM_MAIN 1075 to 1950' in lines
    assert lines[-1] == 'not read: cpuload'


def test_outputs_are_scaled_by_the_limits_of_the_parameters(tmp_path, flight):
    path = written(tmp_path / 'log.ulg', flight)
    time, found = read(path, '/rotors/command', read_map([MAP]))
    columns = [found[0].name.index(name) for name, _ in ORDER]
    throttle = np.array([each.position[columns] for each in found])
    np.testing.assert_allclose(time, flight.time, atol=1e-6)
    np.testing.assert_allclose(throttle, flight.command, atol=0.5 / 875 + 1e-6)
    assert not throttle[flight.time < 1.0].any()


@pytest.mark.parametrize(('change', 'source'), [
    pytest.param({'PWM_MAIN_MAX2': 1500}, 'actuator_motors, THR_MDL_FAC 0.3', id='other limits'),
    pytest.param({'PWM_MAIN_MAX2': 1075}, 'actuator_motors, THR_MDL_FAC 0.3', id='no width'),
    pytest.param({'PWM_MAIN_FUNC2': 0}, 'actuator_motors, THR_MDL_FAC 0.3', id='no function'),
    pytest.param({}, 'actuator_outputs.output[1], PWM_MAIN 1075 to 1950', id='as it was'),
])
def test_without_limits_that_hold_it_is_what_was_wanted(tmp_path, flight, change, source):
    path = given(tmp_path, messages_of(flight), parameters={**PARAMETERS, **change})
    _, found = read(path, '/motors/command')
    with BagReader(path) as bag:
        assert f'motor_1: {source}' in list(bag.inside())
    rear_left = np.array([
        each.position[each.name.index('motor_1')] for each in found if 'motor_1' in each.name
    ])
    assert ORDER[1] == ('rear_left', 101)
    # The curve of the thrust is undone.
    np.testing.assert_allclose(rear_left, flight.command[:, 1], atol=0.5 / 875 + 1e-6)


def test_axes_are_those_of_messages(tmp_path, flight):
    path = written(tmp_path / 'log.ulg', flight)
    time, imu = read(path, '/px4/imu')
    force = np.array([[getattr(each.linear_acceleration, axis) for axis in 'xyz'] for each in imu])
    rate = np.array([[getattr(each.angular_velocity, axis) for axis in 'xyz'] for each in imu])
    np.testing.assert_allclose(force, flight.force, atol=1e-5)
    np.testing.assert_allclose(rate, flight.rate, atol=1e-6)
    assert imu[0].orientation_covariance[0] == -1.0
    time, odometry = read(path, '/px4/odometry')
    at = np.round(time / 0.004).astype(int)
    place = np.array([[getattr(each.pose.pose.position, a) for a in 'xyz'] for each in odometry])
    q = np.array([
        [getattr(each.pose.pose.orientation, axis) for axis in 'xyzw'] for each in odometry
    ])
    twist = np.array([[getattr(each.twist.twist.linear, a) for a in 'xyz'] for each in odometry])
    spin = np.array([each.twist.twist.angular.z for each in odometry])
    np.testing.assert_allclose(place, flight.position[at], atol=1e-5)
    np.testing.assert_allclose(
        np.abs(np.sum(q * flight.quaternion[at], axis=1)), 1.0, atol=1e-9
    )
    world = np.einsum('tij,tj->ti', matrix_of(q), twist)
    np.testing.assert_allclose(world, flight.velocity[at], atol=1e-5)
    np.testing.assert_allclose(spin, flight.rate[at, 2], atol=0.01)
    assert odometry[0].child_frame_id == 'base_link'


def test_the_mean_of_an_imu_is_of_its_middle(tmp_path, flight):
    messages = messages_of(flight)
    messages['sensor_combined', 0]['gyro_integral_dt'] = 4000
    time, _ = read(given(tmp_path, messages), '/px4/imu')
    np.testing.assert_allclose(time, flight.time - 0.002, atol=1e-6)


def test_speeds_pressure_and_battery(tmp_path, flight):
    path = written(tmp_path / 'log.ulg', flight)
    _, state = read(path, '/rotors/state', read_map([MAP]))
    speed = np.array([[each.velocity[each.name.index(n)] for n, _ in ORDER] for each in state])
    np.testing.assert_allclose(speed, flight.speed[::5], atol=0.11)
    _, pressure = read(path, '/px4/pressure')
    assert pressure[0].fluid_pressure == pytest.approx(101325.0, abs=0.1)
    _, battery = read(path, '/px4/battery_state')
    assert battery[0].voltage == pytest.approx(15.2)
    assert (battery[0].current, battery[0].percentage) == pytest.approx((-12.0, 0.8))
    assert battery[0].charge == pytest.approx(4.0)


def test_pressures_in_hectopascal_are_taken_as_such(tmp_path, flight):
    messages = {('sensor_baro', 0): rows('vehicle_air_data', [BOOT_US], baro_pressure_pa=1013.25)}
    formats = {**FORMATS, 'sensor_baro': 'uint64_t timestamp;float pressure;'}
    _, (found,) = read(given(tmp_path, messages, formats=formats), '/px4/pressure')
    assert found.fluid_pressure == pytest.approx(101325.0, abs=1.0)


def test_servos_and_motors_that_turn_both_ways(tmp_path):
    us = BOOT_US + np.arange(3) * 10_000
    messages = {
        ('actuator_servos', 0): rows('actuator_servos', us, control=[[-1.0], [0.0], [1.0]]),
        ('actuator_motors', 0): rows(
            'actuator_motors', us, reversible_flags=1, control=[[-0.5], [np.nan], [1.0]]
        ),
    }
    messages['actuator_servos', 0]['control'][:, 1:] = np.nan
    messages['actuator_motors', 0]['control'][:, 1:] = np.nan
    path = given(tmp_path, messages, parameters={})
    names = read_map(['servo_1=fins/rudder:-0.4:0.2, motor_1=pods/bow.velocity:0:300'])
    _, rudder = read(path, '/fins/command', names)
    assert [each.position[0] for each in rudder] == pytest.approx([-0.4, -0.1, 0.2])
    _, bow = read(path, '/pods/command', names)
    assert [each.velocity.tolist() for each in bow] == [[-150.0], [0.0], [300.0]]
    assert [each.position.tolist() for each in bow] == [[]] * 3


def test_messages_out_of_order_or_without_a_time(tmp_path):
    us = [BOOT_US + 30_000, BOOT_US, 0, 2**63, BOOT_US + 10_000]
    path = given(tmp_path, {
        ('vehicle_air_data', 0): rows(
            'vehicle_air_data', us, baro_pressure_pa=[3e4, 1e4, 9, 9, 2e4]
        )
    }, dropouts=[(BOOT_US, 40)])
    time, found = read(path, '/px4/pressure')
    np.testing.assert_allclose(time, [0.0, 0.01, 0.03], atol=1e-9)
    assert [each.fluid_pressure for each in found] == [1e4, 2e4, 3e4]
    with BagReader(path) as bag:
        lines = list(bag.inside())
    assert 'vehicle_air_data: 2 without a time: left out' in lines
    assert '1 dropouts while logging, 40 ms together' in lines


def test_a_log_is_a_flight_log(tmp_path, flight):
    samples = read_flight_log(written(tmp_path / 'log.ulg', flight))
    at = [round((each.stamp_ns * 1e-9 - BOOT) / 0.004) for each in samples]
    assert len(samples) == 200
    np.testing.assert_allclose(
        [each.altitude for each in samples], flight.position[at, 2], atol=1e-5
    )
    np.testing.assert_allclose(
        [each.velocity for each in samples], flight.velocity[at, 2], atol=1e-5
    )


@pytest.mark.parametrize(('text', 'target'), [
    pytest.param('motor_2=rotors/a', Target('rotors', 'a', 'position', 0.0, 1.0), id='motor'),
    pytest.param('motor_2=/uav/rotors/a', Target('uav/rotors', 'a', 'position', 0.0, 1.0),
                 id='namespace'),
    pytest.param('motor_2=pods/a.velocity:-300:300.5',
                 Target('pods', 'a', 'velocity', -300.0, 300.5), id='speed'),
])
def test_maps(text, target):
    assert read_map([text]).target('motor_2') == target


@pytest.mark.parametrize('text', [
    pytest.param(text, id=text[:20] or 'empty') for text in (
        '', 'motor_1', 'motor_0=a/b', 'motor_100=a/b', 'motor_1=b', 'motor_1=a/b:1', 'imu=',
        'motor_1=a/b:x:y', 'imu=/a b', 'gps=/fix', 'motor_1=a//b', 'motor_1=ä/b', 'a' * 5000,
        'motor_1=a/b:0:' + '9' * 400,
    )
])
def test_wrong_maps_are_refused(text):
    with pytest.raises(ConfigError, match='--map: expected motor_<n>=GROUP/ACTUATOR') as error:
        read_map([text])
    assert len(str(error.value)) < 1100


@pytest.mark.parametrize(('data', 'text'), [
    pytest.param(b'', 'Header too short', id='empty'),
    pytest.param(b'\x1f\x8b' + bytes(30), 'Failed to parse header', id='gzip'),
    pytest.param(ulog({}, formats={'a': 'uint64_t timestamp;b b;', 'b': 'a a;'})
                 + record('A', b'\0\0\0a'), 'over 8 levels', id='circle'),
    pytest.param(ulog({}, formats={'a': 'b[60000] b;', 'b': 'float[60000] c;'})
                 + record('A', b'\0\0\0a'), 'over 200000 fields', id='wide'),
    pytest.param(ulog({}) + b'\xff\xff\xff' * 400_000, 'most of it is damaged', id='no record'),
])
def test_what_is_no_log_is_refused_in_one_line(tmp_path, data, text, capsys):
    path = tmp_path / 'log.ulg'
    path.write_bytes(data)
    with pytest.raises(SourceError, match=text) as error, BagReader(path):
        pass
    assert str(error.value).startswith(str(path))
    assert capsys.readouterr() == ('', '')


def test_a_log_that_is_cut_or_damaged_is_read_as_far_as_it_goes(tmp_path, flight):
    whole = written(tmp_path / 'log.ulg', short(flight, 500)).read_bytes()
    path = tmp_path / 'cut.ulg'
    path.write_bytes(whole[:-20_000])
    with BagReader(path) as bag:
        assert 300 < bag.count_of(['/px4/imu']) < 500
    at = len(whole) // 2
    path.write_bytes(whole[:at] + b'\xff' * 7 + whole[at:])
    with BagReader(path) as bag:
        assert 'it is damaged: what could be read of it is used' in list(bag.inside())
        assert bag.count_of(['/px4/imu']) > 200


def test_a_log_without_anything_that_is_read_is_empty(tmp_path):
    with BagReader(given(tmp_path, {})) as bag:
        assert (bag.count, bag.topics, list(bag.messages())) == (0, {}, [])


def test_a_motor_that_is_not_in_the_log_is_named(tmp_path, flight):
    path = written(tmp_path / 'log.ulg', short(flight, 300))
    with pytest.raises(SourceError, match=r'--map: has no motor_7; has motor_1, .*motor_4'), \
            BagReader(path, read_map(['motor_7=rotors/a'])):
        pass


def test_pyulog_is_named_where_it_is_missing(tmp_path, flight, monkeypatch):
    path = written(tmp_path / 'log.ulg', short(flight, 300))
    monkeypatch.setitem(sys.modules, 'pyulog', None)
    with pytest.raises(SourceError, match=r'the Python package pyulog reads logs of PX4: pip'), \
            BagReader(path):
        pass


def test_logs_are_not_written(tmp_path):
    with pytest.raises(SourceError, match='logs of PX4 are read, not written'), \
            BagWriter(tmp_path / 'new.ulg'):
        pass
