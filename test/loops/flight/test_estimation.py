# SPDX-License-Identifier: Apache-2.0
"""Which measurements of raw sensors the estimator is given, by their stamps."""
from __future__ import annotations

import pytest

from fake_host import FakeHost, message
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting, MountingParams
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.loops.flight.estimation import EstimationParams, FlightEstimation

S = 1_000_000_000
FIELDS = {
    'imu': {
        'angular_velocity': {'x': 0.0, 'y': 0.0, 'z': 0.0},
        'linear_acceleration': {'x': 0.0, 'y': 0.0, 'z': 9.8},
    },
    'pressure': {'fluid_pressure': 1e5, 'variance': 0.0},
    'magnetic_field': {'magnetic_field': {'x': 2e-5, 'y': 0.0, 'z': -4e-5}},
}


def taken(*measurements):
    """Deliver (sensor, stamp [s]), and return which were taken, one letter each, and the host."""
    host = FakeHost()
    estimator = Estimator(EstimatorParams(), Mounting(MountingParams()))
    estimation = FlightEstimation(
        host, estimator, EstimationParams(), 'map', False, lambda state: None
    )
    takes = {port.topic.removeprefix('~/'): port.take for port in estimation.ports}
    found = ''
    for sensor, seconds in measurements:
        refused = host.counts['other_time']
        takes[sensor](message(round(seconds * S), **FIELDS[sensor]))
        found += 'n' if host.counts['other_time'] > refused else 'y'
    return found, host


@pytest.mark.parametrize(
    ('measurements', 'expected'),
    [
        pytest.param([('pressure', 5), ('pressure', 6), ('pressure', 7)], 'yyy', id='alone'),
        # The inputs judge the time of a sensor that is alone: here its own last stamp was the
        # measure too, and after a gap of more than a second it was refused for ever.
        pytest.param([('pressure', 5), ('pressure', 7), ('pressure', 8)], 'yyy', id='alone, gap'),
        pytest.param([('pressure', 5), ('pressure', 90), ('pressure', 91)], 'yyy', id='clock set'),
        pytest.param([('imu', 5), ('pressure', 6), ('pressure', 4)], 'yyy', id='near the first'),
        pytest.param([('imu', 5), ('pressure', 6.1), ('pressure', 3.9)], 'ynn', id='far from it'),
        pytest.param(
            [('imu', 5), ('pressure', 5.9), ('imu', 5.1), ('pressure', 6.8), ('pressure', 7.7)],
            'yyyyy', id='drifts away',
        ),
        pytest.param(
            [('imu', 5), ('pressure', 5), ('imu', 9), ('pressure', 9)], 'yyyy', id='after silence'
        ),
        pytest.param(
            [('magnetic_field', 5), ('pressure', 5.5), ('pressure', 50)], 'yyn', id='no inertial'
        ),
        # The newest stamp is the measure; the latest one was, and of a sensor that was late once
        # what came next, 1.3 s after that, was lost.
        pytest.param(
            [('pressure', 5), ('pressure', 4.2), ('pressure', 5.5)], 'yyy', id='late and goes on'
        ),
    ],
)
def test_which_measurements_are_of_this_time(measurements, expected):
    assert taken(*measurements)[0] == expected


def test_a_refused_measurement_is_named_with_the_time():
    _, host = taken(('imu', 5), ('pressure', 50))
    assert host.said('warn') == [
        'pressure not taken: stamped 50.000 s, but the time is 5.000 s',
    ]


def test_after_a_jump_of_the_inertial_sensor_the_others_follow():
    found, host = taken(
        ('imu', 50), ('pressure', 50), ('imu', 5), ('imu', 5.01), ('pressure', 5.01),
    )
    assert found == 'yyyyy'
    assert host.counts['jumps'] == 1
    assert 'time of the sensors jumped by -45.000 s' in host.said('warn')
