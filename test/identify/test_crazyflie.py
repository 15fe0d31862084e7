# SPDX-License-Identifier: Apache-2.0
"""The example fits flight data of a Crazyflie; published numbers are the reference."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Session

# `make test` finds the parameters of benches, `test_truth.py`.
pytestmark = pytest.mark.slow
EXAMPLE = Path(__file__).resolve().parents[2] / 'examples/crazyflie'
LAG_AND_CURVE = ['rotors.time_constant_up', 'rotors.thrust_curve']
YAW_SPANS = ((32.0, 38.0), (45.0, 49.0))


def session(request, *fitted):
    files = [EXAMPLE / 'crazyflie.yaml', *fitted]
    robot = read_robot(EXAMPLE / 'crazyflie.urdf.xacro', files, request.fit)
    return Session(robot, request)


@pytest.fixture(scope='module')
def folder(identification_data):
    return identification_data


@pytest.fixture(scope='module')
def thrust(folder, tmp_path_factory):
    """Return the result of the first command of the page, and the file that it writes."""
    yaw = folder / 'crazyflie_yaw.csv.gz'
    request = Request(
        folder / 'crazyflie_thrust.csv.gz', LAG_AND_CURVE, 'imu', (35.0, 65.0),
        [(yaw, span) for span in YAW_SPANS],
    )
    run = session(request)
    result = run.run()
    path = tmp_path_factory.mktemp('crazyflie') / 'fitted.yaml'
    run.write(path, result)
    return result.report, path


def test_the_lag_and_the_curve_are_those_that_were_published(thrust):
    report, _ = thrust
    assert report['estimates']['rotors.time_constant_up']['value'] == pytest.approx(
        0.072, abs=0.004
    )
    assert report['rms'] <= 0.0135
    assert report['unit'] == 'N'
    curve = report['curves']['rotors.thrust_curve']['coefficients']
    # A fit of the same seconds by others, which moves by its own standard deviations.
    x = np.linspace(0.3, 0.8, 6)
    np.testing.assert_allclose(
        np.polyval(curve[::-1], x), 0.0225 - 0.0113 * x + 0.1282 * x**2, atol=5e-4
    )
    assert 4 * np.polyval(curve[::-1], 0.62) == pytest.approx(0.027 * 9.81, rel=0.1)


def test_other_flights_are_predicted(thrust):
    report, _ = thrust
    assert report['check_rms'] <= 0.020
    assert [each['rms'] <= 0.020 for each in report['checks']] == [True, True]
    assert any('motors stopped, on the ground' in line for line in report['warnings'])
    assert not any('swapped' in line for line in report['warnings'])


def test_a_delay_takes_the_place_of_lag(thrust):
    report, _ = thrust
    lags = {round(row['delay'], 3): row for row in report['delays']}
    found = [lags[delay]['rotors.time_constant_up'] for delay in (0.0, 0.01, 0.02)]
    assert found == pytest.approx([0.072, 0.064, 0.056], abs=0.004)


def test_rise_and_fall_apart_predict_better(folder):
    names = ['rotors.time_constant_up', 'rotors.time_constant_down', 'rotors.thrust_curve']
    request = Request(folder / 'crazyflie_thrust.csv.gz', names, 'imu', (35.0, 65.0))
    report = session(request).run().report
    assert report['rms'] <= 0.0126
    up, down = (report['estimates'][name]['value'] for name in names[:2])
    assert up == pytest.approx(0.07, abs=0.01)
    assert down == pytest.approx(0.10, abs=0.01)


def test_a_torque_ratio_needs_the_moment_of_inertia(thrust, folder):
    _, fitted = thrust
    yaw = folder / 'crazyflie_yaw.csv.gz'
    both = session(Request(yaw, ['rotors.moment_constant', 'body.izz'], 'imu'), fitted).run()
    assert set(both.report['unidentified']) == {'rotors.moment_constant', 'body.izz'}
    assert 'only together with body.izz' in both.report['unidentified']['rotors.moment_constant']
    assert both.report['estimates']['body.izz']['value'] is None
    ratio = session(Request(yaw, ['rotors.moment_constant'], 'imu'), fitted).run().report
    found = ratio['estimates']['rotors.moment_constant']
    assert found['value'] == pytest.approx(0.00596, abs=3 * found['sd'])
    assert not ratio['unidentified']


@pytest.mark.parametrize('name', ['crazyflie_thrust', 'crazyflie_yaw'])
def test_what_is_too_little_excited_is_named(name, thrust, folder):
    _, fitted = thrust
    request = Request(folder / f'{name}.csv.gz', ['body.ixx', 'body.iyy'], 'imu')
    report = session(request, fitted).run().report
    assert set(report['unidentified']) == {'body.ixx', 'body.iyy'}
    assert 'doublets in roll' in report['unidentified']['body.ixx']
