# SPDX-License-Identifier: Apache-2.0
"""What a fit reads and writes: tables, bags, parameter files, pictures."""
from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest

from propulsion_ros import load
from propulsion_ros.identify import free
from propulsion_ros.identify.page import page_of_fit
from propulsion_ros.identify.reading import Columns, Names, read_recording
from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Session
from propulsion_ros.loops.payloads import JointRow, Kind
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.replay.plain import Wire, plain_message
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.tools import cli

URDF = """<robot name="bench"><link name="base_link"/>
  <gazebo><plugin filename="propulsion_ros" name="thrusters">
    <thruster name="left">
      <link>base_link</link> <axis>1 0 0</axis> <dynamics>first_order</dynamics>
      <time_constant>0.2</time_constant> <conversion>basic</conversion>
      <rotor_constant>2e-4</rotor_constant>
    </thruster>
  </plugin></gazebo>
</robot>"""
YAML = """/**/identify:
  ros__parameters:
    columns.speed: left
    columns.scale: wrench.force.x
/**/thrusters:
  ros__parameters:
    command_timeout: 0.3
/**/visualizer:
  ros__parameters:
    arrow_length: 0.25
"""
DT = 0.004


@pytest.fixture(scope='module')
def bench(tmp_path_factory):
    """Return a folder with a description, a parameter file and a bench run of a thruster."""
    folder = tmp_path_factory.mktemp('bench')
    (folder / 'bench.urdf').write_text(URDF)
    (folder / 'bench.yaml').write_text(YAML)
    rng = np.random.default_rng(5)
    time = np.arange(0.0, 8.0, DT)
    speed = rng.uniform(-300.0, 300.0, 40)[np.searchsorted(np.cumsum(rng.uniform(0.2, 1.0, 39)),
                                                           time)]
    actual, rows = 0.0, ['stamp,speed,scale']
    for stamp, wanted in zip(time, speed, strict=True):
        force = 3e-4 * actual * abs(actual) + rng.normal(0.0, 0.1)
        rows.append(f'{stamp:.4f},{wanted:.4f},{force:.5f}')
        actual += (1.0 - np.exp(-DT / 0.15)) * (wanted - actual)
    (folder / 'bench.csv').write_text('\n'.join(rows) + '\n')
    return folder


_PREFIX = 'propulsion_ros identify: '


FIT = ('time_constant', 'rotor_constant')


def identify(folder, capsys, *more, log=None, params=None, measured='wrench', fit=FIT):
    """Run the command on a log, by default of the bench; ``params`` is '' for no file."""
    files = [] if params == '' else ['--params-file', str(params or folder / 'bench.yaml')]
    code = cli.main([
        'identify', str(log or folder / 'bench.csv'), '--model', str(folder / 'bench.urdf'), *files,
        '--measured', measured, '--fit', ','.join(f'thrusters.{name}' for name in fit), *more,
    ])
    return code, capsys.readouterr()


def test_the_fitted_file_is_one_that_nodes_take(bench, capsys, tmp_path):
    path = tmp_path / 'fitted.yaml'
    code, printed = identify(
        bench, capsys, '--output', str(path), '--check', f'{bench / "bench.csv"}:2:6',
    )
    assert code == 0, printed.err
    report = json.loads(printed.out)
    found = report['estimates']
    for name, truth in (('time_constant', 0.15), ('rotor_constant', 3e-4)):
        own = found[f'thrusters.{name}']
        assert abs(own['value'] - truth) < 3 * own['sd'] < 0.2 * truth
    assert report['unit'] == 'N'
    assert report['rms'] == pytest.approx(0.1, rel=0.15)
    assert report['check_rms'] == pytest.approx(0.1, rel=0.15)
    assert report['rms_before'] > 1.0
    assert {'correlations', 'whiteness', 'warnings', 'unidentified'} <= set(report)
    thrusters = load(bench / 'bench.urdf', path)['thrusters']
    assert thrusters.thrust_limits
    text = path.read_text()
    assert '0.25' in text
    assert 'command_timeout: 0.3' in text


def test_a_second_fit_begins_where_the_first_ended(bench, capsys, tmp_path):
    path = tmp_path / 'fitted.yaml'
    _, first = identify(bench, capsys, '--output', str(path))
    code, second = identify(
        bench, capsys, '--params-file', str(path), fit=['rotor_constant'])
    assert code == 0
    ended, begun = (json.loads(each.out) for each in (first, second))
    assert begun['rms_before'] == pytest.approx(ended['rms'], rel=1e-4)


def test_parameter_files_are_merged_and_the_later_one_wins(bench, capsys, tmp_path):
    wins, path = tmp_path / 'wins.yaml', tmp_path / 'fitted.yaml'
    wins.write_text('/**/thrusters:\n  ros__parameters: {command_timeout: 0.7}\n')
    code, printed = identify(
        bench, capsys, '--params-file', str(wins), '--output', str(path)
    )
    assert code == 0, printed.err
    merged = ParameterFile(path)
    # The columns are those of one table: they won over those of the next fit.
    assert not merged.of('identify')
    assert merged.of('visualizer')['arrow_length'] == 0.25
    assert merged.of('thrusters')['command_timeout'] == 0.7
    absent = tmp_path / 'absent.yaml'
    code, printed = identify(bench, capsys, '--params-file', str(wins), params=absent)
    assert code == 1
    assert printed.err.startswith(f'{_PREFIX}{absent}: cannot be read')


def test_what_was_measured_is_asked_for_before_a_mass(bench, capsys):
    for measured in ('imu', 'state'):
        code, printed = identify(bench, capsys, measured=measured)
        assert code == 1
        assert 'wrench.force.x' in printed.err
        assert printed.err.endswith('; add --measured wrench\n')


def test_what_ends_at_its_bound_is_not_known(bench, capsys, monkeypatch):
    monkeypatch.setattr(free, '_SHORTEST', 0.18)
    code, printed = identify(bench, capsys)
    assert code == 0
    lag, constant = printed.err.splitlines()[1:3]
    assert re.search(r'thrusters\.time_constant .* s +at its bound$', lag)
    assert re.search(r'thrusters\.rotor_constant .*/rad\^2  known$', constant)
    assert 'time_constant: at its smallest value, 0.18: the bound holds it' in printed.err


def test_the_page_of_pictures(bench, capsys, tmp_path):
    pytest.importorskip('matplotlib')
    path = tmp_path / 'fit.png'
    code, printed = identify(bench, capsys, '--picture', str(path))
    assert code == 0, printed.err
    assert path.read_bytes()[:8] == b'\x89PNG\r\n\x1a\n'


def test_only_what_the_model_moves_is_drawn(bench, tmp_path):
    """Of a whole wrench the page has the force of the thruster; the rest is one line."""
    rng, rows = np.random.default_rng(1), (bench / 'bench.csv').read_text().splitlines()
    names = ['force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z']
    (tmp_path / 'six.csv').write_text('\n'.join([
        ','.join([rows[0], *(f'wrench.{name}' for name in names)]),
        *(','.join([row, *map(str, rng.normal(0.0, 0.02, 5))]) for row in rows[1:]), '',
    ]))
    fit = ['thrusters.time_constant', 'thrusters.rotor_constant']
    robot = read_robot(bench / 'bench.urdf', [bench / 'bench.yaml'], fit)
    request = Request(tmp_path / 'six.csv', fit, 'wrench', (None, 3.0))
    result = Session(robot, request).run()
    page = page_of_fit(result)
    result.report['estimates']['delay'] = {'value': 0.02, 'sd': 1e-3, 'unit': 's'}
    assert 'delay\xa0=\xa00.02\xa0±\xa00.001\xa0s' in page_of_fit(result).title
    assert len(page.panels) == 4
    assert all(panel.heading.startswith('force along x') for panel in page.panels)
    found, error, rest = page.title.split('\n')
    assert found.startswith('bench: time_constant\xa0=\xa00.1')
    assert found.endswith('N\xa0s²/rad²')
    assert error.startswith('six.csv: error (rms) ')
    assert re.fullmatch(
        r'not drawn \(standard deviations\): force along y z 0\.02\d? N, '
        r'torque about x y z 0\.02\d? N m', rest
    )


@pytest.mark.parametrize(('command', 'message'), [
    ('left.velocity', 'has commands alone, and nothing that was measured'),
    ('speed', 'no column is known'),
])
def test_a_table_without_a_known_measurement_is_one_line(bench, tmp_path, capsys, command, message):
    text = (bench / 'bench.csv').read_text().replace('speed', command)
    (tmp_path / 'a.csv').write_text(text)
    code, printed = identify(bench, capsys, log=tmp_path / 'a.csv', params='')
    (line,) = printed.err.splitlines()
    assert code == 1
    assert message in line


@pytest.mark.filterwarnings('error')
def test_a_parameter_that_the_conversion_does_not_use_is_not_identified(bench, capsys):
    code, printed = identify(bench, capsys, '--fit', 'thrusters.rotor_constant_left', '--to', '4')
    head, row, size, line, last = (each.removeprefix(_PREFIX) for each in printed.err.splitlines())
    assert (code, last) == (1, 'nothing was identified')
    assert head.split() == ['parameter', 'before', 'after', 'sd', 'unit', 'verdict']
    assert row.split()[0] == 'thrusters.rotor_constant_left'
    assert row.endswith('not identified')
    # Of the rotor_constant, which is fixed at 2e-4.
    assert 'wrench.force.x is 1.56 times what the model makes of it after the fit' in size
    assert 'not identified: it changes nothing that was measured; only dead_zone uses it' in line


@pytest.mark.parametrize(('tag', 'settings', 'line'), [
    ('<max_command>100', '', 'command of left reaches 29[0-9].*, its largest is 100 rad/s: in rpm? '
     'factors.speed: 0.10472'),
    ('<max_command>100', '    factors.speed: 1.0\n', 'command of left reaches 29[0-9].*, its '
     'largest is 100 rad/s'),
    ('<max_command>310', '', ''),
    ('<max_thrust>15', '', 'wrench.force.x is up to 2[0-9.]* N, above max_thrust of 15 N of left, '
     'which clips the model'),
    ('<min_thrust>-15', '', 'wrench.force.x is up to -2[0-9.]* N, above min_thrust of -15 N of '
     'left, which clips the model'),
    ('<max_thrust>30', '', ''),
])
def test_what_passes_a_limit_by_much_is_named(tag, settings, line, bench, capsys, tmp_path):
    end = f'{tag}</{tag[1:].partition(">")[0]}></thruster>'
    (tmp_path / 'bench.urdf').write_text(URDF.replace('</thruster>', end))
    (tmp_path / 'bench.yaml').write_text(YAML.replace('/**/thrusters', f'{settings}/**/thrusters'))
    shutil.copy(bench / 'bench.csv', tmp_path)
    code, printed = identify(tmp_path, capsys)
    report = json.loads(printed.out)
    assert code == all(each['value'] is None for each in report['estimates'].values())
    found = [
        each for each in report['warnings']
        if each.startswith(('command of', 'wrench.'))
    ]
    assert len(found) == bool(line)
    assert not line or re.fullmatch(line.replace('?', r'\?'), found[0])


@pytest.mark.parametrize(('old', 'new', 'words'), [
    ('speed: left', 'speed: p2', r"'p2' is nothing that is fitted; known: stamp, left, accel_x, "),
    ('time_constant,', 'tau,', r"'thrusters.tau': unknown; known: .*rotor_constant"),
])
def test_of_a_wrong_name_those_are_listed_that_there_are(old, new, words, bench, tmp_path):
    path = tmp_path / 'bench.yaml'
    path.write_text(YAML.replace(old, new))
    fit = ['thrusters.time_constant,'.replace(old, new).strip(',')]
    with pytest.raises(ConfigError, match=words):
        Session(read_robot(bench / 'bench.urdf', [path], fit),
                Request(bench / 'bench.csv', fit, 'wrench')).run()


@pytest.mark.parametrize(('option', 'value', 'problem'), [
    ('--output', 'no/fitted.yaml', 'there is no folder'),
    ('--check', 'a.csv:x:y', 'expected OTHER or OTHER:FROM:TO'),
    ('--delay', 'nan', 'expected seconds, got nan'),
    ('--delay', 'inf', 'expected seconds, got inf'),
])
def test_a_wrong_option_is_refused(bench, capsys, option, value, problem):
    code, printed = identify(bench, capsys, option, value)
    assert code == 1
    assert problem in printed.err


@pytest.mark.parametrize('is_stamped', [True, False])
@pytest.mark.parametrize('late_ns', [0, 1_700_000_000 * 10**9], ids=['simulated', 'wall'])
def test_a_bag_gives_commands_and_states(tmp_path, late_ns, is_stamped):
    """Of a simulation, whose first stamp is 0, by a recorder with a clock of its own too."""
    wire, path = Wire(), tmp_path / 'bag'
    with BagWriter(path) as bag:
        for k in range(20):
            for topic, stamp_ns in (('/thrusters/state', k * 10_000_000),
                                    ('/thrusters/command', k * 10_000_000 * is_stamped)):
                outlet = Outlet(topic, Kind.JOINTS, 'command')
                message = plain_message(
                    outlet, stamp_ns, JointRow(names=['left'], velocity=[10.0 + k])
                )
                kind = 'sensor_msgs/msg/JointState'
                data = wire.serialise(message, kind)
                bag.write(Recorded(topic, kind, late_ns + k * 10_000_000, data))
    recording = read_recording(path, Names({'left': 'velocity'}, ('left',)))
    command, state = recording.commands['left'], recording.measured['state.left.velocity']
    assert command.value.tolist() == [10.0 + k for k in range(20)]
    for each in (command, state):
        np.testing.assert_allclose(each.time, 0.01 * np.arange(20), atol=1e-9)


@pytest.mark.parametrize(('text', 'problem'), [
    ('time,a\n0,1\n1,2\n', "expected stamp or time_s as the first column, got 'time'"),
    (',stamp,a\n0,0,1\n', "first column, got ''; it has no name: leave out an index"),
    ('stamp,left.velocity\n0,1\n', 'expected rows, got 1'),
    ('stamp,left.velocity\n0,1\nnan,2\n', 'expected a finite time in seconds'),
    ('stamp,left.velocity\n0,1\n1,fast\n', "left.velocity: expected a number, got 'fast'"),
    ('stamp,left.velocity\n0,1\n1\n', 'expected 2 cells, got 1'),
])
def test_a_table_that_is_none_is_refused(text, problem, tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem.replace('.', r'\.')):
        read_recording(path, Names({'left': 'velocity'}, ('left',)))


@pytest.mark.parametrize(('more', 'note'), [
    ('acel_x,Voltage (V)', "'acel_x', did you mean 'accel_x'?, 'Voltage (V)'"),
    (','.join('abcdefgh'), "'a', 'b', 'c', 'd', 'e', 'f' and 2 more"),
])
def test_columns_that_are_not_read_are_named(more, note, tmp_path):
    """They were left out without a word, such as the voltage of every bench of a thruster."""
    path = tmp_path / 'a.csv'
    cells = ',0' * len(more.split(','))
    path.write_text(f'stamp,left.velocity,{more}\n0,1{cells}\n2,2{cells}\n')
    recording = read_recording(path, Names({'left': 'velocity'}, ('left',)))
    assert recording.notes == (f'columns that are not read: {note}',)


SAGS = """<robot name="b"><link name="base"/><link name="p"/>
  <joint name="j" type="continuous"><parent link="base"/><child link="p"/>
    <axis xyz="1 0 0"/></joint>
  <gazebo><plugin filename="propulsion_ros" name="thrusters"><silenced>body</silenced>
    <command_interface>throttle</command_interface> <esc_kind>table</esc_kind>
    <battery name="pack"><capacity>10</capacity>
      <open_circuit_voltage>17</open_circuit_voltage><nominal_voltage>16</nominal_voltage></battery>
    <thruster name="t"><joint>j</joint><rotor_constant>4e-4</rotor_constant>
      <dynamics>zero_order</dynamics><battery>pack</battery><power_constant>1</power_constant>
      <esc_curve>0 -30 0.5 0 1 30</esc_curve></thruster></plugin></gazebo></robot>"""


def sagging(folder):
    """Write a log of a pack that sags from 16 to 12 V; 50 N are those at 16 V."""
    (folder / 'sags.urdf').write_text(SAGS)
    (folder / 'sags.yaml').write_text(
        '/**/identify:\n  ros__parameters:\n    columns.U (V): pack.voltage\n'
    )
    rows = ['stamp,t.position,wrench.force.x,U (V)']
    for k in range(400):
        throttle, voltage = (0.0, 1.0, 0.5)[k // 25 % 3], 16.0 - 0.01 * k
        force = (50.0, -40.0)[throttle < 0.5] * abs(2.0 * throttle - 1.0) * (voltage / 16.0) ** 2
        rows.append(f'{0.04 * k:.2f},{throttle},{force:.6f},{voltage:.3f}')
    (folder / 'sags.csv').write_text('\n'.join(rows))
    return folder / 'sags.csv'


def test_thrust_at_the_nominal_voltage_is_fitted_with_the_measured_one(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    words = ['identify', sagging(tmp_path).name, '--model', 'sags.urdf', '--measured', 'wrench',
             '--fit', 'thrusters.esc_curve']
    assert cli.main([*words, '--params-file', 'sags.yaml']) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['warnings'] == []
    found = [each['value'] for each in report['estimates'].values()]
    np.testing.assert_allclose(found, [-40.0, 0.0, 50.0], atol=0.4)


def test_voltages_of_some_batteries_alone_are_refused(tmp_path, monkeypatch, capsys):
    """The first one would count for all."""
    monkeypatch.chdir(tmp_path)
    log = sagging(tmp_path)
    model = (tmp_path / 'sags.urdf').read_text()
    model = model.replace('<battery name="pack">', '<battery name="spare"><capacity>10</capacity>'
                          '<open_circuit_voltage>17</open_circuit_voltage>'
                          '<nominal_voltage>16</nominal_voltage></battery><battery name="pack">')
    (tmp_path / 'sags.urdf').write_text(model)
    words = ['identify', log.name, '--model', 'sags.urdf', '--measured', 'wrench', '--fit',
             'thrusters.esc_curve', '--params-file', 'sags.yaml']
    assert cli.main(words) == 1
    assert 'lacks spare.voltage' in capsys.readouterr().err


def test_voltage_of_a_battery_that_nothing_draws_from_is_refused(tmp_path):
    columns = Columns({'U (V)': 'main.voltage'}, {}, {})
    with pytest.raises(ConfigError, match='of a battery that the actuators draw from'):
        read_recording(sagging(tmp_path), Names({'t': 'position'}, ('t',), columns))


def test_rows_that_go_back_are_left_out_and_counted(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('stamp,left.velocity\n0,1\n2,2\n1,3\n3,4\n')
    recording = read_recording(path, Names({'left': 'velocity'}, ('left',)))
    assert recording.commands['left'].value.tolist() == [1, 2, 4]
    assert '1 rows are no later than the row before, the first at 1.000000 s' in recording.notes[0]


def test_the_shipped_settings_of_a_fit_are_checked(bench, capsys, tmp_path):
    wrong = tmp_path / 'wrong.yaml'
    wrong.write_text(YAML.replace('columns.speed: left', 'imu_positon: [0.0, 0.0, 0.1]'))
    assert cli.main(['check', str(wrong), '--model', str(bench / 'bench.urdf')]) == 1
    assert "did you mean 'imu_position'" in capsys.readouterr().out


def test_what_of_the_state_was_given_once_or_no_model_has_is_not_compared(bench, capsys, tmp_path):
    fields = ','.join(f'state.left.{field}' for field in ('velocity', 'effort', 'position'))
    rows, actual = [f'stamp,left.velocity,{fields}'], 0.0
    for k in range(500):
        wanted = 200.0 * (-1) ** (k // 60)
        rows.append(f'{0.01 * k:.2f},{wanted},{actual:.4f},{"0.0" if k == 0 else ""},{k}')
        actual += (1.0 - np.exp(-0.01 / 0.15)) * (wanted - actual)
    (tmp_path / 'state.csv').write_text('\n'.join(rows) + '\n')
    code, printed = identify(
        bench, capsys, log=tmp_path / 'state.csv', params='', measured='state',
        fit=['time_constant'],
    )
    assert code == 0, printed.err
    report = json.loads(printed.out)
    assert report['estimates']['thrusters.time_constant']['value'] == pytest.approx(0.15, rel=0.02)
