# SPDX-License-Identifier: Apache-2.0
"""The examples of benches give what their page has."""
from __future__ import annotations

import dataclasses
import json
import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.identify.candidates import Candidates
from propulsion_ros.identify.problem import Problem
from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Session
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.tools import cli

ROOT = Path(__file__).resolve().parents[2]
WHOLE = (ROOT / 'docs' / 'identify.md').read_text()
PAGE = WHOLE.partition('## A thrust bench')[2]
IN_KGF = 'factors.Thrust (kgf): 9.80665'
SCALE = WHOLE.partition("## An ROV's thruster on a scale")[2]


def words_of(page):
    """Return the first command of a part of the page, without what it writes."""
    return page.partition('propulsion_ros ')[2].partition(' --output')[0].replace('\\', '').split()


@pytest.mark.slow
def test_the_page_has_what_the_example_gives(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / 'examples' / 'thrust_bench', tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    runpy.run_path('record.py', run_name='__main__')
    recorded = Path('bench.csv').read_text()
    for rows in PAGE.partition('```text\n')[2].partition('```')[0].split('...\n'):
        assert rows in recorded
    assert cli.main([*words_of(PAGE), '--output', 'fitted.yaml']) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report['warnings'] == []
    assert f'{report["rms_before"]:.3f} to {report["rms"]:.3f} N' in PAGE.replace('\n', ' ')
    assert f'left out it is {report["cross_validation_rms"]:.3f} N' in PAGE
    Path('page.yaml').write_text(PAGE.partition('```yaml\n')[2].partition('```')[0])
    on_page, fitted = (
        ParameterFile(Path(f'{name}.yaml')).of('rotors') for name in ('page', 'fitted')
    )
    assert on_page.keys() == fitted.keys()
    for key, value in fitted.items():
        numbers = [[float(word) for word in str(each[0]).split()] for each in (value, on_page[key])]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-4)
    for each, (scale, digits) in zip(
        report['estimates'].values(), ((1, 4), (1, 4), (1, 3), (1e4, 2), (1e5, 3)), strict=True
    ):
        assert f'{scale * each["value"]:.{digits}f}' in PAGE
        assert f'± {scale * each["sd"]:.{digits}f}' in PAGE


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """A bench's own table: pulses in us, kgf, and names with blanks; return its settings."""
    shutil.copytree(ROOT / 'examples' / 'thrust_bench', tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    speed, rows = 0.0, ['Time (ms),ESC signal (µs),Thrust (kgf)']
    for k, throttle in enumerate(np.repeat([0.0, 0.8, 0.3, 0.6, 0.2, 0.9, 0.0], 60)):
        rows.append(f'{10.0 * k:.0f},{1000.0 + 1000.0 * throttle},{0.8 * speed**2:.6f}')
        speed += (1.0 - np.exp(-0.01 / 0.07)) * (throttle - speed)
    Path('foreign.csv').write_text('\n'.join(rows))
    return {
        'columns.Time (ms)': 'stamp', 'columns.ESC signal (µs)': 'motor',
        'columns.Thrust (kgf)': 'wrench.force.z', 'factors.Time (ms)': 0.001,
        'zeros.ESC signal (µs)': 1000.0, 'factors.ESC signal (µs)': 0.001,
        'factors.Thrust (kgf)': 9.80665,
    }


def rewrite(change, *names):
    """Write the foreign table with other numbers, and columns of these names behind its own."""
    header = ','.join([Path('foreign.csv').read_text().partition('\n')[0], *names])
    table = change(np.loadtxt('foreign.csv', delimiter=',', skiprows=1))
    np.savetxt('foreign.csv', table, '%.5f', ',', header=header, comments='', encoding='utf-8')


def blocked(settings):
    lines = ''.join(f'    {key}: {value}\n' for key, value in settings.items())
    return f'/**/identify:\n  ros__parameters:\n{lines}'


def identified(
    settings, *more, fit=('time_constant_up', 'thrust_curve'), output='', measured='wrench'
):
    Path('foreign.yaml').write_text(blocked(settings))
    return cli.main([
        'identify', 'foreign.csv', '--model', 'bench.urdf', '--params-file', 'foreign.yaml',
        '--measured', measured, '--fit',
        ','.join(f'rotors.{name}' for name in (*fit, *more)),
        *(['--output', output] if output else []),
    ])


def test_a_table_in_other_units_is_read(foreign, capsys):
    assert identified(foreign) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['estimates']['rotors.time_constant_up']['value'] == pytest.approx(0.065, abs=0.01)
    coefficients = report['curves']['rotors.thrust_curve']['coefficients']
    assert coefficients[2] == pytest.approx(0.8 * 9.80665, rel=0.02)


@pytest.mark.parametrize('fit', ['thrust_curve', 'thrust_curve,time_constant_down', 'esc_curve'])
def test_before_is_what_the_files_have(foreign, fit, capsys):
    """Of a curve it was max_thrust over the square of the largest speed, which was in no file."""
    text = Path('bench.urdf').read_text()
    text = text.replace('1.56e-5', '9e-6').replace('_up>0.05<', '_up>0<')
    if fit == 'esc_curve':
        text = text.replace('<esc_gives>speed</esc_gives>', '').replace(
            '<esc_curve>0 800</esc_curve>', '')
    Path('bench.urdf').write_text(text)
    errors, tables = [], []
    for names in ([], fit.split(',')):
        identified(foreign, 'time_constant_up', *names, fit=())
        printed = capsys.readouterr()
        errors.append(json.loads(printed.out)['rms_before'])
        tables.append(printed.err)
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)
    curve = [line.split()[3] for line in tables[1].splitlines() if '_curve[' in line]
    assert curve[:3] == (['0', '10', '0'] if fit == 'esc_curve' else ['0', '0', '9e-06'])


@pytest.mark.parametrize(('key', 'value', 'problem'), [
    ('columns.Time (ms)', None, 'another name is given in the parameter file'),
    ('factors.ESC signal (µs)', None, 'up to 900, expected a throttle from 0 to 1; seen are 1000 '
     'to 1900; if 1000 is 0 and 2000 is 1, give identify: zeros.ESC signal (µs): 1000 and '
     'factors.ESC signal (µs): 0.001'),
    ('zeros.ESC signal (µs)', 1900.0, 'down to -0.9, expected a throttle from 0 to 1; seen are'),
    ('zeros.ESC signal (µs)', None, 'command of motor: from 1 to 1.9, expected a throttle from 0 '
     'to 1; give identify: zeros.ESC signal (µs): 1000'),
    ('factors.ESC signal (µs)', 0.0012, 'up to 2.28, expected a throttle from 0 to 1; if 1000 is 0 '
     'and 1900 is 1, give identify: zeros.ESC signal (µs): 1000 and'),
    ('factors.Time (ms)', None, 'samples are 10 s apart over 4190 s, expected stamps in seconds; '
     'of ms give identify: factors.Time (ms): 0.001, of us 1.0e-6, of ns 1.0e-9'),
    ('factors.Time (ms)', 0.999, 'factors.Time (ms) is 0.999, where ms have 0.001, us 1.0e-6'),
    ('factors.Time (ms)', 1e10, 'Time (ms): expected a finite time in seconds, got 10; '
     'factors.Time (ms) is 1e+10, where ms have 0.001, us 1.0e-6, ns 1.0e-9'),
    ('factors.ESC signal', 0.001, "is no column of the table, did you mean 'ESC signal (µs)'"),
    ('zeros.Thrust (kgf)', 'none', "expected a number, got 'none'"),
])
def test_what_is_wrong_with_a_table_in_other_units_is_named(foreign, key, value, problem, capsys):
    given = {**foreign, key: value}
    if value == 0.0012:
        del given['zeros.ESC signal (µs)']
    assert identified({key: value for key, value in given.items() if value is not None}) == 1
    assert problem in capsys.readouterr().err


def test_stamps_in_ms_since_1970_are_read_as_others(foreign, capsys):
    reports = []
    for begin in (0.0, 1.7e12):
        rewrite(lambda table, begin=begin: table + np.array([begin, 0.0, 0.0]))
        assert identified(foreign) == 0
        reports.append(json.loads(capsys.readouterr().out)['estimates'])
    assert reports[1]['rotors.time_constant_up']['value'] == pytest.approx(
        reports[0]['rotors.time_constant_up']['value'], rel=1e-3)


@pytest.mark.parametrize(('factor', 'newtons', 'line'), [
    (9.80665, False, ''), (6.0, False, ''), (1.0, True, ''),
    (-9.80665, False, f'is its sign wrong? {IN_KGF}'),
    *((factor, False, f'is it in kgf? {IN_KGF}') for factor in (1.0, 9806.65, 100.0, None)),
    (9.80665, True, 'is it in N? factors.Thrust (kgf): 1'),
])
def test_a_thrust_of_another_unit_or_sign_is_named(foreign, factor, newtons, line, capsys):
    """A tenth of the thrust was "known", and of a wrong sign "too little excited"."""
    if newtons:
        rewrite(lambda table: table * [1.0, 1.0, 9.80665])
    settings = {**foreign, 'factors.Thrust (kgf)': factor}
    identified({key: each for key, each in settings.items() if each is not None})
    warnings = json.loads(capsys.readouterr().out)['warnings']
    found = [each for each in warnings if 'times what the model makes of the commands' in each]
    assert [each.rpartition('; ')[2] for each in found] == [line] * bool(line)
    # Sweeps show no more of a number in another unit.
    assert not (line and any('would show it' in each for each in warnings))
    assert not (line and any('correlated by' in each for each in warnings))


def test_a_load_cell_that_was_not_at_0_is_named(foreign, capsys):
    """The curve had it at rest, without a word."""
    rng = np.random.default_rng(1)
    rewrite(lambda table: table + [0.0, 0.0, 1.0] * rng.normal(0.15, 0.005, (len(table), 1)))
    tares = []
    for zero in ('0.0', '0.15'):
        assert identified({**foreign, 'zeros.Thrust (kgf)': zero}) == 0
        tares.append([each for each in json.loads(capsys.readouterr().out)['warnings']
                      if 'is that the tare' in each])
    (line,), none = tares
    assert not none
    assert line.startswith('wrench.force.z is 1.4')
    assert 'is that the tare? zeros.Thrust (kgf): 0.1' in line


@pytest.mark.parametrize(('tare', 'count'), [(0.006, 1), (0.0, 0)])
def test_a_small_tare_that_moves_a_constant_is_named(foreign, tare, count, capsys):
    """One of a hundredth of the thrust made a constant "known" that was 1.5 % off."""
    rng = np.random.default_rng(1)
    rewrite(lambda table: table + [0.0, 0.0, 1.0] * rng.normal(tare, 0.005, (len(table), 1)))
    assert identified(foreign, fit=('time_constant_up', 'motor_constant')) == 0
    warnings = json.loads(capsys.readouterr().out)['warnings']
    found = [each for each in warnings if 'is that the tare' in each]
    assert ['rotors.motor_constant by more' in each for each in found] == [True] * count


def spiked(table):
    table[200:203, 2] = 99.0
    return table


def test_a_few_forces_far_above_all_others_are_named_and_left_out(foreign, capsys):
    """They were taken for noise, and hid the thrust from the fit."""
    assert identified(foreign) == 0
    right = json.loads(capsys.readouterr().out)['estimates']
    rewrite(spiked)
    assert identified(foreign) == 0
    report = json.loads(capsys.readouterr().out)
    (line,) = [each for each in report['warnings'] if 'values are above' in each]
    assert re.search(r'^wrench\.force\.z: 3 of \d+ values are above .* N, 5 times what', line)
    assert line.endswith('the first at 2.000 s: left out')
    for name, each in report['estimates'].items():
        assert each['value'] == pytest.approx(right[name]['value'], abs=3 * each['sd'])


@pytest.mark.parametrize(('change', 'code', 'line'), [
    (lambda table: table * [1.0, 1.0, 1e3, 1.0], 1, 'is it in gf? factors.Thrust (kgf): 0.0098'),
    (lambda table: np.add(table, [0.0, 0.0, 0.1, 0.0]), 0,
     'is that the tare? zeros.Thrust (kgf): 0.1'),
    (lambda table: table * [1.0, 1.0, 3.0, 1.0], 0, 'above max_thrust of 10 N of motor'),
    (lambda table: table * [1.0, 1.0, 1.0, 7.0], 0, 'in electrical rad/s of 7 pole pairs? '
     'factors.rpm: 0.01496'),
])
def test_thrusts_and_speeds_in_another_unit_are_named(change, code, line, foreign, capsys):
    rng = np.random.default_rng(1)
    rewrite(lambda table: change(np.column_stack((
        table[:, :2], table[:, 2] + rng.normal(0.0, 0.005, len(table)),
        800.0 / 0.10472 * np.sqrt(table[:, 2] / 0.8),
    ))), 'rpm')
    assert identified({
        **foreign, 'columns.Thrust (kgf)': 'state.motor.effort', 'factors.rpm': 0.10472,
        'columns.rpm': 'state.motor.velocity',
    }, fit=('time_constant_up', 'motor_constant', 'esc_curve'), measured='state',
        output='fitted.yaml') == code
    assert any(line in each for each in json.loads(capsys.readouterr().out)['warnings'])
    assert Path('fitted.yaml').exists() == (code == 0)


def test_a_curve_beyond_the_throttles_of_the_log_is_named(foreign, capsys):
    for factor, said in ((0.001 / 0.9, 0), (0.001, 1)):
        assert identified({**foreign, 'factors.ESC signal (µs)': factor}, 'esc_curve') == 0
        warnings = json.loads(capsys.readouterr().out)['warnings']
        line = 'commands span 0 to 0.9: beyond them esc_curve is extrapolated'
        assert warnings.count(line) == said


def test_a_thrust_along_another_axis_is_named(foreign, capsys):
    assert identified({**foreign, 'columns.Thrust (kgf)': 'wrench.force.x'}) == 1
    assert json.loads(capsys.readouterr().out)['warnings'][0] == (
        'the commands make nothing of what was measured, wrench.force.x; is its axis wrong?'
    )


def settled(apart):
    """Write a table of settled rows: throttle, and the thrust of a motor that has not 10 N."""
    text = Path('bench.urdf').read_text().replace('<esc_gives>speed', '<esc_gives>thrust')
    Path('bench.urdf').write_text(text.replace('0 800<', '0 4 6<'))
    throttle = np.linspace(0.0, 1.0, 11)
    rows = np.column_stack((apart * np.arange(11.0), throttle, 2.0 * throttle + 5.0 * throttle**2))
    np.savetxt('foreign.csv', rows, '%.4f', ',', header='stamp,motor,wrench.force.z', comments='')
    return ['identify', 'foreign.csv', '--model', 'bench.urdf', '--measured', 'wrench', '--fit']


@pytest.mark.parametrize('apart', [4.0, 1.0, 0.6])
def test_rows_that_are_far_apart_are_settled(apart, foreign, capsys):
    """Each thrust was compared with the throttle of the row before, too."""
    command = settled(apart)
    assert cli.main([*command, 'rotors.esc_curve']) == 0
    report = json.loads(capsys.readouterr().out)
    values = [each['value'] for each in report['estimates'].values()]
    assert values == pytest.approx([0.0, 2.0, 5.0], abs=0.02)
    assert report['warnings'] == [(
        f'samples are {apart:g} s apart; each row is taken as settled, and shows no lag; are '
        'stamps in seconds?'
    )]
    assert cli.main([*command, 'rotors.esc_curve,rotors.time_constant_up', '--fit-delay']) == 1
    assert 'leave rotors.time_constant_up, delay out of --fit' in capsys.readouterr().err


@pytest.mark.parametrize('drift', [0.0, 1e-7])
def test_a_force_that_never_changes_shows_nothing_and_no_file_is_written(foreign, drift, capsys):
    """A constant force made a constant known, and a file of old values with exit code 0."""
    def still(table):
        table[:, 2] = 0.5 + drift * np.arange(len(table)) / len(table)
        return table

    rewrite(still)
    assert identified(foreign, output='fitted.yaml') == 1
    printed = capsys.readouterr()
    assert 'force.z never changes: it is 4.903 N throughout; is its sensor on?' in printed.err
    assert printed.err.splitlines()[-1] == (
        'propulsion_ros identify: nothing was identified; fitted.yaml is not written'
    )
    assert json.loads(printed.out)['explained'] == {'wrench.force.z': 0.0}
    assert not Path('fitted.yaml').exists()


@pytest.mark.parametrize('column', ['wrench.force.z', 'state.motor.effort'])
@pytest.mark.parametrize(('curve', 'fit', 'remedy'), [
    ('0 800', 'esc_curve', '? try --choose'), ('0 800 0', 'esc_curve', ''),
    ('0 800', 'motor_constant', 'right? with a column of speeds fit esc_curve'),
])
def test_a_curve_of_another_form_is_named(foreign, column, curve, fit, remedy, capsys):
    """The ESC's is a parabola; `0 712` was known, with residuals correlated by 0.94."""
    model = Path('bench.urdf')
    model.write_text(model.read_text().replace('<esc_curve>0 800', f'<esc_curve>{curve}'))
    rng, speed, rows = np.random.default_rng(1), 0.0, ['stamp,motor,thrust']
    for k, throttle in enumerate(np.repeat(rng.uniform(0.0, 1.0, 30), 40)):
        rows.append(f'{0.01 * k:.2f},{throttle},{1.56e-5 * speed**2 + rng.normal(0.0, 0.05):.5f}')
        speed += (1.0 - np.exp(-0.01 / 0.05)) * (950.0 * throttle - 240.0 * throttle**2 - speed)
    Path('foreign.csv').write_text('\n'.join(rows))
    assert identified({'columns.thrust': column}, fit=(fit,), measured=column.split('.')[0]) == 0
    warnings = json.loads(capsys.readouterr().out)['warnings']
    found = [each for each in warnings if 'is the form of the model right?' in each]
    assert [remedy in each for each in found] == [True] * bool(remedy)


def test_what_is_not_identified_is_not_written(foreign, capsys):
    assert identified(foreign, 'moment_constant', output='fitted.yaml') == 0
    text = Path('fitted.yaml').read_text()
    assert 'moment_constant: not identified.' in text
    assert 'thrust_curve:' in text
    assert 'moment_constant: [' not in text


@pytest.mark.parametrize('seed', range(3))
def test_the_file_predicts_as_well_as_the_report_says(seed, foreign):
    """It had a curve of one fit beside the old value of what had been fitted with it."""
    rng, more = np.random.default_rng(seed), ['time_constant_down', 'moment_constant']
    keys = rng.permutation(['esc_curve', 'motor_constant', 'time_constant_up', rng.choice(more)])
    rewrite(lambda table: table + [0.0, 0.0, 0.05] * (table[:, 1:2] > 1300.0) + np.where(
        [False, False, True], rng.normal(0.0, 0.01, table.shape), 0.0))
    Path('foreign.yaml').write_text(blocked(foreign))
    request = Request(Path('foreign.csv'), [f'rotors.{key}' for key in keys], 'wrench')
    model, files = Path('bench.urdf'), [Path('foreign.yaml'), Path('fitted.yaml')]
    session = Session(read_robot(model, files[:1], request.fit), request)
    result = session.run()
    session.write(files[1], result)
    robot = read_robot(model, files, request.fit)
    problem = Problem(dataclasses.replace(
        result.fit.problem.setup, candidates=Candidates(robot.setting.family_type, robot.values)
    ))
    error = problem.main_rms(problem.left_by(problem.given))
    assert error == pytest.approx(result.report['rms'], rel=1e-4)
    assert error < 0.5 * result.report['rms_before']
    assert result.report['unidentified']['rotors.esc_curve[1]'].endswith(
        'rotors.motor_constant, whatever the command; would show it: thrust and speed, as '
        'state.<name>.effort and .velocity, --measured state'
    )


def test_a_fit_that_predicts_worse_than_before_is_named(foreign, capsys):
    command = settled(4.0)
    rewrite(lambda table: table + [0.0, 0.0, 9.0] * (table[:, 1:2] > 0.85))
    assert cli.main([*command, 'rotors.esc_curve']) == 0
    report = json.loads(capsys.readouterr().out)
    is_worse = report['cross_validation_rms'] > report['rms_before']
    assert is_worse == any('worse than what it began with' in each for each in report['warnings'])
    assert is_worse


def test_what_shows_a_constant_of_speeds_is_no_sweep(foreign, capsys):
    command = settled(4.0)
    assert cli.main([*command, 'rotors.motor_constant']) == 1
    why = json.loads(capsys.readouterr().out)['unidentified']['rotors.motor_constant']
    assert why.endswith('would show it: thrust and speed, as state.<name>.effort and .velocity, '
                        '--measured state')


@pytest.mark.parametrize(('fit', 'is_never'), [
    (['thrust_curve'], False), (['esc_curve', 'motor_constant'], True),
])
def test_what_a_sweep_separates_is_told_from_what_no_command_does(fit, is_never, foreign, capsys):
    rewrite(lambda table: np.where([False, True, False], 1600.0, table))
    assert identified(foreign, fit=fit) == 1
    why = json.loads(capsys.readouterr().out)['unidentified'][f'rotors.{fit[0]}[1]']
    assert ('whatever the command' in why, 'slow sweeps' in why) == (is_never, not is_never)


@pytest.mark.parametrize('off', [0.0, 0.07])
def test_a_torque_beside_a_thrust_that_is_off_is_named(off, foreign, capsys):
    """A moment_constant was "known", and wrong by as much as the thrust."""
    command = settled(4.0)
    text = Path('bench.urdf').read_text().replace('0 4 6<', '0 2 5<')
    Path('bench.urdf').write_text(text.replace(
        '</max_thrust>', '</max_thrust> <moment_constant>0.01</moment_constant>'
    ))
    true = [1.0, 1.0, 1.0 + off, 0.0165 * (1.0 + off)]
    rewrite(lambda table: table[:, [0, 1, 2, 2]] * true, 'wrench.torque.z')
    assert cli.main([*command, 'rotors.moment_constant']) == 0
    warnings = json.loads(capsys.readouterr().out)['warnings']
    assert any('force.z is 1.07 times' in each for each in warnings) == bool(off)


def test_a_curve_that_ends_at_what_no_rotor_has_is_cross_validated(tmp_path, monkeypatch, capsys):
    """A quadratic fits it best that is below 0 at rest; errors of parts were up to 1e16 N."""
    shutil.copytree(ROOT / 'examples' / 'thrust_bench', tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    rng, speed, rows = np.random.default_rng(1), 0.0, ['stamp,throttle,thrust']
    throttles = np.repeat([0.0, *rng.uniform(0.15, 0.95, 20), 0.0], 40)
    for k, throttle in enumerate(throttles):
        rows.append(f'{0.02 * k:.2f},{throttle:.4f},{9.0 * speed**1.5 + rng.normal(0, 0.05):.4f}')
        speed += (1.0 - np.exp(-0.02 / 0.07)) * (throttle - speed)
    Path('bench.csv').write_text('\n'.join(rows))
    assert cli.main([*words_of(PAGE), '--choose', '--output', 'written.yaml']) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert '; --fit rotors.time_constant,rotors.' in printed.err
    assert report['estimates']['rotors.thrust_curve[0]']['value'] == pytest.approx(0.0, abs=1e-3)
    variants = report['models']['variants']
    for each in (report, *variants.values()):
        assert each['cross_validation_rms'] < 1.5 * each['rms']
    # What makes the recommended one is written, points of its table and all.
    chosen = variants[report['models']['recommended']]
    written = ParameterFile(Path('written.yaml')).of('rotors')
    assert written.keys() == chosen['parameters'].keys()
    assert written['thrust_curve_kind'] == chosen['parameters']['thrust_curve_kind'] == 'table'
    assert cli.main([*words_of(PAGE), '--params-file', 'written.yaml']) == 0
    again = json.loads(capsys.readouterr().out)
    assert again['rms_before'] == pytest.approx(chosen['rms'], rel=0.05)
    # What is reported is of the recommended one too.
    assert again['rms_before'] == pytest.approx(report['rms'], rel=1e-6)
    assert report['estimates'].keys() == chosen['estimates'].keys()
    assert again['rms_before'] * 0.99 < again['rms'] <= again['rms_before']


@pytest.mark.slow
def test_a_thruster_on_a_scale_is_found(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / 'examples' / 'thruster_scale', tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    kept = Path('scale.csv').read_text()
    runpy.run_path('record.py', run_name='__main__')
    # Another numpy may round the last digit otherwise.
    assert np.loadtxt(kept.splitlines()[1:], delimiter=',') == pytest.approx(
        np.loadtxt('scale.csv', delimiter=',', skiprows=1), abs=0.011)
    assert cli.main([*words_of(SCALE), '--output', 'fitted.yaml']) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['warnings'] == []
    true = ParameterFile(Path('true.yaml')).of('thrusters')
    for name, found in report['estimates'].items():
        (value,) = true[name.removeprefix('thrusters.')]
        assert found['value'] == pytest.approx(value, abs=3.0 * found['sd'])
    lag, astern, ahead = report['estimates'].values()
    assert f'{lag["value"]:.4f} ± {lag["sd"]:.4f} s, {1e4 * astern["value"]:.3f}e-4' in SCALE
    assert f'{1e4 * ahead["value"]:.3f}e-4 ahead' in SCALE


def test_a_thruster_that_takes_pulses_is_found(tmp_path, monkeypatch, capsys):
    """By what the page gives: throttle, a table with neutral at 0.5, and any rotor_constant."""
    monkeypatch.chdir(tmp_path)
    zero, factor = (float(SCALE.partition(f'{key}.COLUMN: ')[2].partition('`')[0])
                    for key in ('zeros', 'factors'))
    curve = ' '.join(SCALE.partition('neutral at 0.5: `')[2].partition('`')[0].split())
    Path('pwm.urdf').write_text(
        '<robot name="scale"><link name="base_link"/><gazebo>'
        '<plugin filename="propulsion_ros" name="thrusters">'
        '<command_interface>throttle</command_interface> <esc_kind>table</esc_kind>'
        '<thruster name="bow"> <link>base_link</link> <axis>1 0 0</axis>'
        '<rotor_constant>0.01</rotor_constant> <dynamics>first_order</dynamics>'
        f'<time_constant>0.2</time_constant> <esc_curve>{curve}</esc_curve>'
        '</thruster></plugin></gazebo></robot>'
    )
    Path('pwm.yaml').write_text(
        '/**/identify:\n  ros__parameters:\n    columns.PWM (us): bow\n'
        f'    zeros.PWM (us): {zero}\n    factors.PWM (us): {factor}\n'
        '    columns.Force (N): wrench.force.x\n'
    )
    places, true = [0.0, 0.25, 0.5, 0.75, 1.0], [-33.0, -8.0, 0.0, 14.0, 61.0]
    rng, speed, rows = np.random.default_rng(3), 0.0, ['time_s,PWM (us),Force (N)']
    throttles = np.repeat([0.5, 0.5, *rng.uniform(0.0, 1.0, 20), 1.0, 0.0], 50)
    for k, throttle in enumerate(throttles):
        force = speed * abs(speed) + rng.normal(0.0, 0.2)
        rows.append(f'{0.01 * k:.2f},{zero + throttle / factor:.1f},{force:.3f}')
        wanted = np.interp(throttle, places, true)
        speed += (1.0 - np.exp(-0.01 / 0.15)) * (np.sign(wanted) * np.sqrt(abs(wanted)) - speed)
    Path('pwm.csv').write_text('\n'.join(rows))
    command = [
        'identify', 'pwm.csv', '--model', 'pwm.urdf', '--params-file', 'pwm.yaml', '--measured',
        'wrench', '--fit', 'thrusters.time_constant,thrusters.esc_curve', '--output', 'fitted.yaml',
    ]
    assert cli.main(command) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    # A neutral near 0 is known as well as the others.
    assert 'weakly known' not in printed.err
    lag, *heights = (each['value'] for each in report['estimates'].values())
    # What was simulated is half a step off.
    assert lag == pytest.approx(0.15, abs=0.01)
    assert heights == pytest.approx(true, abs=0.3)
    assert report['warnings'] == []

    # A scale that shows only the size: 13.6 N at neutral were written.
    Path('fitted.yaml').unlink()
    Path('pwm.csv').write_text('\n'.join(row.replace(',-', ',') for row in rows))
    assert cli.main(command) == 1
    assert 'wrench.force.x is never below 0, though the commands' in capsys.readouterr().err
    assert not Path('fitted.yaml').exists()


def test_a_fit_that_begins_at_a_bound_leaves_it(foreign, capsys):
    """With the torque, thrust_curve[0] stayed at 0, where it began, and all others beside it."""
    text = Path('bench.urdf').read_text()
    Path('bench.urdf').write_text(
        text.replace('</max_thrust>', '</max_thrust> <moment_constant>0.016</moment_constant>')
    )
    rng = np.random.default_rng(2)

    def measured(table):
        thrust = np.polyval([0.76, -0.06, 0.004], np.sqrt(table[:, 2:] / 0.8))
        both = thrust * [1.0, 0.013 * 9.80665] + rng.normal(0.0, [0.004, 0.002], (len(table), 2))
        return np.column_stack((table[:, :2], both))

    rewrite(measured, 'Torque (N m)')
    assert identified(
        {**foreign, 'columns.Torque (N m)': 'wrench.torque.z'}, 'moment_constant'
    ) == 0
    estimate = json.loads(capsys.readouterr().out)['estimates']['rotors.moment_constant']
    assert estimate['value'] == pytest.approx(0.013, rel=0.01)
