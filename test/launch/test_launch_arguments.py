# SPDX-License-Identifier: Apache-2.0
"""What tests read of the launch files' source is what launch itself says."""
import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

import launch.logging
from launch import LaunchContext
from launch_ros.actions import LifecycleNode

from markdown_pages import REPOSITORY
from page_launch import launch_arguments
from propulsion_ros.graph.launch_actions import log_options, record_of
from propulsion_ros.graph.wiring import checked_graph, robot_graph
from propulsion_ros.settings.errors import ConfigError

ROCKET = 'rocket.launch.py'
FILES = sorted((REPOSITORY / 'launch').glob('*.launch.py'))


def described(path):
    """Return the launch description of a file."""
    spec = importlib.util.spec_from_file_location('launched', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate_launch_description()


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_arguments_are_those_of_launch(path):
    declared = described(path).get_launch_arguments()
    said = {argument.name: tuple(argument.choices or ()) for argument in declared}
    assert launch_arguments(path.name) == said


def actions(monkeypatch, *words, name='rov.launch.py', typed='rov.launch.py'):
    """Return the actions of a launch file with the words of a command line."""
    path = REPOSITORY / 'launch' / name
    monkeypatch.setattr(sys, 'argv', ['ros2', 'launch', 'propulsion_ros', typed, *words])
    context = LaunchContext(argv=list(words))
    context.extend_globals({'current_launch_file_path': str(path)})
    context.launch_configurations.update(word.split(':=') for word in words)
    *declared, start = described(path).entities
    for action in declared:
        action.visit(context)
    return start.visit(context)


@pytest.mark.parametrize(('written', 'count'), [
    ('true', 1), ('True', 1), ('1', 1), ('false', 4), ('False', 4), ('0', 4),
])
def test_booleans_are_written_as_other_packages_write_them(monkeypatch, written, count):
    found = actions(monkeypatch, f'composed:={written}')
    executables = [a for a in found if getattr(a, 'node_package', '') == 'propulsion_ros']
    assert len(executables) == count
    assert all(isinstance(action, LifecycleNode) for action in executables) == (count > 1)


def test_composed_nodes_read_their_section_of_a_namespace(monkeypatch, tmp_path):
    """They were started without the namespace, and refused the file."""
    path = tmp_path / 'robot.yaml'
    path.write_text('/a/vehicle:\n  ros__parameters: {update_rate: 25.0}\n')
    words = 'composed:=true', 'namespace:=a', f'params_file:={path}', 'duration:=3'
    (stack,) = (each for each in actions(monkeypatch, *words) if getattr(
        each, 'node_package', '') == 'propulsion_ros')
    options = [part[0].text for part in stack.cmd if hasattr(part[0], 'text')]
    body = checked_graph(options, [path]).nodes[-1].parameters
    assert body['duration'] == 3.0
    assert 'update_rate' not in body, 'the file has it'


@pytest.mark.parametrize(('word', 'said'), [
    ('log_level:=loud', r"'log_level'|\"log_level\""),
    ('clock_topic:=/a b', r"^clock_topic: expected the name of a topic, got '/a b'$"),
    ('duraton:=3', "^duraton: is no launch argument, did you mean 'duration'"),
    ('composed:=yes', 'composed'),
    ('namespace:=1a', "^namespace: expected names separated by '/', got '1a'$"),
    ('namespace:=a//b', "^namespace: expected names separated by '/', got 'a//b'$"),
    (f'record:={REPOSITORY}', '^.*: exists already; give another name, or remove it$'),
])
def test_wrong_argument_is_named_before_anything_starts(monkeypatch, tmp_path, word, said):
    monkeypatch.setenv('ROS_HOME', str(tmp_path))
    with pytest.raises((ConfigError, RuntimeError), match=said):
        actions(monkeypatch, 'use_sim_time:=false', word, name=ROCKET, typed=ROCKET)
    assert not list(tmp_path.iterdir())


def test_arguments_of_a_launch_file_that_includes_this_one_are_its_own(monkeypatch):
    assert actions(monkeypatch, 'duraton:=3', typed='fleet.launch.py')


@pytest.mark.parametrize('domain', ['300', '-1', 'nine', '9' * 30, '²'])
def test_wrong_domain_is_named_before_anything_starts(monkeypatch, domain):
    monkeypatch.setenv('ROS_DOMAIN_ID', domain)
    with pytest.raises(ConfigError, match=r'^ROS_DOMAIN_ID: expected an integer from 0 to 232'):
        actions(monkeypatch)


@pytest.mark.parametrize(('level', 'namespace', 'options'), [
    ('warn', 'a', ['--log-level', 'warn']),
    ('debug', '', ['--log-level', 'fins:=debug', '--log-level', 'boosters:=debug']),
    ('debug', '/a/b', ['--log-level', 'a.b.fins:=debug', '--log-level', 'a.b.boosters:=debug']),
])
def test_debug_lines_are_those_of_the_nodes_alone(level, namespace, options):
    given = {'log_level': level, 'namespace': namespace}
    assert log_options(given, ['fins', 'boosters']) == options


@pytest.mark.parametrize(('words', 'model'), [
    ((), 'rov'), (('model:=urdf/rov.urdf.xacro',), 'urdf/rov.urdf.xacro'),
])
def test_a_page_is_served_where_a_browser_is_named(monkeypatch, words, model):
    monkeypatch.chdir(REPOSITORY)
    started = [
        ' '.join(part[0].text for part in action.cmd)
        for action in actions(monkeypatch, 'visualize:=browser', 'namespace:=/a', *words)
        if type(action).__name__ == 'ExecuteProcess'
    ]
    assert [command.partition(" start_node('")[2] for command in started] == [
        f"propulsion_ros.tools.cli') view --live --model {model} --namespace /a"
    ]


# The flight computer that launch files start keeps a record, unless a parameter file has one.


GIVEN = {'replay': 'false', 'params_file': '', 'namespace': '', 'use_sim_time': 'false'}


def computer():
    (spec,) = [
        spec for spec in robot_graph('rocket').nodes if spec.executable == 'flight_state_node'
    ]
    return spec


@pytest.mark.parametrize('namespace', ['', 'fleet/one'])
def test_flight_computer_keeps_a_record_by_default(tmp_path, monkeypatch, namespace):
    monkeypatch.setenv('ROS_HOME', str(tmp_path))
    path = record_of(computer(), {**GIVEN, 'namespace': namespace})['state_file']
    assert path.startswith(str(tmp_path / 'propulsion_ros' / namespace))
    assert path.endswith('.json')


def test_record_of_a_simulated_flight_ends_with_its_launch(tmp_path, monkeypatch):
    # Made where it is first asked for, so before the folder that must stay empty.
    logs = launch.logging.launch_config.log_dir
    monkeypatch.setenv('ROS_HOME', str(tmp_path))
    path = Path(record_of(computer(), {**GIVEN, 'use_sim_time': 'true'})['state_file'])
    assert path.is_relative_to(logs)
    assert not list(tmp_path.iterdir())


def test_replay_keeps_none_and_a_parameter_file_names_its_own(tmp_path):
    assert record_of(computer(), {**GIVEN, 'replay': 'true'}) == {}
    own = tmp_path / 'own.yaml'
    own.write_text("flight_state:\n  ros__parameters:\n    state_file: ''\n")
    assert record_of(computer(), {**GIVEN, 'params_file': str(own)}) == {}
