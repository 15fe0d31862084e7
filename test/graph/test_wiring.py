# SPDX-License-Identifier: Apache-2.0
"""The nodes of a graph, how they are joined, and parameter files that they would not read."""
from contextlib import nullcontext
from pathlib import Path

import pytest

from mistakes import TEXTS
from propulsion_ros.graph.share import read_description, robot_files, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import (
    check_settings,
    checked_graph,
    gazebo_graph,
    inputs_of,
    robot_graph,
)
from propulsion_ros.replay.host import Bus
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.study.closed_loop import running
from propulsion_ros.tools.check import check_file
from propulsion_ros.tools.cli import main

SETTINGS = '{}:\n  ros__parameters:\n    command_timeout: 1.0\n'


@pytest.fixture
def settings(tmp_path):
    """Return a writer of a file for a pattern of node names."""
    def write(pattern):
        path = tmp_path / 'settings.yaml'
        path.write_text(SETTINGS.format(pattern))
        return path
    return write


@pytest.mark.parametrize(('pattern', 'namespace'), [
    pytest.param('/**/rotors', '', id='any namespace'),
    pytest.param('/**/rotors', 'a', id='any namespace, in one'),
    pytest.param('/**', '/a', id='every node'),
    pytest.param('rotors', '', id='a name'),
    pytest.param('/a/rotors', 'a', id='a full name'),
])
def test_file_with_settings_for_a_node_is_taken(settings, pattern, namespace):
    check_settings(robot_graph('quadrotor'), [settings(pattern)], namespace)


@pytest.mark.parametrize(('pattern', 'namespace', 'problem'), [
    pytest.param('/**/rotor', '', "'/**/rotor' is no node here, did you mean '/rotors'?",
                 id='misspelt'),
    pytest.param('rotors', '/a', "'/rotors' is no node here, did you mean '/a/rotors'?",
                 id='without its namespace'),
    pytest.param('/b/rotors', 'a', "'/b/rotors' is no node here, did you mean '/a/rotors'?",
                 id='of another namespace'),
])
def test_file_for_other_nodes_is_refused(settings, pattern, namespace, problem):
    path = settings(pattern)
    with pytest.raises(SourceError) as caught:
        check_settings(robot_graph('quadrotor'), [path], namespace)
    assert str(caught.value) == f'{path}: {problem}'


@pytest.mark.parametrize('name', ['vehicle', 'rotors_allocator', 'boosters'])
def test_file_for_another_part_of_the_robot_is_taken(settings, name):
    # A replay leaves body and allocators out, and their settings may be all that there are.
    check_settings(robot_graph('quadrotor', replay=True), [settings(f'/**/{name}')])


LIFTER = (Path(__file__).parents[2] / 'examples/hexacopter/hexacopter.urdf').read_text(
    encoding='utf-8'
).replace('name="rotors">', 'name="lift"><family>rotors</family>')


@pytest.mark.parametrize('words', [
    ['--duration', '3'], ['--wait-for', 'rotors/command'], ['--real-time-factor', '0'],
])
def test_what_is_of_the_simulated_body_is_refused_without_one(tmp_path, words):
    """It was ignored without a word."""
    model = tmp_path / 'lifter.urdf'
    model.write_text(LIFTER)
    with pytest.raises(ConfigError, match='is of the simulated body: add --simulate, to a launch'):
        checked_graph(['--model', str(model), *words], [])


@pytest.mark.parametrize(('sections', 'namespace', 'line'), [
    pytest.param(['/**/lift_allocator', '/**/rotors'], '', 4, id='its family'),
    pytest.param(['/a/rotors'], 'a', 1, id='in a namespace'),
    pytest.param(['/**/rotors', '/**/lift'], '', 0, id='for another robot too'),
    pytest.param(['/a/rotors'], 'b', 0, id='in another namespace'),
    pytest.param(['/**/thrusters'], '', 0, id='a family that it has not'),
])
def test_section_named_as_the_family_of_a_group_is_refused(
    tmp_path, sections, namespace, line
):
    """It was ignored without a word; `check` has the same text."""
    model, path = tmp_path / 'lifter.urdf', tmp_path / 'fitted.yaml'
    model.write_text(LIFTER)
    path.write_text(''.join(map(SETTINGS.format, sections)))
    words = ['--model', str(model), '--allocate', 'lift', '--namespace', namespace]
    with pytest.raises(SourceError) if line else nullcontext() as caught:
        checked_graph(words, [path])
    text = (f"{path}:{line}: rotors: not a node that this knows, did you mean 'lift'?; the robot "
            'has lift, flight_state, vehicle, visualizer')
    assert not line or str(caught.value) == text
    assert not line or text in check_file(path, model).faults


def test_each_of_several_files_is_looked_at(settings, tmp_path):
    other = tmp_path / 'other.yaml'
    other.write_text(SETTINGS.format('/**/rotor'))
    with pytest.raises(SourceError, match=r'other\.yaml: '):
        check_settings(robot_graph('quadrotor'), [settings('/**/rotors'), other])


@pytest.mark.parametrize('name', ['push.csv', 'push_bag'])
def test_replay_refuses_it_too(settings, tmp_path, capsys, name):
    table = tmp_path / 'push.csv'
    table.write_text('stamp,front_left.effort\n1.0,2.0\n')
    model = share_directory() / 'urdf' / 'quadrotor.urdf.xacro'
    target = tmp_path / name.replace('push', 'out')
    assert main([
        'replay', str(settings('/**/rotor')), str(table), str(target), '--model', str(model),
    ]) == 1
    assert "'/**/rotor' is no node here, did you mean '/rotors'?" in capsys.readouterr().err


@pytest.mark.parametrize('vehicle', VEHICLES)
@pytest.mark.parametrize('is_simulated', [False, True])
def test_all_nodes_of_a_robot_have_the_same_time(vehicle, is_simulated):
    graph = robot_graph(vehicle, use_sim_time=is_simulated, drawn_with=())
    # The vehicle publishes the simulated time.
    nodes = [spec for spec in graph.nodes if spec.executable != 'vehicle_node']
    assert {spec.parameters['use_sim_time'] for spec in nodes} == {is_simulated}


@pytest.mark.parametrize('name', VEHICLES)
def test_flight_computer_is_started_again_within_half_a_second_of_its_end(name):
    delays = [
        spec.respawn_delay for spec in robot_graph(name).nodes
        if spec.executable == 'flight_state_node'
    ]
    assert all(delay is not None and 0.0 <= delay <= 0.5 for delay in delays)
    assert len(delays) == (name == 'rocket')


@pytest.mark.parametrize(('families', 'found'), [
    pytest.param({'module': 'fam'}, {
        '~/command': 'module/state', '~/wrench_command': 'module/wrench_command',
        '~/inertia': 'module/inertia',
    }, id='its commander'),
    pytest.param({'left': 'fam', 'right': 'fam'}, {}, id='two that could be'),
    pytest.param({'rotors': 'rotors'}, {}, id='none'),
])
def test_inputs_come_from_the_only_commander(families, found):
    assert inputs_of('inverse_fam', families) == found


@pytest.mark.parametrize('node', ['flight_state', '/**/flight_state', '/flight_state'])
def test_events_of_an_own_file_are_flown_and_not_those_of_the_vehicle(tmp_path, node):
    """It was ignored without a word."""
    path = tmp_path / 'mine.yaml'
    path.write_text(f'{node}:\n  ros__parameters:\n    config_file: nowhere.jsonc\n')
    shipped = checked_graph(['--vehicle', 'rocket'], [])
    (flown,) = [spec for spec in shipped.nodes if spec.name == 'flight_state']
    assert flown.parameters['config_file'].endswith('rocket_flight.jsonc')
    graph = checked_graph(['--vehicle', 'rocket'], [path])
    (flown,) = [spec for spec in graph.nodes if spec.name == 'flight_state']
    assert 'config_file' not in flown.parameters
    spec = next(spec for spec in robot_graph('rocket').nodes if spec.name == 'flight_state')
    with pytest.raises(ConfigError, match='nowhere'):
        running(spec, [path], Bus(lambda *message: None), lambda line: None)


@pytest.mark.parametrize('inside', [False, True])
def test_actuators_are_nodes_unless_they_run_inside_gazebo(inside):
    nodes = {spec.name: spec for spec in gazebo_graph('quadrotor', inside).nodes}
    assert 'vehicle' not in nodes
    assert ('rotors' in nodes) != inside
    if 'rotors' in nodes:
        assert nodes['rotors'].parameters['publish_numbers']


def test_actuators_in_gazebo_need_not_step_as_a_simulated_body_does(tmp_path):
    model = tmp_path / 'robot.urdf'
    model.write_text(TEXTS['quadrotor'])
    for inside in (False, True):
        assert gazebo_graph('quadrotor', inside, model).nodes


ROBOT = share_directory() / 'urdf' / 'quadrotor.urdf.xacro'
GROUP = """\
/**:
  ros__parameters: {update_rate: 50.0}
/**/rotors:
  ros__parameters:
    update_rate: 100.0
    publish_each: true
    max_thrust: [3.0]
    time_constant_up: [0.2]
/**/rotors_allocator:
  ros__parameters: {time_constant_up: [0.3], method: clipped}
"""


def allocator_of(group, words, *files):
    specs = checked_graph([*words, '--allocate', group], files).nodes
    return next(spec for spec in specs if spec.executable == 'allocator_node')


@pytest.mark.parametrize('words', [
    pytest.param(['--vehicle', 'quadrotor'], id='vehicle'),
    pytest.param(['--model', str(ROBOT)], id='robot'),
])
def test_allocator_takes_the_settings_of_its_group_and_its_own_win(words, tmp_path):
    """Another thrust than that of its group would be a silent wrong force."""
    path = tmp_path / 'robot.yaml'
    path.write_text(GROUP)
    spec = allocator_of('rotors', words, path)
    taken = {key: spec.parameters.get(key) for key in ('update_rate', 'max_thrust')}
    assert taken == {'update_rate': 100.0, 'max_thrust': [3.0]}
    assert {'publish_each', 'time_constant_up', 'method'}.isdisjoint(spec.parameters)
    running(spec, [path], Bus(lambda *message: None), lambda line: None)


def test_allocator_takes_the_settings_that_a_vehicle_has_for_its_group(tmp_path):
    spec = allocator_of('boosters', ['--vehicle', 'rocket'])
    assert spec.parameters['tanks.starting_fuel_ratio'] == [0.3]


@pytest.mark.parametrize('curve', ['', 'esc_curve: ["0 600"]'], ids=['nowhere', 'in the file'])
def test_what_only_a_file_gives_a_group_is_not_missing_for_its_allocator(tmp_path, capsys, curve):
    model, path = tmp_path / 'robot.urdf', tmp_path / 'robot.yaml'
    model.write_text(read_description(ROBOT).text.replace(
        '<update_rate>', '<esc_gives>speed</esc_gives>'
        '<command_interface>throttle</command_interface> <update_rate>'
    ))
    path.write_text(f'/**/rotors:\n  ros__parameters: {{{curve}}}\n'
                    '/**/rotors_allocator:\n  ros__parameters: {method: clipped}\n')
    assert main(['check', str(path), '--model', str(model)]) == (0 if curve else 1)
    assert capsys.readouterr().out.count('esc_curve: is required') == (0 if curve else 1)
    spec = allocator_of('rotors', ['--model', str(model)], path)
    with nullcontext() if curve else pytest.raises(ConfigError, match='esc_curve'):
        running(spec, [path], Bus(lambda *message: None), lambda line: None)


def test_a_description_named_as_a_vehicle_is_that_file(tmp_path, monkeypatch):
    """A robot got the simulated body of the vehicle of that name, without being simulated."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match='rocket: cannot be read'):
        checked_graph(['--model', 'rocket'], [])
    path, _ = robot_files('rocket')
    Path('rocket').write_text(read_description(path).text)
    assert 'vehicle' not in [node.name for node in checked_graph(['--model', 'rocket'], []).nodes]
