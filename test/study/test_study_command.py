# SPDX-License-Identifier: Apache-2.0
"""The command: the same bytes by any workers, and nothing lost by a kill or Ctrl-C."""
from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future

import pytest

from propulsion_ros.study import session
from propulsion_ros.study.study import read_study
from propulsion_ros.tools.cli import main

FLIGHT = """\
kind: flight
vehicle: quadrotor
controller: lift.py
wait_for: [rotors_allocator/wrench_command]
duration: 0.02
cases: 4
seed: 3
vary:
  robot.mass: {normal: [1.0, 0.03]}
  controller.force: {grid: [15.0, 20.0]}
results:
  z: {last: vehicle/odometry.z}
limits:
  z: [-1.0, 1.0]
"""
LIFT = """\
class Controller:
    def __init__(self, seed, force):
        self._force = force

    def steer(self, time, motion):
        if self._force == 13.0:
            raise ValueError('unlucky')
        return {'rotors_allocator/wrench_command': [0, 0, self._force, 0, 0, 0]}

    def results(self):
        return {'force': self._force}
"""
APOGEE = 'kind: apogee\ncases: 12\nvary: {flight.seed: {counter: 0}}\n'


class Here:
    """A pool without processes."""

    workers = 1

    def __init__(self, work, jobs):
        self._opened = work.ready()

    def submit(self, numbers):
        future = Future()
        future.set_result([self._opened.row(number) for number in numbers])
        return future

    def result(self, future):
        return future.result()

    def close(self):
        pass


@pytest.fixture
def here(monkeypatch):
    """Fly in this process: new ones would import everything again."""
    monkeypatch.setattr(session, 'Pool', Here)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'flight.yaml').write_text(FLIGHT)
    (tmp_path / 'lift.py').write_text(LIFT)
    (tmp_path / 'apogee.yaml').write_text(APOGEE)
    return tmp_path


def _start(*words):
    # Not of pytest's own terminal: Ctrl-C is for this group alone.
    return subprocess.Popen(
        [sys.executable, '-m', 'propulsion_ros.tools.cli', 'study', *words, '--no-picture'],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )


def _rows(folder, name):
    with (folder / name / 'results.csv').open(newline='') as file:
        return list(csv.DictReader(file))


def _wait_for_lines(path, count):
    for _ in range(600):
        if path.exists() and path.read_bytes().count(b'\n') > count:
            return
        time.sleep(0.05)
    pytest.fail(f'{path} has not {count} rows within 30 s')


def test_a_study_is_flown(folder, capsys, here):
    code = main(['study', 'flight.yaml', '--jobs', '1', '--no-picture'])
    out = capsys.readouterr().out
    assert code == 0, out
    assert '8 cases, 0 failed, 0 beyond their limits: flight_study/results.csv' in out
    assert out.startswith('z [m]: 0 in 8 cases\n')
    rows = _rows(folder, 'flight_study')
    assert [row['case'] for row in rows] == [str(n) for n in range(8)]
    assert [row['force'] for row in rows] == ['15.0'] * 4 + ['20.0'] * 4
    names = sorted(path.name for path in (folder / 'flight_study').iterdir())
    assert names == ['journal.jsonl', 'quantiles.csv', 'results.csv']
    with (folder / 'flight_study' / 'quantiles.csv').open(newline='') as file:
        found = {row['result']: row for row in csv.DictReader(file)}
    values = sorted(float(row['z']) for row in rows)
    assert float(found['z']['min']) == values[0]
    assert float(found['z']['50%']) == pytest.approx((values[3] + values[4]) / 2.0)
    assert rows[int(found['z']['highest case'])]['z'] == repr(values[-1])
    # A case by its number alone is the same to the bit.
    assert main(['study', 'flight.yaml', '--case', '5']) == 0
    assert repr(json.loads(capsys.readouterr().out)['z']) == rows[5]['z']


def test_one_case_of_the_ground_prints_its_row(folder, here, capsys):
    """It ended with a traceback after the row: its kind had no warnings."""
    (folder / 'ground.yaml').write_text(
        'kind: ground\ncases: 1\nvary:\n  ground.situation: {choice: [rest]}\n'
        '  ground.source: {choice: [pressure]}\n  ground.length: {choice: [20.0]}\n'
    )
    assert main(['study', 'ground.yaml', '--case', '0']) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)['situation'] == 'rest'
    assert printed.err.endswith('case_0.yaml: its parameters\n')


@pytest.mark.slow
def test_a_picture_is_drawn(folder, here):
    assert main(['study', 'flight.yaml', '--jobs', '1']) == 0
    content = (folder / 'flight_study' / 'study.png').read_bytes()
    assert content.startswith(b'\x89PNG')
    assert len(content) > 10_000


@pytest.mark.parametrize(('mass', 'line'), [
    ('[1.0, 0.03]', ''),
    ('[14.0, 0.0]', 'vary: robot.mass is a factor on all masses, 14 in case 0; is that in kg?'),
])
def test_a_mass_in_kg_is_doubtful(folder, capsys, mass, line):
    (folder / 'flight.yaml').write_text(FLIGHT.replace('[1.0, 0.03]', mass))
    assert main(['study', 'flight.yaml', '--case', '0']) == 0
    err = capsys.readouterr().err
    assert line in err
    assert ('robot.mass' in err) == bool(line)


def test_a_time_constant_in_ms_is_doubtful(folder, capsys):
    (folder / 'flight.yaml').write_text(FLIGHT.replace(
        'vary:', 'vary:\n  rotors.time_constant_up: {uniform: [50.0, 50.0]}', 1))
    main(['study', 'flight.yaml', '--case', '0'])
    assert 'rotors.time_constant_up: time_constant_up of 50 s, expected' in capsys.readouterr().err


def test_a_volume_in_litres_is_doubtful(folder, capsys):
    (folder / 'flight.yaml').write_text(FLIGHT.replace(
        'vary:', 'vary:\n  vehicle.body.displaced_volume: {uniform: [13.0, 14.0]}', 1))
    main(['study', 'flight.yaml', '--case', '0'])
    assert 'vary: body.displaced_volume: 13.' in capsys.readouterr().err


def test_a_case_that_raises_is_a_row_and_the_exit_code(folder, capsys, here):
    text = FLIGHT.replace('[15.0, 20.0]', '[20.0, 13.0]').replace('cases: 4', 'cases: 1')
    (folder / 'flight.yaml').write_text(text.replace('[-1.0, 1.0]', '[5.0, null]'))
    assert main(['study', 'flight.yaml', '--jobs', '1', '--no-picture']) == 1
    out = capsys.readouterr().out
    assert '2 cases, 1 failed, 1 beyond their limits' in out
    error = 'ValueError: unlucky (lift.py:7)'
    assert f'case 1: {error} (robot.mass ' in out
    assert 'case 0: beyond its limits: z ' in out
    assert [row['error'] for row in _rows(folder, 'flight_study')] == ['', error]


def test_a_result_that_is_not_known_is_beyond_its_limits_as_none(folder, capsys, here):
    (folder / 'apogee.yaml').write_text(
        'kind: apogee\ncases: 1\nvary:\n  flight.seed: {choice: [1]}\n'
        '  apogee.minimum_height: {choice: [1e5]}\nlimits:\n  speed: [null, 5.0]\n'
    )
    assert main(['study', 'apogee.yaml', '--jobs', '1', '--no-picture']) == 1
    line = 'case 0: beyond its limits: speed none (flight.seed 1, apogee.minimum_height 1e+05, '
    assert line in capsys.readouterr().out


def test_lines_name_the_varied_log_fault_and_method(folder, capsys, here):
    (folder / 'logs').mkdir()
    (folder / 'logs' / 'hop.csv').write_text('time_s,altitude_m\n' + ''.join(
        f'{0.1 * i:.1f},{max(0.0, 300.0 - 4.9 * (0.1 * i - 7.8)**2):.2f}\n' for i in range(160)))
    (folder / 'logs' / 'reference.json').write_text('{"hop": {"apogee_t": 7.8}}')
    (folder / 'hops.yaml').write_text(
        'kind: apogee\ninput: logs\ncases: 2\nvary:\n  apogee.method: {grid: [robust, legacy]}\n'
        'limits: {missed: [0, 0], late: [-1, -1]}\n')
    assert main(['study', 'hops.yaml', '--jobs', '1', '--no-picture']) == 1
    out = capsys.readouterr().out
    assert session.Session(read_study(folder / 'hops.yaml')).unit('sigma') == 's'
    assert 'robust, missed: 0 in 2 cases\n' in out
    assert ': late 0 (apogee.method robust, log hop, fault none, reason fit)\n' in out
    assert out.endswith(
        'robust: 2 of 2 cases beyond their limits\nlegacy: 2 of 2 cases beyond their limits\n'
        '4 cases, 0 failed, 4 beyond their limits: hops_study/results.csv\n')


def test_limits_of_a_result_that_no_case_has_are_refused_once(folder, capsys, here):
    (folder / 'flight.yaml').write_text(FLIGHT.replace('  z: [-1.0, 1.0]', '  forse: [0.0, 1.0]'))
    line = ("flight.yaml: limits: forse: case 0 has no such result, did you mean 'force'?; known: "
            'robot.mass, controller.force, ')
    journal, kept = folder / 'flight_study' / 'journal.jsonl', set()
    for more in ([], [], ['--case', '0']):
        assert main(['study', 'flight.yaml', '--jobs', '1', '--no-picture', *more]) == 1
        assert line in capsys.readouterr().err
        kept.add(journal.read_bytes())
    # Of eight cases those were flown that were begun before the first one ended.
    (flown,) = kept
    assert 1 < flown.count(b'\n') < 8


def test_results_of_numpy_are_the_same_from_the_journal(folder, here):
    given = "{'force': np.float32(self._force), 'count': np.int64(3), 'rate': np.float64(0.1)}"
    (folder / 'lift.py').write_text(
        'import numpy as np\n\n\n' + LIFT.replace("{'force': self._force}", given)
    )
    command = ['study', 'flight.yaml', '--jobs', '1', '--no-picture']
    assert main(command) == 0
    path = folder / 'flight_study' / 'results.csv'
    first = path.read_bytes()
    assert b'np.' not in first
    rows = _rows(folder, 'flight_study')
    assert [(row['count'], row['rate']) for row in rows] == [('3', '0.1')] * 8
    assert main(command) == 0
    assert path.read_bytes() == first


@pytest.mark.parametrize('name', ['case', 'error', 'controller.force'])
def test_a_result_with_the_name_of_another_column_is_the_error_of_its_case(folder, capsys, name):
    text = FLIGHT.replace('  z: ', f'  {name}: ')
    (folder / 'flight.yaml').write_text(text)
    assert main(['study', 'flight.yaml', '--case', '3']) == 1
    row = json.loads(capsys.readouterr().out)
    assert row['case'] == 3
    assert row['error'] == f'results: {name}: is another column, give it another name'


def test_a_result_that_is_no_number_is_the_error_of_its_case(folder, capsys, here):
    (folder / 'lift.py').write_text(LIFT.replace("{'force': self._force}", "{'all': [1, 2]}"))
    assert main(['study', 'flight.yaml', '--jobs', '1', '--no-picture']) == 1
    assert 'case 0: results: all: expected a number or a text, got list' in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize('changed', ['lift.py', 'gains.py', 'units.py'])
def test_a_study_that_changed_is_refused(folder, capsys, here, changed):
    """The controller may import what is beside it, which imports more."""
    (folder / 'units.py').write_text('ONE = 1.0\n')
    (folder / 'gains.py').write_text('from units import ONE\n')
    (folder / 'other.py').write_text('raise ValueError\n')
    (folder / 'lift.py').write_text(f'from gains import ONE\n{LIFT}')
    (folder / 'flight.yaml').write_text(FLIGHT.replace('cases: 4', 'cases: 1'))
    command = ['study', 'flight.yaml', '--jobs', '1', '--no-picture']
    assert main(command) == 0
    with (folder / changed).open('a') as file:
        file.write('\n')
    capsys.readouterr()
    assert main(command) == 1
    err = capsys.readouterr().err
    assert err.endswith(
        'propulsion_ros study: flight_study/journal.jsonl: has rows of another study: give '
        'another --output, or --again to begin anew\n'
    )
    assert main([*command, '--again']) == 0


@pytest.mark.parametrize(('limits', 'line'), [
    ('z: [-1.0, 1.0]', 'z: -1 to 1 m\n'),
    ('tilt: [null, 0.5]', 'tilt: -inf to 0.5 rad\n'),
    ('tilt: [0, 30]', 'tilt: 0 to 30 rad; if that is in degrees, write 0.5236\n'),
])
def test_limits_are_printed_with_their_unit(folder, capsys, limits, line):
    (folder / 'flight.yaml').write_text(FLIGHT.replace('z: [-1.0, 1.0]', limits).replace(
        'limits:', '  tilt: {max: vehicle/odometry.tilt}\nlimits:'))
    assert main(['study', 'flight.yaml', '--case', '0']) == 0
    assert f'propulsion_ros study: limits: {line}' in capsys.readouterr().err


def test_a_study_whose_motor_changed_is_refused(folder, capsys, here):
    (folder / 'motor.eng').write_text('one')
    (folder / 'more.yaml').write_text('/**/boosters: {ros__parameters: {motor_file: motor.eng}}')
    (folder / 'flight.yaml').write_text(f'{FLIGHT}params: [more.yaml]\n')
    command = ['study', 'flight.yaml', '--jobs', '1', '--no-picture']
    assert main(command) == main(command) == 0
    (folder / 'motor.eng').write_text('two')
    assert main(command) == 1
    assert 'has rows of another study' in capsys.readouterr().err


@pytest.mark.parametrize(('words', 'message'), [
    (['none.yaml'], 'none.yaml: cannot be read: No such file'),
    (['flight.yaml', '--cases', '0'], '--cases: 0 is below 1'),
    (['flight.yaml', '--case', '9'], '--case: expected 0 to 7, got 9'),
    (['flight.yaml', '--jobs', '0'], '--jobs: 0 is below 1'),
    (['flight.yaml', '--batch', '0'], '--batch: 0 is below 1'),
    (['flight.yaml', '--seed', '-1'], '--seed: -1 is below 0'),
    (['flight.yaml', '--cases', '1000000000'], '--cases: 1e+09 is above 1e+08'),
    (['quadrotr'], "quadrotr: no such file or study, did you mean 'quadrotor'?; the package has"),
])
def test_a_mistake_is_one_line(folder, capsys, words, message):
    assert main(['study', *words]) == 1
    err = capsys.readouterr().err
    assert message in err
    assert err.count('\n') == 1


@pytest.mark.parametrize(('old', 'new', 'message'), [
    ('class Controller', 'class Pilot', 'lift.py: expected a class Controller with steer()'),
    ('class Controller', 'import nothing_like_this\nclass Controller',
     'lift.py: ModuleNotFoundError: No'),
    ('force)', 'mass)', 'lift.py: TypeError: Controller.__init__() got an unexpected keyword'),
])
def test_a_wrong_controller_is_one_line(folder, capsys, old, new, message):
    (folder / 'lift.py').write_text(LIFT.replace(old, new))
    assert main(['study', 'flight.yaml']) == 1
    err = capsys.readouterr().err
    assert message in err
    assert err.count('\n') == 1


def test_a_wrong_robot_is_named_as_the_study_names_it(folder, capsys):
    (folder / 'drone.urdf').write_text('<robot name="a"><link name="base_link"/></robot>')
    text = FLIGHT.replace('vehicle: quadrotor', 'robot: drone.urdf')
    (folder / 'flight.yaml').write_text(text)
    assert main(['study', 'flight.yaml']) == 1
    assert 'flight.yaml: drone.urdf: ' in capsys.readouterr().err


def test_an_attribute_that_is_wrong_is_named_beside_those_that_are(folder, capsys):
    wrong = LIFT.replace('if self', 'motion.velocity_wold\n        if self')
    (folder / 'lift.py').write_text(wrong)
    assert main(['study', 'flight.yaml', '--case', '0']) == 1
    error = json.loads(capsys.readouterr().out)['error']
    assert "did you mean 'velocity_world'?; known: angular_velocity, position, quatern" in error


@pytest.mark.slow
@pytest.mark.part('kills')
def test_any_number_of_processes_writes_the_same_bytes(folder):
    tables = []
    for jobs in ('1', '2', '3'):
        assert main(['study', 'flight.yaml', '--jobs', jobs, '--output', jobs,
                     '--no-picture']) == 0
        tables.append((folder / jobs / 'results.csv').read_bytes())
    assert tables[0] == tables[1] == tables[2]


@pytest.mark.slow
@pytest.mark.part('kills')
def test_a_killed_study_goes_on_where_it_was(folder):
    """By kill -9, of a worker and then of all of it: no case is lost, and none is flown twice."""
    whole = _start('apogee.yaml', '--output', 'whole', '--jobs', '1')
    process = _start('apogee.yaml', '--output', 'killed', '--jobs', '2')
    journal = folder / 'killed' / 'journal.jsonl'
    _wait_for_lines(journal, 2)
    os.kill(_workers_of(process.pid)[0], signal.SIGKILL)
    _wait_for_lines(journal, 5)
    process.kill()
    workers = _workers_of(process.pid)
    process.communicate()
    kept = journal.read_bytes()
    again = _start('apogee.yaml', '--output', 'killed', '--jobs', '2')
    assert again.wait(120) in (0, 1), again.communicate()
    assert whole.wait(120) in (0, 1), whole.communicate()
    for running in (again, whole):
        running.communicate()
    assert journal.read_bytes().startswith(kept[:kept.rindex(b'\n') + 1])
    assert (folder / 'killed' / 'results.csv').read_bytes() == (
        folder / 'whole' / 'results.csv'
    ).read_bytes()
    numbers = [json.loads(line).get('case') for line in journal.read_text().splitlines()[1:]]
    assert sorted(numbers) == list(range(12))
    assert not [pid for pid in workers if os.path.exists(f'/proc/{pid}')]


@pytest.mark.slow
@pytest.mark.part('kills')
@pytest.mark.parametrize(('number', 'send'), [
    # To the whole group, as a terminal sends it.
    (signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill), (signal.SIGTERM, os.killpg),
])
def test_a_signal_ends_in_one_line_and_can_go_on(folder, number, send):
    process = _start('apogee.yaml', '--output', 'stopped', '--jobs', '2')
    _wait_for_lines(folder / 'stopped' / 'journal.jsonl', 2)
    send(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert out == ''
    (line,) = err.strip('\n').split('\n')
    assert line.startswith('propulsion_ros study: stopped after ')
    assert line.endswith(' of 12 cases, which are kept: the same command goes on')
    again = _start('apogee.yaml', '--output', 'stopped', '--jobs', '2')
    again.communicate(timeout=120)
    assert len(_rows(folder, 'stopped')) == 12


def _workers_of(pid):
    """Return the processes that a process has started."""
    children = f'/proc/{pid}/task/{pid}/children'
    with open(children) as file:
        pids = list(map(int, file.read().split()))
    return [each for each in pids if b'spawn_main' in _words_of(each)]


def _words_of(pid):
    with open(f'/proc/{pid}/cmdline', 'rb') as file:
        return file.read()
