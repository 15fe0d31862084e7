# SPDX-License-Identifier: Apache-2.0
"""Parameters from logs of PX4, of a simulated flight whose lag and thrust are known."""
from __future__ import annotations

import json

import pytest

pytest.importorskip('rosbags')
pytest.importorskip('pyulog')

from ulog_flights import MAP, flown, messages_of, robot, ulog, written

from propulsion_ros.tools.cli import main

FIT = 'rotors.time_constant_up,rotors.max_thrust'
LAG = 0.07


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('px4')


@pytest.fixture(scope='module')
def log(folder):
    return written(folder / 'log.ulg', flown(folder, LAG))


@pytest.fixture
def identify(capsys, folder):
    """Run the command on a log of a robot with a wrong lag; return its code and what it prints."""
    def run(log, *more, motors=MAP, fit=FIT):
        model, params = robot(folder, 0.03)
        words = ['--map', motors] if motors else []
        code = main(['identify', str(log), *words, '--model', str(model), '--params-file',
                     str(params), '--fit', fit, *more])
        return code, capsys.readouterr()
    return run


@pytest.fixture
def fitted(identify):
    """Return the report of a fit."""
    def run(log, *more, **given):
        code, printed = identify(log, *more, **given)
        assert code == 0, printed.err
        return json.loads(printed.out)
    return run


def test_lag_and_hover_are_fitted_and_predict_another_part(fitted, log):
    report = fitted(log, '--to', '24', '--check', f'{log}:24:36')
    lag = report['estimates']['rotors.time_constant_up']
    thrust = report['estimates']['rotors.max_thrust']
    assert lag['sd'] < 0.003
    assert abs(lag['value'] - LAG) < 3 * lag['sd'] + 0.0005
    # The throttle of a hover is the weight over the largest thrust of all rotors.
    hover = 1.5 * 9.80665 / (4.0 * thrust['value'])
    assert hover == pytest.approx(1.5 * 9.80665 / (4.0 * 7.4), rel=0.002)
    assert thrust['sd'] / thrust['value'] < 0.002
    assert report['unidentified'] == {}
    assert report['check_rms'] == pytest.approx(report['rms'], rel=0.1)
    assert report['cross_validation_rms'] == pytest.approx(report['rms'], rel=0.05)


def test_speeds_of_escs_are_states(fitted, log):
    report = fitted(log, '--measured', 'state', fit='rotors.time_constant_up')
    lag = report['estimates']['rotors.time_constant_up']
    assert lag['value'] == pytest.approx(LAG, abs=0.004)


def test_a_steady_hover_shows_the_thrust_and_names_the_lag_as_unknown(fitted, folder):
    flight = flown(folder, LAG, seconds=16.0, punches=False)
    # As PX4 logs motors by default.
    log = written(folder / 'hover.ulg', flight, every=25)
    report = fitted(log)
    assert list(report['unidentified']) == ['rotors.time_constant_up']
    assert 'steps of the command up and down' in report['unidentified']['rotors.time_constant_up']
    thrust = report['estimates']['rotors.max_thrust']
    assert thrust['value'] == pytest.approx(7.4, rel=0.003)


def test_a_log_without_the_map_has_no_commands_of_the_robot(identify, log):
    code, printed = identify(log, motors='')
    assert code == 1
    assert 'log.ulg' in printed.err


@pytest.mark.parametrize(('given', 'line'), [
    pytest.param(MAP.replace('rotors/front', 'rotors/font', 1), "did you mean 'front_", id='name'),
    pytest.param('motor_1=rotors/rear_left,motor_2=rotors/rear_left',
                 'motor_1 and motor_2 are both rear_left', id='twice'),
])
def test_a_wrong_map_is_refused(given, line, identify, log):
    """A rotor without its motor took none of the weight, and the others all of it."""
    code, printed = identify(log, motors=given)
    assert code == 1
    assert line in printed.err


def test_motors_that_are_not_named_are_in_the_report(fitted, log):
    given, _, last = MAP.rpartition(',')
    lacking = last.rpartition('/')[2]
    assert f'no command of {lacking} was recorded: taken as none; is one misspelt?' in fitted(
        log, motors=given, fit='rotors.max_thrust'
    )['warnings']


def test_a_log_of_sensors_alone_is_refused(identify, folder):
    path = folder / 'sensors.ulg'
    path.write_bytes(ulog({
        key: rows for key, rows in messages_of(flown(folder, seconds=3.0)).items()
        if 'actuator' not in key[0]
    }))
    code, printed = identify(path)
    assert code == 1
    assert '--map: has no motor_1, motor_2, motor_3, motor_4; has none' in printed.err
