# SPDX-License-Identifier: Apache-2.0
import copy
import pydoc
import re
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import propulsion_ros
from fake_host import FakeHost
from mistakes import TEXTS
from propulsion_ros import flight, models
from propulsion_ros.graph.executables import make_actuators
from propulsion_ros.graph.load import read_motor
from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.settings.errors import CommandError, ConfigError, SourceError
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.tools import cli
from propulsion_ros.tools.check import check_file


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(TEXTS['robot'])
    return path


def test_models_by_their_blocks(robot):
    models = propulsion_ros.load(robot)
    assert list(models) == ['rotors']
    output = models['rotors'].step(Command(effort=[5.0]), BodyState(), 0.01, 0)
    np.testing.assert_allclose(output.wrench, [0.0, 0.0, 5.0, 0.0, -1.0, 0.0], atol=1e-12)


def test_parameters_win(robot, tmp_path):
    (tmp_path / 'robot.yaml').write_text('rotors:\n  ros__parameters: {max_thrust: [3.0]}\n')
    models = propulsion_ros.load(robot, tmp_path / 'robot.yaml')
    assert models['rotors'].thrust_limits[1].tolist() == [3.0]


@pytest.mark.parametrize(('old', 'new', 'problem'), [
    ('<max_thrust>9', '<max_thrust>-9', r':19: gazebo/.*/max_thrust: -9 is below 0 N'),
    ('propulsion_ros', 'other', ': has no plugin block of actuators'),
])
def test_errors_name_the_file(robot, old, new, problem):
    robot.write_text(TEXTS['robot'].replace(old, new))
    with pytest.raises(ConfigError, match=f'{re.escape(str(robot))}{problem}'):
        propulsion_ros.load(str(robot))


def test_vehicles_of_the_package_have_names():
    rotors = propulsion_ros.load('quadrotor', batch=3)['rotors']
    assert rotors.step([4.0] * 4, dt=0.01).wrench.shape == (3, 6)
    assert repr(rotors).startswith("<Rotors 'rotors': front_left, front_right")
    drones = propulsion_ros.load_vehicles('quadrotor', count=2)
    for _ in range(10):
        drones.step({'rotors': [6.0] * 4}, 0.01)
    # Of config/quadrotor.yaml.
    assert drones.bodies._params.drag_area.tolist() == [0.012, 0.012, 0.02]
    for given, dt, text in (
        ({'rotor': [6.0] * 4}, 0.01, "unknown group 'rotor', known: rotors"),
        ({'rotors': [6.0] * 3}, 0.01, r'rotors: expected 4 numbers .* got 3'),
        (np.ones((2, 4)), 0.01, r'expected a mapping with a group \(rotors\), got ndarray'),
        ({}, '0.01s', "dt: expected the seconds of a step, .* got '0.01s'"),
    ):
        with pytest.raises(CommandError, match=text):
            drones.step(given, dt)
    with pytest.raises(ConfigError, match=r'expected values by name \(position, .* got list'):
        drones.reset(state=[0.0, 0.0, 1.0])


def test_models_are_taken_by_their_groups():
    models = copy.deepcopy(propulsion_ros.load('quadrotor'))
    with pytest.raises(AttributeError, match=r"expected one of .* as \['rotors'\]\.step"):
        models.step(np.ones(4))
    with pytest.raises(AttributeError, match=r"expected one of .* as \['rotors'\]$"):
        _ = models.rotors
    with pytest.raises(KeyError, match=r"unknown group 'motors', did you mean 'rotors'.*: rotors"):
        models['motors']


@pytest.mark.parametrize('batch', [0, 2.0, 'a', (2, -1), None, True])
def test_a_batch_is_a_number(robot, batch):
    with pytest.raises(ConfigError, match=r"'batch': expected how many robots, .*, got"):
        propulsion_ros.load(robot, batch=batch)
    with pytest.raises(ConfigError, match=r"'count': expected how many robots, 64, got"):
        propulsion_ros.load_vehicles(robot, count=batch)


@pytest.mark.parametrize('batch', [10**12, (10**4, 10**4)])
def test_a_batch_fits_into_a_computer(batch):
    with pytest.raises(ConfigError, match="'batch': expected at most 10000000 robots, got"):
        propulsion_ros.load('quadrotor', batch=batch)


def test_misspelt_vehicle():
    with pytest.raises(ConfigError, match="neither a file nor a vehicle, did you mean 'quadrotor'"):
        propulsion_ros.load('quadrotr')
    with pytest.raises(ConfigError, match=r'hexa: is neither .*; vehicles are rocket, quadrotor, '):
        propulsion_ros.load('hexa')


@pytest.mark.parametrize('package', [propulsion_ros, models, flight])
def test_public_names_are_there(package):
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []
    with pytest.raises(AttributeError, match='no_such'):
        _ = package.no_such


@pytest.mark.parametrize('package', [propulsion_ros, models, flight])
def test_the_reference_has_every_public_name(package):
    page = pydoc.render_doc(package, renderer=pydoc.plaintext)
    names = [name for name in package.__all__ if not name.startswith('__')]
    assert [name for name in names if name not in page] == []


def test_importing_the_package_loads_nothing_else():
    code = 'import sys, propulsion_ros, propulsion_ros.models; print("numpy" in sys.modules)'
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    assert done.stdout == 'False\n'


def test_models_and_flight_come_with_the_package():
    code = ('import propulsion_ros as p; print(p.models.Rotors.__name__, p.flight.__name__); '
            'p.nodes')
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert done.stdout == 'Rotors propulsion_ros.flight\n'
    assert "module 'propulsion_ros' has no attribute 'nodes'" in done.stderr


@pytest.mark.parametrize('given', [3, 0, {}, {'rotors': {}}, np.ones(2), ''])
def test_what_is_no_path_opens_nothing(given):
    """A number is a descriptor to `open`, which reads and closes it."""
    for words, key in ((('quadrotor', given), 'parameters'), ((given,), 'robot')):
        with pytest.raises(ConfigError, match=f"'{key}': expected the path of a file, got"):
            propulsion_ros.load_vehicles(*words)


def test_a_parameter_file_that_is_absent_is_named_alone():
    with pytest.raises(ConfigError, match=r'^absent\.yaml: cannot be read'):
        propulsion_ros.load('quadrotor', 'absent.yaml')


def written(folder, **sections):
    """Return a parameter file with the parameters of each node."""
    path = folder / f'{len(list(folder.iterdir()))}.yaml'
    path.write_text(''.join(
        f'/**/{node}:\n  ros__parameters: {{{values}}}\n' for node, values in sections.items()
    ))
    return path


def test_states_in_the_place_of_indices_are_refused():
    state = {'position': [0.0, 0.0, 1.0]}
    for vehicles in (propulsion_ros.load_vehicles('quadrotor', count=2),
                     propulsion_ros.load('quadrotor', batch=2)['rotors'],
                     propulsion_ros.load('quadrotor')['rotors']):
        with pytest.raises(ConfigError, match=r"'indices': expected which .* are state=\{...\}"):
            vehicles.reset(state)


def test_later_parameter_files_win(robot, tmp_path):
    first = written(tmp_path, vehicle='body.start_position: [0.0, 0.0, 7.0], body.ground: false')
    later = written(tmp_path, vehicle='body.start_position: [0.0, 0.0, 9.0]', rotors='')
    for files, height in (([first, later], 9.0), ((later, str(first)), 7.0)):
        vehicles = propulsion_ros.load_vehicles('quadrotor', files, 2)
        assert vehicles.bodies.position[:, 2].tolist() == [height, height]
        assert not vehicles.bodies._params.ground
    wins = written(tmp_path, rotors='max_thrust: [3.0]')
    assert propulsion_ros.load(robot, [first, wins])['rotors'].thrust_limits[1].tolist() == [3.0]
    with pytest.raises(ConfigError, match=r'^absent\.yaml: cannot be read'):
        propulsion_ros.load_vehicles('quadrotor', [first, 'absent.yaml'])
    # Of several, the one that gives what is wrong.
    wrong = written(tmp_path, rotors='max_thrust: [-9.0]')
    for files in ([wrong, first], [first, wrong]):
        with pytest.raises(ConfigError, match=f'^{wrong}:2: rotors: .*max_thrust'):
            propulsion_ros.load(robot, files)


@pytest.mark.parametrize(('node', 'values', 'problem'), [
    ('vehicle', 'body.start_positon: [0.0, 0.0, 1.0]',
     "vehicle: parameter 'body.start_positon': unknown, did you mean 'body.start_position'?"),
    ('vehicle', 'drag_area: [0.1, 0.1, 0.1]',
     "vehicle: parameter 'drag_area': unknown, did you mean 'body.drag_area'?"),
    ('rotors', 'max_trust: [9.0]',
     "rotors: parameter 'max_trust': unknown, did you mean 'max_thrust'?"),
    ('rotors', 'max_thrust: [-9.0]', "rotors: parameter 'max_thrust[0]': -9 is below 0 N"),
    ('rotor', 'command_timeout: 1.0', "rotor: not a node that this knows, did you mean 'rotors'?"),
    # What a family is called, where the robot has no block of that name.
    ('thrusters', 'command_timeout: 1.0', 'thrusters: not a node that this knows; the robot has '
     'rotors, flight_state, vehicle, visualizer'),
    ('thruster_allocator', 'method: clip', "thruster_allocator: parameter 'plugin': no plugin "
     "block 'thruster'; found: rotors"),
])
def test_what_check_refuses_is_refused_in_the_same_words(robot, tmp_path, node, values, problem):
    file = written(tmp_path, **{node: values})
    (line,) = check_file(file, robot).faults
    assert problem in line
    for load in (propulsion_ros.load, propulsion_ros.load_vehicles):
        with pytest.raises(ConfigError, match=f'^{re.escape(line)}$'):
            load(robot, file)


@pytest.mark.parametrize(('node', 'values', 'meant'), [
    pytest.param('mixer_allocator', 'plugin: rotors', 'rotors_allocator', id='allocator'),
    pytest.param('mixer', 'plugin: rotors', 'rotors', id='group'),
    pytest.param('body', 'body.ground: false', 'vehicle', id='body'),
    pytest.param('hull', 'max_thrust: [9.0]', 'rotors', id='parameters of a group'),
])
def test_section_that_nothing_reads_is_named(
    robot, tmp_path, capsys, monkeypatch, node, values, meant
):
    """It was lost without a word."""
    file = written(tmp_path, **{node: values})
    problem = f'{node}: `fly` and launch files start no node of this name, so nothing reads it'
    with pytest.warns(UserWarning, match=f'^{file}:1: {problem}; write {meant}$'):
        propulsion_ros.load(robot, file)
    report = check_file(file, robot)
    assert problem in ''.join(report.warnings) or 'not a node that this' in ''.join(report.faults)
    monkeypatch.setattr('propulsion_ros.tools.fly._fly', lambda *given: None)
    assert cli.main(['fly', str(robot), '--params-file', str(file)]) == 0
    assert f'propulsion_ros fly: {file}:1: {problem}' in capsys.readouterr().err


def test_nodes_of_others_stand_in_the_same_file(robot, tmp_path):
    assert propulsion_ros.load(robot, written(tmp_path, controller='gain: 1.0'))


@pytest.mark.parametrize('vehicle', ['rocket', 'quadrotor', 'rov', 'freeflyer', 'cubesat'])
def test_every_node_of_the_files_of_a_vehicle_is_known(vehicle):
    demo = share_directory() / 'config' / f'{vehicle}_demo.yaml'
    assert propulsion_ros.load(vehicle, demo)


@pytest.mark.parametrize(('values', 'line'), [
    ('time_constant_up: [0.08]', "parameter 'time_constant_up': [0.08] wins over the robot "
     "description's [0.03, 0.05, 0.05, 0.05]; to keep some, give a list"),
    ("thrust_curve: '0 1e-3 1.1e-5'", "parameter 'thrust_curve': 0 1e-3 1.1e-5 wins over the robot "
     "description's motor_constant [2e-05, 1e-05, 1e-05, 1e-05]; to keep some, give a list"),
    (f"thrust_curve: '0 1e-3 1.1e-5{' 0.0' * 40}'", "parameter 'thrust_curve': 0 1e-3 1.1e-5"
     f"{' 0.0' * 20} ... wins over the robot description's motor_constant [2e-05, 1e-05, 1e-05, "
     '1e-05]; to keep some, give a list'),
    ('time_constant_up: [0.08, 0.05, 0.05, 0.05]', ''), ('max_thrust: [7.0]', ''),
    ("thrust_curve: ['', '0 1e-3 1.1e-5', '', '']", ''),
])
def test_one_value_over_unlike_ones_is_a_line_of_check_load_and_node(
    tmp_path, capsys, values, line
):
    """As a file that was fitted to one motor."""
    robot, text = tmp_path / 'robot.urdf', TEXTS['quadrotor']
    robot.write_text(text.replace('>1e-5<', '>2e-5<', 1).replace('>0.05<', '>0.03<', 1))
    file = written(tmp_path, rotors=f'{values}, command_timeout: 0.7')
    report = check_file(file, robot)
    assert report.faults == []
    place = f'{file}:2: rotors: {line}'
    won = [each for each in report.warnings if 'wins over' in each]
    assert won == ([place.replace(':2: ', ':2: warning: ')] if line else [])
    with warnings.catch_warnings(record=True) as caught:
        propulsion_ros.load(robot, file)
        propulsion_ros.load_vehicles(robot, file)
    assert [str(each.message) for each in caught] == ([place] * 2 if line else [])
    assert {each.filename for each in caught} <= {__file__}
    given, host = ParameterFile(file).of('rotors'), FakeHost()
    make_actuators(GivenParameters('rotors', {
        **given, 'robot_description': robot.read_text()}), host)
    assert host.said('warn') == ([line] if line else [])


def test_errors_of_programs_are_one_line_below_their_own(robot, tmp_path):
    file = written(tmp_path, rotors='max_trust: [9.0], max_thrusts: [1.0]')
    for load in (propulsion_ros.load, propulsion_ros.load_vehicles):
        with pytest.raises(ConfigError, match=r'1 more, which .* lists') as found:
            load(robot, file)
        assert len(found.traceback) == 2
        assert ''.join(traceback.format_exception(found.value)).count('Traceback') == 1


def test_what_a_batch_has_not_is_named_by_its_line(tmp_path):
    file = written(tmp_path, vehicle='body.rail_length: 2.0')
    line = f"^{file}:2: vehicle: parameter 'body.rail_length': is known to nodes and studies only"
    with pytest.raises(ConfigError, match=line):
        propulsion_ros.load_vehicles('quadrotor', file)


FILE = Path(__file__).resolve().parents[1] / 'data' / 'motors.eng'
HEADER = 'M1 18 70 0 0.02 0.05 Nobody\n'


def test_a_motor_of_a_file():
    assert read_motor(FILE, 'T11').max_thrust == 20.0


def test_the_only_motor_needs_no_name(tmp_path):
    file = tmp_path / 'one.eng'
    file.write_text('\ufeff' + HEADER + '0.0 5\n1 5\n1.5 0\n', encoding='utf-8')
    motor = read_motor(file)
    assert (motor.name, motor.total_impulse) == ('M1', 6.25)


def test_comments_may_be_in_any_encoding(tmp_path):
    file = tmp_path / 'one.eng'
    file.write_bytes(b'; caf\xe9\n' + HEADER.encode() + b'0.0 5\n1 5\n1.5 0\n')
    assert read_motor(file).name == 'M1'


@pytest.mark.parametrize(('name', 'problem'), [
    pytest.param('', 'motors.eng: expected one motor, no name was given', id='two'),
    pytest.param('X1', "motors.eng: expected one motor, 0 motors named 'X1'", id='other'),
])
def test_which_motor_must_be_clear(name, problem):
    with pytest.raises(SourceError, match=problem):
        read_motor(FILE, name)


def test_a_file_that_is_not_there():
    with pytest.raises(SourceError, match=r'^none\.eng: cannot be read: No such file'):
        read_motor('none.eng')
