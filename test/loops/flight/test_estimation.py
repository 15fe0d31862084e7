# SPDX-License-Identifier: Apache-2.0
"""Which measurements of raw sensors the estimator is given, by their stamps."""
import math

import pytest

from fake_host import FakeHost, message
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting, MountingParams
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.loops.decoders import stamp_to_ns
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


def estimation_of(host, estimator):
    """Return a loop that takes each message by its own stamp."""
    return FlightEstimation(
        host, estimator, EstimationParams(), 'map', False, lambda state: None,
        lambda source, message, read: stamp_to_ns(message.header.stamp), False,
    )


def taken(*measurements):
    """Deliver (sensor, stamp [s]), and return which were taken, one letter each, and the host."""
    host = FakeHost()
    estimator = Estimator(EstimatorParams(), Mounting(MountingParams()))
    estimation = estimation_of(host, estimator)
    takes = {port.topic.removeprefix('~/'): port.take for port in estimation.ports}
    found = ''
    for sensor, seconds in measurements:
        refused = host.counts['other_time']
        takes[sensor](message(round(seconds * S), **FIELDS[sensor]))
        found += 'n' if host.counts['other_time'] > refused else 'y'
    return found, host


@pytest.mark.parametrize(('measurements', 'expected'), [
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
])
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


def speed_by(*fixes):
    """Return the speed that is read after fixes of (time [s], altitude [m])."""
    host = FakeHost()
    estimation = estimation_of(host, Estimator(EstimatorParams(), Mounting(MountingParams())))
    take = {port.topic: port.take for port in estimation.ports}['~/fix']
    for seconds, altitude in [*fixes, (fixes[-1][0] + 1.0, math.nan)]:
        take(message(
            round(seconds * S), status={'status': 0}, latitude=47.0, longitude=11.0,
            altitude=altitude, position_covariance=[0.0] * 9,
        ))
    speed = estimation.readings().speed
    assert math.isnan(estimation.readings().speed), 'each is read once'
    return speed


@pytest.mark.parametrize('rate', [1.0, 5.0, 10.0])
@pytest.mark.parametrize(('speed', 'acceleration'), [
    pytest.param(0.01, 0.0, id='rest'), pytest.param(-20.0, 0.0, id='steady'),
    pytest.param(5.0, -9.81, id='falls'),
])
def test_fixes_show_how_fast_it_rises(rate, speed, acceleration):
    """A receiver was no witness beside a barometer that had died."""
    times = [i / rate for i in range(round(10.0 * rate) + 1)]
    fixes = [(5.0 + t, 120.0 + speed * t + 0.5 * acceleration * t * t) for t in times]
    expected = speed + acceleration * 10.0
    assert speed_by(*fixes) == pytest.approx(expected, abs=0.5 * abs(acceleration) + 1e-6)


def test_fixes_that_are_published_again_are_no_rest():
    assert speed_by(*((5.0 + 0.2 * i, 120.0 + 100.0 * (i // 5)) for i in range(14))) == 100.0


@pytest.mark.parametrize('fixes', [
    pytest.param([(5.0, 120.0)], id='one'), pytest.param([(5.0, 120.0), (6.0, 120.0)], id='stuck'),
    pytest.param([(5.0, 120.0), (4.0, 110.0)], id='set back'),
    pytest.param([(5.0, 120.0), (9.0, 160.0)], id='after a gap'),
    pytest.param([(5.0, 120.0), (5.1, 160.0)], id='too near'),
    pytest.param([(5.0, math.nan), (6.0, math.nan)], id='without altitude'),
])
def test_few_fixes_show_no_speed(fixes):
    assert math.isnan(speed_by(*fixes))
