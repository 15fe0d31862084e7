# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.models.common.family import WRENCH_NAMES, BodyState, Command
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.fam.inverse_fam import InverseFam, InverseFamParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.tools import cli
from propulsion_ros.urdf.reader import actuators_from_urdf

FAM_CONFIG = share_directory() / 'config' / 'fam.yaml'
HEADER = ','.join(['stamp', *(f'wrench.{part}' for part in WRENCH_NAMES)])
WANTED = [0.1, 0.02, -0.05, 0.004, 0.002, -0.003]

ROTORS = """
rotors:
  ros__parameters:
    names: [a, b]
    max_thrust: [10.0]
    motor_constant: [1.0e-5]
    update_rate: 100.0
    command_timeout: 0.1
"""


class Runner:

    def __init__(self, folder, capsys):
        self.folder, self.capsys = folder, capsys
        self.output = folder / 'out.csv'

    def __call__(self, config, rows, *options):
        if not hasattr(config, 'read_text'):
            (self.folder / 'config.yaml').write_text(config)
            config = self.folder / 'config.yaml'
        (self.folder / 'in.csv').write_text('\n'.join(rows) + '\n')
        code = cli.main(
            ['replay', str(config), str(self.folder / 'in.csv'), str(self.output), *options]
        )
        self.err = self.capsys.readouterr().err
        return code

    def table(self):
        with self.output.open(newline='') as file:
            return list(csv.DictReader(file))


@pytest.fixture
def replay(tmp_path, capsys):
    return Runner(tmp_path, capsys)


def cells(values):
    return ','.join(repr(float(v)) for v in values)


def wrench_of(row, prefix):
    return np.array([float(row[f'{prefix}wrench.{part}']) for part in WRENCH_NAMES])


def test_forward_plant_and_inverse_run_from_a_file_of_wrenches(replay):
    """The impellers take 14 s to their speed; then the plant gives what the inverse says."""
    rows = [HEADER, f'0,{cells(np.zeros(6))}']
    rows += [f'{14.0 + 0.2 * k:.1f},{cells(WANTED)}' for k in range(15)]
    assert replay(FAM_CONFIG, rows) == 0, replay.err
    table = replay.table()
    assert [row['stamp'] for row in table[:3]] == ['0.000000000', '0.016000000', '0.032000000']
    last = table[-1]
    fam, inverse = Fam(FamParams()), InverseFam(InverseFamParams())
    angle, speed = fam.sent(fam.allocate(np.array(WANTED)))
    sent = [float(last[f'fam/{name}.position']) for name in fam.actuator_names]
    np.testing.assert_array_equal(sent, angle)
    expected = inverse.estimate(angle, speed).wrench
    np.testing.assert_array_equal(wrench_of(last, 'inverse_fam/'), expected)
    # The plant has its own leakages, which the table of the allocation does not know.
    np.testing.assert_allclose(
        wrench_of(last, 'propulsion_modules/')[:3], expected[:3], rtol=0.06, atol=1e-3
    )
    residual = [float(last[f'inverse_fam/residual.{part}']) for part in WRENCH_NAMES]
    np.testing.assert_allclose(np.add(residual, expected), WANTED, atol=1e-12)
    assert 'late' not in replay.err


def test_what_is_written_is_what_the_model_does(replay):
    rows = ['stamp,a.effort,b.effort', '0.01,5.0,', '0.05,,2.0', '0.08,1,1']
    assert replay(ROTORS, rows) == 0, replay.err
    table = replay.table()
    assert [row['stamp'] for row in table] == [f'0.0{k}0000000' for k in range(1, 9)]
    model = Rotors(RotorsParams(names=['a', 'b'], max_thrust=10.0, motor_constant=1e-5))
    for k, row in enumerate(table, 1):
        effort = np.array([5.0 if k < 8 else 1.0, math.nan if k < 5 else 2.0 if k < 8 else 1.0])
        output = model.step(Command(effort=effort), BodyState(), 0.01, k)
        assert [float(row['a.effort']), float(row['b.effort'])] == output.effort.tolist()
        assert wrench_of(row, '').tolist() == output.wrench.tolist()


@pytest.mark.parametrize(('apart', 'is_doubted'), [(0.01, False), (1.0, False), (10.0, True)])
def test_stamps_in_ms_are_doubted(apart, is_doubted, replay):
    rows = ['stamp,a.effort,b.effort', *(f'{apart * k},5,5' for k in range(1, 13))]
    assert replay(ROTORS, rows) == 0
    assert ('; are stamps in seconds?' in replay.err) == is_doubted


def test_silence_makes_a_command_stale_and_a_long_gap_is_no_jump(replay):
    rows = ['stamp,a.effort,b.effort', '0.01,5,5', '30.0,,']
    assert replay(ROTORS, rows) == 0
    table = replay.table()
    assert len(table) == 3000
    assert float(table[-1]['a.effort']) == pytest.approx(0.0, abs=1e-9)
    assert 'jump' not in replay.err


def test_inverse_alone_reads_what_the_modules_were_told(replay):
    fam = Fam(FamParams())
    angle, speed = fam.sent(fam.allocate(np.array(WANTED)))
    names = fam.state_names
    header = ','.join(['stamp', *(f'{n}.position' for n in names[:12]),
                       *(f'{n}.velocity' for n in names[12:])])
    rows = [header, '0.005,' + cells([*angle, *speed]), '1,' + ',' * 13]
    assert replay(FAM_CONFIG, rows, '--node', 'inverse_fam') == 0
    said, silent = replay.table()
    assert said['stamp'] == '0.005000000'
    assert silent['stamp'] == '0.325000001'
    assert not wrench_of(silent, '').any()
    assert said['residual.force.x'] == ''


@pytest.mark.parametrize(('row', 'said'), [
    pytest.param('0.02,inf,1', 'a: effort is infinite', id='infinite'),
    pytest.param('0.02,nan,1', 'a: effort is NaN', id='NaN'),
])
def test_refused_rows_are_said_counted_and_have_no_effect(replay, row, said):
    rows = ['stamp,a.effort,b.effort', '0.01,5,5', row, '0.03,5,5']
    assert replay(ROTORS, rows) == 0
    assert f'in.csv:3: rotors: command refused: {said}' in replay.err
    assert '1 refused by rotors' in replay.err
    with_it = replay.output.read_bytes()
    assert replay(ROTORS, [rows[0], rows[1], rows[3]]) == 0
    assert replay.output.read_bytes() == with_it


@pytest.mark.parametrize(('config', 'rows', 'said'), [
    pytest.param(ROTORS, ['stamp,a.effort,a.effort', '0,1,1'], 'expected one column', id='twice'),
    pytest.param(ROTORS, ['stamp,a.effort', 'x,1'], "stamp: expected seconds, got 'x'", id='stamp'),
    pytest.param(ROTORS.replace('rotors:', 'motors:'), ['stamp', '0'],
                 'no actuator node; found: motors', id='no family'),
    pytest.param('rotors: 3', ['stamp', '0'], 'expected node names, got 3', id='no parameters'),
])
def test_what_is_wrong_is_said_in_one_line(replay, config, rows, said):
    assert replay(config, rows) == 1
    assert said in replay.err
    assert replay.err.count('\n') == 1


def test_robot_description_gives_the_actuators(replay):
    model = share_directory() / 'urdf' / 'rocket.urdf.xacro'
    specs = actuators_from_urdf(read_description(model).text, loop_params_of)
    names = next(spec.values['names'] for spec in specs if spec.name == 'boosters')
    config = 'boosters:\n  ros__parameters: {tanks.starting_fuel_ratio: 0.5}\n'
    header = 'stamp,' + ','.join(f'{name}.effort' for name in names)
    rows = [header, '0.01' + ',2000' * len(names), '0.3' + ',' * len(names)]
    assert replay(config, rows, '--model', str(model), '--node', 'boosters') == 0, replay.err
    row = replay.table()[-1]
    assert float(row['wrench.force.z']) > 1000.0
    assert 0.0 < float(row['main_tank.mass']) < 6.0


def test_freeflyer_makes_one_row_for_each_stamp_in_order(replay):
    """Its modules wait for an odometry that no table has."""
    rows = [HEADER, *(f'{0.016 * k:.3f},{cells(WANTED)}' for k in range(50))]
    model = share_directory() / 'urdf' / 'freeflyer.urdf.xacro'
    config = share_directory() / 'config' / 'freeflyer.yaml'
    assert replay(config, rows, '--model', str(model)) == 0, replay.err
    stamps = [row['stamp'] for row in replay.table()]
    assert stamps == sorted(set(stamps))
    assert len(stamps) == 50
    assert all(row['propulsion_modules/wrench.force.x'] for row in replay.table())


def test_result_may_replace_the_input_and_a_failure_replaces_nothing(replay):
    rows = ['stamp,a.effort,b.effort', '0.01,5,5', '0.02,5,5']
    assert replay(ROTORS, rows) == 0
    before = replay.output.read_bytes()
    (replay.folder / 'in.csv').unlink()
    code = cli.main([
        'replay', str(replay.folder / 'config.yaml'), str(replay.folder / 'in.csv'),
        str(replay.output),
    ])
    assert code == 1
    assert replay.output.read_bytes() == before
    replay.output = replay.folder / 'in.csv'
    assert replay(ROTORS, rows) == 0
    assert replay.output.read_bytes() == before
    assert not list(replay.folder.glob('*.unfinished'))
