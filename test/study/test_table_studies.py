# SPDX-License-Identifier: Apache-2.0
"""Studies of replays and of fits, and what a case's own files are."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from parts import few_of
from propulsion_ros.graph.share import read_description
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.draws import Variable
from propulsion_ros.study.overrides import Base, parameters_of_case, with_mass
from propulsion_ros.study.session import Session
from propulsion_ros.study.study import read_study
from propulsion_ros.tools.cli import main
from propulsion_ros.urdf.reader import mass_from_urdf

ROOT = Path(__file__).resolve().parents[2]
REPLAY = """\
kind: replay
robot: robot.urdf
params: [robot.yaml]
input: in.csv
cases: 3
seed: 4
vary:
  thrusters.max_thrust[1]: {uniform: [0.5, 0.9], is: factor}
  input.left.effort.offset: {normal: [0.0, 0.1]}
results:
  left: {last: thrusters/state.left.effort}
  right: {last: thrusters/state.right.effort}
"""
ROBOT = """\
<robot name="boat"><link name="base_link"><inertial><mass value="10"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial></link>
<link name="a"/><link name="b"/>
<joint name="left" type="continuous"><parent link="base_link"/><child link="a"/>
<origin xyz="0 1 0"/><axis xyz="1 0 0"/></joint>
<joint name="right" type="continuous"><parent link="base_link"/><child link="b"/>
<origin xyz="0 -1 0"/><axis xyz="1 0 0"/></joint>
<gazebo><plugin filename="propulsion_ros" name="rotors">
<command_interface>effort</command_interface>
<rotor name="left"><joint>left</joint><max_thrust>20</max_thrust>
<motor_constant>1e-5</motor_constant></rotor>
<rotor name="right"><joint>right</joint><max_thrust>20</max_thrust>
<motor_constant>1e-5</motor_constant></rotor>
</plugin></gazebo></robot>
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'robot.urdf').write_text(ROBOT)
    (tmp_path / 'robot.yaml').write_text(
        'rotors:\n  ros__parameters:\n    update_rate: 50.0\n'
    )
    (tmp_path / 'in.csv').write_text(
        'stamp,left.effort,right.effort\n0,5,30\n0.1,6,\n0.2,7,30\n'
    )
    (tmp_path / 'study.yaml').write_text(REPLAY.replace('thrusters', 'rotors'))
    return tmp_path


def test_a_replay_has_the_parameters_and_the_table_of_its_case(folder):
    session = Session(read_study(folder / 'study.yaml'))
    for number in range(3):
        row = session.row(number)
        assert row['error'] == ''
        assert row['right'] == pytest.approx(20.0 * row['rotors.max_thrust[1]'])
        assert row['left'] == pytest.approx(7.0 + row['input.left.effort.offset'])


def test_noise_is_on_each_row_and_blanks_stay(folder):
    text = (folder / 'study.yaml').read_text()
    text = text.replace('left.effort.offset: {normal: [0.0, 0.1]}', 'left.effort.noise: '
                        '{choice: [0.5]}').replace('last: rotors/state.left', 'max: '
                                                   'rotors/state.left')
    (folder / 'study.yaml').write_text(text)
    session = Session(read_study(folder / 'study.yaml'))
    found = [session.row(number)['left'] for number in range(3)]
    assert len(set(found)) == 3
    assert np.abs(np.array(found) - 7.0).max() < 2.0


@pytest.mark.parametrize(('old', 'new', 'message'), [
    ('rotors.max', 'rotor.max', "no node 'rotor', did you mean 'rotors'"),
    ('max_thrust[1]', 'max_trust', "rotors.max_trust: unknown, did you mean 'max_thrust'"),
    ('max_thrust[1]', 'max_thrust[7]', 'expected an index below 2'),
    ('is: factor', 'is: value', None),
    ('left.effort.offset', 'lift.effort.offset',
     "no column 'lift.effort', did you mean 'left.effort'?; the table has stamp, left.effort, "),
    ('left.effort.offset', 'left.effort.ofset', 'an effect of noise, offset, factor'),
    ('rotors/state.left', 'rotors/stat.left', "no node publishes 'rotors/stat'"),
    ('rotors/state.left', 'rotors/state.lift', "lift.effort: unknown, did you mean 'left.effort'?"),
    ('rotors/state.left.effort', 'rotors/wrench.force.w', 'unknown, did you mean'),
    ('max_thrust[1]: {uniform: [0.5, 0.9], is: factor}', 'max_trust: {uniform: [5, 9]}',
     "unknown, did you mean 'max_thrust'"),
    ('input: in.csv', 'input: inn.csv', 'inn.csv: cannot be read: No such file'),
    ('{uniform: [0.5, 0.9], is: factor}', '{grid: [a]}', "[1]: expected a number, got 'a'"),
    ('max_thrust[1]', 'names[0]', "expected one of several numbers, got ['left', 'right']"),
    ('rotors.max_thrust[1]', 'robot.mass', None),
    ('rotors.max_thrust[1]: {uniform: [0.5, 0.9], is: factor}', 'robot.mass: {grid: [a]}',
     "robot.mass: expected a number, got 'a'"),
    ('offset: {normal: [0.0, 0.1]}', 'offset: {grid: [a]}', "offset: expected a number, got 'a'"),
    ('offset: {normal: [0.0, 0.1]}', 'noise: {grid: [-1]}', 'a number of at least 0, got -1'),
])
def test_what_is_wrong_is_named_before_anything_runs(folder, old, new, message):
    path = folder / 'study.yaml'
    path.write_text(path.read_text().replace(old, new))
    if message is None:
        Session(read_study(path))
        return
    with pytest.raises(SourceError) as caught:
        Session(read_study(path))
    assert message in str(caught.value)
    assert '\n' not in str(caught.value)


def test_a_factor_finds_the_servo_that_the_description_has():
    """Only one of a parameter file was found."""
    tilted = ROBOT.replace('<parent link="base_link"/><child link="a"/>', (
        '<parent link="arm"/><child link="a"/>'
    )).replace('<link name="b"/>', (
        '<link name="b"/><link name="arm"/><joint name="tilt" type="revolute">'
        '<parent link="base_link"/><child link="arm"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" velocity="8" effort="1"/></joint>'
    )).replace('</plugin>', (
        '<steering name="tilt"><mode>servo</mode><time_constant>0.03</time_constant></steering>'
        '</plugin>'
    ))
    base = Base(tilted, [])
    assert base.value('rotors', 'steering.time_constant') == [0.03]
    assert base.unit('rotors', 'steering.time_constant') == 's'


def test_a_drawn_zero_is_a_value():
    """It was taken as absent, and the value of the file came back."""
    whole, one = Variable('a.k', 'choice', [0.0]), Variable('a.k[0]', 'choice', [2.0], 'offset')
    drawn = [(whole, 0.0), (one, 2.0)]
    assert parameters_of_case(drawn, ['a'], lambda node, key: [7.0]) == {'a': {'k': 2.0}}


def test_a_case_is_flown_again_with_its_own_file(folder, capsys, monkeypatch):
    """By replay too, with the parameter file that is written for it."""
    monkeypatch.chdir(folder)
    path = folder / 'study.yaml'
    path.write_text(path.read_text().replace(
        '  input.left.effort.offset: {normal: [0.0, 0.1]}\n', ''
    ))
    written = folder / 'study_study' / 'case_2.yaml'
    written.mkdir(parents=True)
    assert main(['study', 'study.yaml', '--case', '2']) == 1
    assert 'case_2.yaml: cannot be written: Is a directory' in capsys.readouterr().err
    written.rmdir()
    assert main(['study', 'study.yaml', '--case', '2']) == 0
    row = json.loads(capsys.readouterr().out)
    assert row['case'] == 2
    assert main(['replay', str(written), 'in.csv', 'out.csv', '--model', 'robot.urdf']) == 0
    header, *_, last = (folder / 'out.csv').read_text().split()
    cells = dict(zip(header.split(','), last.split(','), strict=True))
    assert float(cells['right.effort']) == row['right']


@pytest.mark.slow
def test_an_identification_is_as_good_as_its_table(folder, capsys):
    """A lag is found from the states of a replay; noise moves the estimate, and its error."""
    (folder / 'robot.yaml').write_text(
        'rotors:\n  ros__parameters:\n    update_rate: 100.0\n    time_constant_up: 0.1\n'
        '    time_constant_down: 0.1\n'
    )
    rng = np.random.default_rng(0)
    steps = ''.join(
        f'{0.2 * i:.1f},{a:.3f},{b:.3f}\n' for i, (a, b) in enumerate(rng.uniform(2, 15, (40, 2)))
    )
    (folder / 'in.csv').write_text('stamp,left.effort,right.effort\n' + steps)
    assert main(['replay', str(folder / 'robot.yaml'), str(folder / 'in.csv'),
                 str(folder / 'out.csv'), '--model', str(folder / 'robot.urdf')]) == 0
    table = _with_commands(folder / 'in.csv', folder / 'out.csv')
    (folder / 'measured.csv').write_text(table)
    (folder / 'study.yaml').write_text(
        'kind: identify\nrobot: robot.urdf\nparams: [robot.yaml]\ninput: measured.csv\n'
        'measured: wrench\nfit: [rotors.time_constant_up]\nseed: 2\ncases: 2\nvary:\n'
        '  rotors.time_constant_up: {grid: [0.05]}\n'
        '  input.wrench.force.x.noise: {grid: [0.0, 1.0]}\n'
    )
    session = Session(read_study(folder / 'study.yaml'))
    clean, noisy = session.row(0), session.row(3)
    assert clean['error'] == noisy['error'] == ''
    assert clean['rotors.time_constant_up'] == 0.05 != clean['rotors.time_constant_up fitted']
    assert noisy['rms'] > clean['rms']
    # One case alone prints what its column counts.
    path = folder / 'study.yaml'
    path.write_text(path.read_text().replace('[0.05]', '[0.1]'))
    capsys.readouterr()
    assert main(['study', str(path), '--case', '0', '--output', str(folder)]) == 0
    printed = capsys.readouterr()
    texts = [line for line in printed.err.splitlines() if 'case_0.yaml' not in line]
    assert len(texts) == json.loads(printed.out)['warnings'] > 0
    assert any('one lag: time_constant_down follows' in line for line in texts)


def _with_commands(given, published):
    """Return the published wrenches with the commands that hold at their stamps."""
    commands = np.genfromtxt(given, delimiter=',', skip_header=1)
    header = published.read_text().splitlines()[0].split(',')
    rows = np.genfromtxt(published, delimiter=',', skip_header=1)
    held = commands[np.searchsorted(commands[:, 0], rows[:, 0] + 1e-9) - 1, 1:]
    wrench = [i for i, name in enumerate(header) if name.startswith('wrench.')]
    names = ['stamp', 'left.effort', 'right.effort', *(header[i] for i in wrench)]
    lines = [','.join(names)]
    for row, command in zip(rows, held, strict=True):
        lines.append(','.join(map(repr, map(float, [row[0], *command, *row[wrench]]))))
    return '\n'.join(lines) + '\n'


@pytest.mark.parametrize('vehicle', few_of(VEHICLES, 5))
def test_mass_is_a_factor_on_every_link(vehicle):
    text = read_description(ROOT / 'urdf' / f'{vehicle}.urdf.xacro').text
    _, before = mass_from_urdf(text)
    _, after = mass_from_urdf(with_mass(text, 1.25))
    assert after.mass == pytest.approx(1.25 * before.mass)
    np.testing.assert_allclose(after.inertia, 1.25 * before.inertia, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(after.com, before.com, atol=1e-12)
