# SPDX-License-Identifier: Apache-2.0
"""A simulated body for any robot: what its links, plugin blocks and parameter files make of it."""
from dataclasses import replace
from types import SimpleNamespace

import pytest
import yaml

from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.simulation import Simulation, battery_topics
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.settings.errors import ConfigError

LINK = """<link name="{0}"/><joint name="{0}_joint" type="fixed">
  <parent link="base_link"/><child link="{0}"/><origin xyz="0 {1} 0"/></joint>"""
BLOCK = '<gazebo><plugin filename="propulsion_ros" name="{}">{}</plugin></gazebo>'
ROTORS = """<rotor name="r{0}"><link>l{0}</link><max_thrust>9</max_thrust>
  <motor_constant>1e-5</motor_constant></rotor>"""
FINS = """<fin name="f"><link>l3</link><chord>1 0 0</chord><span>0 1 0</span>
  <max_deflection>0.3</max_deflection>
  <quadratic><lift_constant>1</lift_constant><drag_constant>0.1</drag_constant></quadratic></fin>"""


@pytest.fixture
def robot(tmp_path):
    """Return what writes a robot with rotors, and fins where they have tags, and gives a graph."""
    def make(rotors='', fins=None, given=None, **options):
        blocks = BLOCK.format('rotors', rotors + ROTORS.format(1) + ROTORS.format(2))
        if fins is not None:
            blocks += BLOCK.format('fins', fins + FINS)
        model, settings = tmp_path / 'robot.urdf', tmp_path / 'robot.yaml'
        model.write_text(
            '<robot name="r"><link name="base_link"/>'
            + ''.join(LINK.format(f'l{i}', i) for i in (1, 2, 3)) + blocks + '</robot>'
        )
        settings.write_text(yaml.safe_dump({
            f'/**/{node}': {'ros__parameters': values} for node, values in (given or {}).items()
        } or {'/**': {'ros__parameters': {}}}))
        simulation = Simulation(params_files=(settings,) if given else (), **options)
        graph = robot_graph(model=model, simulation=simulation, allocated=['rotors'])
        return {spec.name: spec for spec in graph.nodes}

    return make


def test_body_steps_as_often_as_its_actuators_publish(robot):
    nodes = robot('<update_rate>250</update_rate>')
    body = nodes['vehicle'].parameters
    assert body['update_rate'] == 250.0
    assert body['wrench_topics'] == ['rotors/wrench']
    assert body['base_link'] == 'base_link'
    assert nodes['rotors'].parameters['use_sim_time'] is True
    assert 'step_on' not in nodes['rotors'].parameters


def test_parameter_files_win_over_the_block(robot):
    nodes = robot('<update_rate>250</update_rate>', given={'rotors': {'update_rate': 50.0}})
    assert nodes['vehicle'].parameters['update_rate'] == 50.0


def test_rate_of_the_body_is_left_to_its_file(robot):
    nodes = robot('<update_rate>200</update_rate>', given={'vehicle': {'update_rate': 100.0}})
    assert 'update_rate' not in nodes['vehicle'].parameters
    assert nodes['rotors'].parameters['publish_rate'] == 100.0


@pytest.mark.parametrize(('rotors', 'fins', 'given', 'line'), [
    pytest.param('<update_rate>250</update_rate>', '<update_rate>100</update_rate>', {},
                 "'rotors' publishes at 250 Hz where the body steps at 100 Hz: give both the same",
                 id='does not divide'),
    pytest.param('<update_rate>50</update_rate>', None, {'vehicle': {'update_rate': 100.0}},
                 "'rotors' publishes at 50 Hz where the body steps at 100 Hz: give both the same",
                 id='too slow'),
])
def test_rates_that_differ_are_both_named(robot, rotors, fins, given, line):
    with pytest.raises(ConfigError, match=line):
        robot(rotors, fins, given)


def test_group_that_is_commanded_steps_on_the_stamps_of_its_commands(robot):
    nodes = robot(fins='', wait_for=('/rotors_allocator/wrench_command', 'fins/command'))
    rotors, fins, body = (nodes[name].parameters for name in ('rotors', 'fins', 'vehicle'))
    assert (rotors['step_on'], rotors['wait_for']) == ('stamp', ['command'])
    assert (fins['step_on'], fins['wait_for']) == ('stamp', ['command', 'odometry'])
    assert body['wait_for_publishers'] == ['rotors_allocator/wrench_command', 'fins/command']
    assert body['start_timeout'] > 60.0


def test_fins_step_with_the_flow_of_their_own_stamp(robot):
    fins = robot(fins='')['fins'].parameters
    assert (fins['wait_for'], fins['reliable_inputs']) == (['clock', 'odometry'], True)
    fins = robot(fins='', given={'fins': {'wait_for': ['clock']}})['fins'].parameters
    assert 'wait_for' not in fins, 'the file has it'


def test_current_reaches_what_needs_the_flow(robot):
    nodes = robot(fins='', given={'vehicle': {'body.current': [1.0, 0.0, 0.0]}})
    assert nodes['fins'].remappings['~/current'] == 'vehicle/current'
    assert nodes['fins'].parameters['wait_for'] == ['clock', 'odometry', 'current']
    assert '~/current' not in robot(fins='')['fins'].remappings


@pytest.mark.parametrize('topic', ['rotor/command', 'rotors/state', 'command', ''])
def test_topic_that_commands_nothing_is_refused(robot, topic):
    with pytest.raises(ConfigError, match=r'commands no group .*known: rotors/command,'):
        robot(wait_for=(topic,))


@pytest.mark.parametrize('topic', ['rotors/wrench_command', 'rotors_allocator/command'])
def test_topic_of_another_kind_of_command_is_refused(robot, topic):
    """A minute later the pilot was blamed."""
    with pytest.raises(ConfigError, match=(
        f"'{topic}' is no command: rotors takes rotors/command; for a wrench wait for "
        'rotors_allocator/wrench_command$'
    )):
        robot(wait_for=(topic,))


def test_group_that_is_commanded_by_a_wrench_needs_no_allocator():
    body = robot_graph('freeflyer', simulation=Simulation(('fam/wrench_command',))).nodes[-1]
    assert body.parameters['wait_for_publishers'] == ['fam/wrench_command']
    with pytest.raises(ConfigError, match='fam takes fam/wrench_command'):
        robot_graph('freeflyer', simulation=Simulation(('fam/command',)))


def test_what_is_chosen_wins_over_files(robot):
    body = robot(
        given={'vehicle': {'real_time_factor': 2.0}},
        settings={'real_time_factor': 0.0, 'duration': 3.0},
    )['vehicle'].parameters
    assert (body['real_time_factor'], body['duration']) == (0.0, 3.0)


@pytest.mark.parametrize('given', [
    {'rotors': {'max_thrust': [-1.0]}}, {'vehicle': {'body.current': [1.0, 2.0]}},
])
def test_wrong_settings_are_refused_before_anything_starts(robot, given):
    with pytest.raises(ConfigError):
        robot(given=given)


@pytest.mark.parametrize(('fins', 'flight', 'given', 'awaited'), [
    pytest.param(None, {}, {}, ['clock'], id='nothing'),
    pytest.param('', {}, {}, ['clock', 'odometry'], id='fins'),
    pytest.param('', {'altitude_source': 'pressure'}, {}, ['clock', 'pressure', 'odometry'],
                 id='fins and pressure'),
    pytest.param(None, {'altitude_source': 'sensors'}, {}, ['clock', 'pressure', 'imu'],
                 id='sensors'),
    pytest.param(None, {'altitude_source': 'odometry'}, {}, ['clock', 'odometry'], id='odometry'),
    pytest.param(None, {'altitude_source': ['x']}, {}, ['clock'], id='what it refuses itself'),
    pytest.param('', {}, {'wait_for_subscribers': ['imu']}, None, id='the file has it'),
])
def test_first_step_waits_for_what_the_other_nodes_read(robot, fins, flight, given, awaited):
    files = {'flight_state': {'config_file': 'flight.jsonc', **flight}} if flight else {}
    body = robot(fins=fins, given={'vehicle': given, **files})['vehicle'].parameters
    assert body.get('wait_for_subscribers') == awaited


@pytest.mark.parametrize(('given', 'is_started', 'deployers'), [
    pytest.param({'flight_state': {'config_file': 'a.jsonc'}}, True, 'flight_state/deployers',
                 id='with a configuration'),
    pytest.param({'flight_state': {'altitude_source': 'pressure'}}, True, '', id='without'),
    pytest.param({'*': {'autostart': True}}, False, '', id='for every node'),
    pytest.param({'flight_state_2': {}, 'vehicle': {}}, False, '', id='another'),
])
def test_section_of_a_flight_computer_starts_it(robot, given, is_started, deployers):
    nodes = robot(given=given)
    assert ('flight_state' in nodes) == is_started
    assert nodes['vehicle'].parameters['deployer_topic'] == deployers


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_vehicles_of_the_package_have_the_same_body(vehicle):
    graph = robot_graph(vehicle)
    share = share_directory()
    simulation = Simulation(params_files=(share / 'config' / f'{vehicle}.yaml',))
    theirs = {
        spec.name: spec for spec in robot_graph(
            model=share / 'urdf' / f'{vehicle}.urdf.xacro', simulation=simulation
        ).nodes
    }
    for spec in graph.nodes:
        if spec.name == 'vehicle':
            own = {**theirs['vehicle'].parameters}
            own['deployer_topic'] = spec.parameters['deployer_topic']
            assert spec.parameters == own
        elif spec.name in theirs:
            # The configuration of its flight computer belongs to its name.
            assert replace(spec, defaults={}) == theirs[spec.name]


def test_one_battery_of_a_group_has_a_topic_without_its_name():
    blocks = [SimpleNamespace(name=name, values={'batteries.names': names} if names else {})
              for name, names in (('rotors', ['pack']), ('fins', ()), ('pods', ['a', 'b']))]
    assert battery_topics(blocks) == [
        'rotors/battery_state', 'pods/battery_state/a', 'pods/battery_state/b',
    ]
