# SPDX-License-Identifier: Apache-2.0
"""Readings of sensors, each once, and their messages."""
from __future__ import annotations

import numpy as np
import pytest
from rocketpy_fakes import Barometer, GnssReceiver, Gyroscope, SpecificForce

from propulsion_ros.replay.plain import Wire
from propulsion_ros.rocketpy import SensorFault
from propulsion_ros.rocketpy.sensors import SOURCES, Source, message_of


def test_readings_are_given_once_and_pairs_together():
    force, rate = SpecificForce(50.0), Gyroscope(50.0)
    source = Source('imu', (force, rate), None)
    assert not source.is_ready
    force.measured_data.append((0.0, 1.0, 2.0, 3.0))
    assert not source.is_ready
    assert source.new() == []
    rate.measured_data.append((0.0, 4.0, 5.0, 6.0))
    force.measured_data.append((0.02, 7.0, 8.0, 9.0))
    assert source.is_behind
    (reading,) = source.new()
    assert reading == (0.0, 0.0, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    assert source.new() == []
    rate.measured_data.append((0.02, 0.0, 0.0, 0.0))
    assert [each.arrival for each in source.new()] == [0.02]
    assert source.newest == 0.02


def test_the_pad_has_the_noise_of_the_sensor_and_no_thrust():
    force, rate = SpecificForce(100.0), Gyroscope(100.0)
    force.noise_density, rate.noise_density = (0.01, 0.02, 0.03), (0.001, 0.002, 0.0)
    force.noise_variance = rate.noise_variance = (1.0, 1.0, 4.0)
    force.measured_data.append((0.0, 1.0, 2.0, 60.0))
    rate.measured_data.append((0.0, 0.1, 0.2, 0.3))
    source = Source('imu', (force, rate), None)
    rows = source.on_pad(20.0, np.random.default_rng(1))
    values = np.array([each.values for each in rows])
    assert len(rows) == 2000
    assert rows[0].arrival == -20.0
    assert rows[-1].arrival == pytest.approx(-0.01)
    np.testing.assert_allclose(
        values.mean(axis=0), [0.0, 0.0, 9.81, 0.1, 0.2, 0.3], atol=0.03
    )
    # A density of s makes s sqrt(rate) in each sample.
    expected = [0.1, 0.2, 0.6, 0.01, 0.02, 0.0]
    np.testing.assert_allclose(values.std(axis=0), expected, rtol=0.06, atol=1e-12)


def test_a_fault_of_a_barometer_counts_in_metres():
    barometer = Barometer(10.0)
    barometer.measured_data += [(0.1 * k, 95_000.0) for k in range(100)]
    source = Source('pressure', (barometer,), SensorFault('step', 5.0, {'size': 100.0}))
    pascal = np.array([each.values[0] for each in source.new()])
    np.testing.assert_allclose(pascal[:50], 95_000.0, rtol=1e-9)
    # At 95 kPa a metre is 11.4 Pa.
    np.testing.assert_allclose(95_000.0 - pascal[50:], 1134.0, rtol=0.01)


def test_a_fault_of_a_receiver_counts_in_metres():
    receiver = GnssReceiver(10.0)
    receiver.measured_data += [(0.1 * k, 60.0, 11.0 + 1e-4 * k, 300.0) for k in range(100)]
    source = Source('fix', (receiver,), SensorFault('stuck', 5.0, {'length': 2.0}))
    rows = np.array([each.values for each in source.new()])
    held = (np.arange(100) >= 50) & (np.arange(100) < 70)
    np.testing.assert_allclose(rows[held, 1], 11.0049, atol=1e-9)
    np.testing.assert_allclose(rows[~held, 1], 11.0 + 1e-4 * np.arange(100)[~held], atol=1e-9)
    np.testing.assert_allclose(rows[:, [0, 2]], [[60.0, 300.0]] * 100, atol=1e-9)


@pytest.mark.parametrize(('source', 'values', 'sensors', 'field', 'expected'), [
    ('pressure', (9e4,), [Barometer(1.0)], 'fluid_pressure', 9e4),
    ('fix', (1.0, 2.0, 3.0), [GnssReceiver(1.0)], 'altitude', 3.0),
    ('fix', (1.0, 2.0, 3.0), [GnssReceiver(1.0)], 'longitude', 2.0),
    ('imu', (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), [], 'angular_velocity.z', 6.0),
    ('imu', (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), [], 'linear_acceleration.x', 1.0),
])
def test_messages_can_be_written_into_a_bag(source, values, sensors, field, expected):
    pytest.importorskip('rosbags')
    wire, kind = Wire(), SOURCES[source].message
    read = wire.read(wire.serialise(message_of(source, 1_500_000_000, values, sensors), kind), kind)
    assert (read.header.stamp.sec, read.header.stamp.nanosec) == (1, 500_000_000)
    for name in field.split('.'):
        read = getattr(read, name)
    assert read == expected


def test_the_covariance_of_a_fix_is_that_of_its_accuracies():
    receiver = GnssReceiver(1.0)
    fix = message_of('fix', 0, (1.0, 2.0, 3.0), [receiver])
    np.testing.assert_allclose(fix.position_covariance.reshape(3, 3), np.diag([4.0, 4.0, 9.0]))
    assert fix.position_covariance_type == 2
    receiver.position_accuracy = 0.0
    assert message_of('fix', 0, (1.0, 2.0, 3.0), [receiver]).position_covariance_type == 0
