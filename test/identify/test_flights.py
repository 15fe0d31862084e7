# SPDX-License-Identifier: Apache-2.0
"""Flights with known parameters: which model is chosen, and that what is wrong is named."""
from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from parts import few_of
from propulsion_ros.identify.candidates import Candidates, Ticks
from propulsion_ros.identify.prepare import prepared
from propulsion_ros.identify.reading import Recording, Series
from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Session
from propulsion_ros.models.rotors.rotors import Rotors
from propulsion_ros.settings.errors import ConfigError

EXAMPLE = Path(__file__).resolve().parents[2] / 'examples/crazyflie'
FIT = ['rotors.time_constant_up', 'rotors.thrust_curve']
COLUMNS = ['stamp', *(f'{what}_{axis}' for what in ('accel', 'gyro') for axis in 'xyz'),
           'm1', 'm2', 'm3', 'm4']
DT, SECONDS, LAG = 0.004, 8.0, 0.06


def robot():
    return read_robot(EXAMPLE / 'crazyflie.urdf.xacro', [EXAMPLE / 'crazyflie.yaml'], FIT)


@pytest.fixture(scope='module')
def flight():
    """Return a simulated flight as columns by name: all rotors follow random steps."""
    rng = np.random.default_rng(3)
    time = np.arange(0.0, SECONDS, DT)
    level = rng.uniform(0.4, 0.85, 100)[np.searchsorted(np.cumsum(rng.uniform(0.1, 0.6, 99)), time)]
    command = np.clip(level[:, None] + rng.normal(0.0, 0.03, (len(time), 4)), 0.0, 1.0)
    values = {
        **robot().values, 'time_constant_up': LAG, 'time_constant_down': LAG,
        'thrust_curve': ['0.01 0 2.4e-8'],
    }
    wrench = Candidates(Rotors, values).run([{}], Ticks(DT, command)).wrench[0]
    # A step gives its mean; a sensor measures at a stamp, between two steps.
    at_stamp = 0.5 * (wrench + np.vstack((wrench[:1], wrench[:-1])))
    columns = {name: np.zeros(len(time)) for name in COLUMNS}
    columns['stamp'] = 100.0 + time
    columns['accel_z'] = at_stamp[:, 2] / 0.027 + rng.normal(0.0, 0.1, len(time))
    columns |= {f'm{i + 1}': command[:, i] for i in range(4)}
    for axis, moment in zip('xyz', (1.03e-5, 1.11e-5, 1.95e-5), strict=True):
        turn = np.cumsum(at_stamp[:, 3 + 'xyz'.index(axis)]) * DT / moment
        columns[f'gyro_{axis}'] = turn + rng.normal(0.0, 0.01, len(time))
    return columns


def written(path, columns):
    rows = np.stack([columns[name] for name in COLUMNS], axis=1)
    lines = [','.join(COLUMNS), *(','.join(f'{cell:.6f}' for cell in row) for row in rows)]
    opened = gzip.open if path.suffix == '.gz' else open
    with opened(path, 'wt') as file:
        file.write('\n'.join(lines) + '\n')
    return path


def report_of(path, fit=FIT, **more):
    return Session(robot(), Request(path, fit, 'imu', **more)).run().report


def named(report, text):
    return any(text in line for line in report['warnings'])


def test_a_good_flight_has_no_doubts_but_that_of_its_offset(flight, tmp_path):
    report = report_of(written(tmp_path / 'a.csv.gz', flight))
    estimate = report['estimates']['rotors.time_constant_up']
    assert estimate['value'] == pytest.approx(LAG, abs=3 * estimate['sd'])
    assert len(report['warnings']) == 2
    assert named(report, 'no rest in the recording')
    assert named(report, 'one lag: time_constant_down follows')
    assert report['rms'] == pytest.approx(0.0027, rel=0.05)
    assert report['whiteness']['thrust.z']['largest_autocorrelation'] < 0.1
    assert report['cross_validation_rms'] == pytest.approx(report['rms'], rel=0.05)


@pytest.mark.parametrize(('name', 'factor', 'words'), [
    ('accel_z', 1.0 / 9.80665, r'looks like g: .*; give identify: factors.accel_x: 9\.80665, '),
    ('accel_z', 100.0, r'is it in mg, cm/s\^2 or mm/s\^2\?; give identify: factors.accel_x: 0\.01'),
    ('gyro_x', 57.3, r'looks like degrees/s: .*; give identify: factors.gyro_x: 0\.0174533, '),
])
def test_g_and_degrees_are_refused(flight, tmp_path, name, factor, words):
    with pytest.raises(ConfigError, match=words):
        report_of(written(tmp_path / 'a.csv', {**flight, name: flight[name] * factor}))


def test_stamps_that_fall_are_why_nothing_is_left(flight, tmp_path):
    with pytest.raises(ConfigError, match=r'expected stamps in seconds that rise; \d+ rows are no'):
        report_of(written(tmp_path / 'a.csv', {**flight, 'stamp': -flight['stamp']}))


def test_what_is_wrong_with_the_input_is_known_before_the_fit(flight, tmp_path):
    began, path = [], written(tmp_path / 'a.csv', flight)
    Session(robot(), Request(path, FIT, 'imu'), began.append, began.append).run()
    assert 'no rest' in ' '.join(began[:began.index('fit: starts')])


def test_what_a_command_without_change_does_not_show_is_named_and_written_as_it_was(
    flight, tmp_path
):
    """A number that the data do not show would look like a result in a parameter file."""
    columns = {**flight, **{f'm{i}': np.full(len(flight['m1']), 0.6) for i in (1, 2, 3, 4)}}
    log, path = written(tmp_path / 'a.csv', columns), tmp_path / 'fitted.yaml'
    session = Session(robot(), Request(log, ['rotors.time_constant_up'], 'imu'))
    result = session.run()
    assert named(
        result.report, 'no excitation: the command of m1, m2, m3, m4 does not change'
    )
    assert 'steps of the command' in result.report['unidentified']['rotors.time_constant_up']
    assert result.fit.values[0] != pytest.approx(0.05, rel=1e-3)
    session.write(path, result)
    assert '# rotors.time_constant_up: not identified.' in path.read_text()
    again = read_robot(EXAMPLE / 'crazyflie.urdf.xacro', [path], FIT)
    np.testing.assert_array_equal(again.values['time_constant_up'], [0.05] * 4)


def test_swapped_motors_are_named(flight, tmp_path):
    columns = {**flight, 'm1': flight['m3'], 'm3': flight['m1']}
    report = report_of(written(tmp_path / 'a.csv', columns))
    assert named(report, 'swapped? the body turns as if m1 as m3, m3 as m1')


def test_the_largest_of_many_steps_is_not_clipped():
    time = np.arange(0.0, 30.0, 0.01)
    steps = np.random.default_rng(1).uniform(0.1, 1.0, 30)[time.astype(int)]
    clipped = np.minimum(steps, 0.8)
    # A bench goes to full speed by design.
    for command, measured, is_clipped in (
        (steps, 'state.m.velocity', False), (clipped, 'state.m.velocity', True),
        (clipped, 'wrench.force.z', False),
    ):
        series = Series(time, command)
        recording = Recording('bench', 0.0, {'m': series}, {measured: series})
        _, found = prepared(recording, measured.split('.')[0], (None, None), np.nan)
        assert any('clipped' in line for line in found) == is_clipped


@pytest.mark.parametrize(('shift', 'words'), few_of([
    (0.05, 'follows its command by |commands and sensor: --fit-delay'),
    (0.02, 'follows its command by |commands and sensor: --fit-delay'),
    (-0.05, 'leads its command by |no delay is fitted below 0: --delay -0.0'),
], 3))
def test_a_clock_offset_is_named(shift, words, flight, tmp_path):
    rows = round(abs(shift) / DT)
    columns = dict(flight)
    for name in COLUMNS[1:7]:
        columns[name] = np.roll(flight[name], rows if shift > 0 else -rows)
    cut = {name: values[rows:-rows] for name, values in columns.items()}
    path = written(tmp_path / 'a.csv', cut)
    report = report_of(path)
    begin, _, end = words.partition('|')
    line = next(line for line in report['warnings'] if begin in line)
    assert end in line
    assert float(line.partition(begin)[2].split()[0]) == pytest.approx(1e3 * abs(shift), abs=4.0)
    assert not any('is the form of the model right' in line for line in report['warnings'])
    if shift < 0.0:
        # No delay that is fitted takes it out, the one that is named does.
        with_delay = report_of(path, fit_delay=True)['warnings']
        assert any(begin in line for line in with_delay)
        unknown = next(line for line in with_delay if line.startswith('delay: not identified'))
        assert len(unknown) < 150
        named_delay = float(line.rpartition('--delay ')[2])
        assert not any(begin in line for line in report_of(path, delay=named_delay)['warnings'])


def test_a_yaw_of_the_wrong_sign_is_named(flight, tmp_path):
    path = written(tmp_path / 'a.csv', {**flight, 'gyro_z': -flight['gyro_z']})
    report = report_of(path, [*FIT, 'rotors.moment_constant'])
    assert named(report, 'the fit; is its sign wrong, or each direction?')
    assert 'steps in yaw' not in str(report['warnings'])


def test_a_specific_force_without_gravity_is_refused(flight, tmp_path):
    accel = flight['accel_z'] - flight['accel_z'].mean()
    accel *= 0.8 / np.median(np.abs(accel))
    with pytest.raises(ConfigError, match='gravity is taken away; give the specific force'):
        report_of(written(tmp_path / 'a.csv', {**flight, 'accel_z': accel}))


def test_nan_and_gaps_are_named_and_left_out(flight, tmp_path):
    columns = {name: values.copy() for name, values in flight.items()}
    columns['accel_z'][500:510] = np.nan
    # Their squares overflow, which ended in a traceback.
    columns['accel_z'][510:520] = 1e300
    keep = np.ones(len(columns['stamp']), bool)
    keep[1000:1100] = False
    report = report_of(written(tmp_path / 'a.csv', {
        name: values[keep] for name, values in columns.items()
    }))
    assert named(
        report, 'accel_z: 20 of 1900 values are NaN, missing or beyond 1e+12, the first at 102.0'
    )
    assert named(report, 'a gap of 0.404 s')
    estimate = report['estimates']['rotors.time_constant_up']
    assert estimate['value'] == pytest.approx(LAG, abs=3 * estimate['sd'])


def test_a_rest_gives_the_offset_of_the_gyroscope_and_clipped_commands_are_named(flight, tmp_path):
    columns = {name: np.concatenate((np.zeros(1000), values)) for name, values in flight.items()}
    columns['stamp'] = 100.0 + DT * np.arange(len(columns['stamp']))
    columns['accel_z'][:1000] = 9.18
    columns['gyro_z'] += 0.3
    columns['m2'] = np.minimum(columns['m2'], 0.7)
    report = report_of(written(tmp_path / 'a.csv', columns))
    assert named(report, 'command of m2:')
    assert named(report, 'its largest: clipped')
    assert named(report, 'motors stopped, on the ground: left out from 100.00 to 105.0')
    assert named(report, 'at rest its size is 9.180 m/s^2, expected 9.807')


@pytest.mark.parametrize(('fit', 'problem'), [
    (['rotors.time_constants_up'], "did you mean 'time_constant_up'"),
    (['rotor.time_constant_up'], '^--fit: no plugin block'),
    (['body.izzz'], "did you mean 'izz'"),
    (['rotors.command_interface'], 'is no number'),
    (['rotors.motor_constant[7]'], 'there are 4 values'),
    ([], 'expected parameters'),
])
def test_what_cannot_be_fitted_is_refused(fit, problem, flight, tmp_path):
    path = written(tmp_path / 'a.csv', {name: values[:50] for name, values in flight.items()})
    with pytest.raises(ConfigError, match=problem):
        Session(
            read_robot(EXAMPLE / 'crazyflie.urdf.xacro', [EXAMPLE / 'crazyflie.yaml'], fit),
            Request(path, fit, 'imu'),
        ).run()


def test_a_table_without_commands_is_refused(flight, tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('stamp,accel_z\n0,9.8\n1,9.8\n')
    with pytest.raises(ConfigError, match="expected a column 'm1', as columns has it"):
        report_of(path)


@pytest.mark.slow
def test_the_simplest_model_that_predicts_as_well_is_recommended(flight, tmp_path):
    report = report_of(written(tmp_path / 'a.csv', flight), choose=True)
    models = report['models']
    # The flight has one lag and a curve with an offset: more numbers fit it no better.
    assert models['recommended'] == 'one lag, quadratic'
    errors = {name: each['cross_validation_rms'] for name, each in models['variants'].items()}
    assert len(errors) == 9
    assert errors['no lag, quadratic'] > 2 * errors['one lag, quadratic']
    assert errors['one lag, k w^2'] > 1.1 * errors['one lag, quadratic']
    two = models['variants']['two lags, quadratic']
    assert two['rms'] <= models['variants']['one lag, quadratic']['rms'] * 1.001
