# SPDX-License-Identifier: Apache-2.0
"""The policies of SROS2 allow what the nodes of the launch files do, and nothing else."""
from __future__ import annotations

import gc
from pathlib import Path

import pytest

from parts import few_of
from policy_cases import FOREIGN, SHIPPED, asked, write_bag
from policy_form import read_policy
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.tools import cli
from propulsion_ros.tools.policy_xml import Profile, policy_text
from topic_tables import topics_of

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / 'policies'
ROBOTS = [name for name in SHIPPED if name != 'recorder']
OF_ALL = {'/parameter_events', '/rosout'}
OUTSIDE = {*OF_ALL, '/diagnostics', '/clock'}
"""Topics that are not below a robot's namespace."""
SERVICES = {
    'change_state', 'describe_parameters', 'get_available_states', 'get_available_transitions',
    'get_parameter_types', 'get_parameters', 'get_state', 'get_transition_graph',
    'get_type_description', 'list_parameters', 'set_parameters', 'set_parameters_atomically',
}
"""Of every lifecycle node."""
OF_PUBLISHER = {'robot_description', 'tf', 'tf_static'}


def profiles(name):
    _, found = read_policy((FOLDER / f'{name}.policy.xml').read_text(encoding='utf-8'))
    return {profile.get('node'): profile for profile in found}


def names(profile, may, element='topic'):
    return {found.text for found in profile.iterfind(f'*[@{may}="ALLOW"]/{element}')}


@pytest.fixture(autouse=True)
def collect():
    """Leave no node: of those with one name in a process only the first has /rosout."""
    gc.collect()


@pytest.mark.parametrize('name', SHIPPED)
def test_shipped_policy_is_that_of_the_nodes(name, tmp_path):
    path = tmp_path / 'policy.xml'
    assert cli.main(['policy', *SHIPPED[name], '--output', str(path)]) == 0
    shipped = FOLDER / f'{name}.policy.xml'
    assert path.read_text(encoding='utf-8') == shipped.read_text(encoding='utf-8'), (
        f'made anew by: propulsion_ros policy {" ".join(SHIPPED[name])} --output {shipped.name}'
    )


def test_every_launch_file_has_a_policy_but_that_of_any_robot():
    assert {path.name for path in FOLDER.iterdir()} == {f'{name}.policy.xml' for name in SHIPPED}
    launched = {path.name.split('.')[0] for path in (ROOT / 'launch').glob('*.launch.py')}
    assert launched == {name.split('_')[0].replace('recorder', 'record') for name in SHIPPED} | {
        'bringup'
    }


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_topics_are_those_of_the_vehicles_page(vehicle):
    """The page's table is held to the running graph by another test."""
    found = set()
    for node, profile in profiles(vehicle).items():
        found |= names(profile, 'publish') | names(profile, 'subscribe')
        assert names(profile, 'publish') >= OF_ALL, node
    ours = {f'/{node}/transition_event' for node in profiles(vehicle)}
    assert found - OUTSIDE - ours - {f'/{topic}' for topic in OF_PUBLISHER} == (
        topics_of(vehicle).keys() - OUTSIDE
    )


@pytest.mark.parametrize('name', ROBOTS)
def test_every_lifecycle_node_answers_its_services_and_asks_none(name):
    for node, profile in profiles(name).items():
        answered = names(profile, 'reply', 'service')
        asks = names(profile, 'request', 'service')
        assert all(service.startswith(f'/{node}/') for service in answered), node
        if node in FOREIGN:
            assert bool(asks) == (node == 'launch_ros_*'), node
        else:
            assert not asks, node
            assert {f'/{node}/{service}' for service in SERVICES} <= answered, node


@pytest.mark.parametrize('name', SHIPPED)
def test_shipped_policy_has_the_form_that_sros2_reads(name):
    enclave, _ = read_policy((FOLDER / f'{name}.policy.xml').read_text(encoding='utf-8'))
    assert enclave == f'/{name}'


@pytest.mark.parametrize('name', ROBOTS)
def test_robot_may_do_nothing_by_a_wildcard(name):
    for node, profile in profiles(name).items():
        for rule in profile.iterfind('*/*'):
            assert '*' not in rule.text.removeprefix('/launch_ros_*/'), node


@pytest.mark.parametrize('topic', [
    pytest.param('/*', id='wildcard'), pytest.param('/a</topic><topic>/*', id='markup'),
    pytest.param('a', id='relative'),
])
def test_no_bag_gets_more_than_its_topics(tmp_path, capsys, topic):
    bag = write_bag(tmp_path / 'bag', topic)
    assert cli.main(['policy', '--play', str(bag)]) == 1
    error = capsys.readouterr().err
    assert f'{topic!r} is no name of a topic' in error
    assert error.count('\n') == 1


@pytest.mark.parametrize('vehicle', few_of(VEHICLES, 2))
@pytest.mark.parametrize('more', [
    pytest.param(['--clock-topic', '/fleet/one/clock'], id='simulated'),
    pytest.param(['--gazebo', 'system'], id='Gazebo'),
])
def test_no_node_leaves_its_namespace(vehicle, more):
    """Nodes name their topics relatively, but for those that are one for all robots."""
    outside = OUTSIDE if '--gazebo' in more else OUTSIDE - {'/clock'}
    for profile in asked('--vehicle', vehicle, '--visualize', '--namespace', 'fleet/one', *more):
        if profile.name in ('launch_ros_*', 'ros_gz_sim'):
            assert profile.namespace == '/'
            own = {f'/{profile.name}/{service}' for service in SERVICES}
        else:
            assert profile.namespace == '/fleet/one'
            own = set()
        for name in (profile.publishes | profile.subscribes) - outside:
            assert name.startswith('/fleet/one/'), profile.name
        for name in profile.replies - own:
            assert name.startswith(f'/fleet/one/{profile.name}/')
        for name in profile.requests:
            assert name.startswith('/fleet/one/')


def test_a_robot_that_has_a_real_body_hears_no_clock():
    for profile in asked('--vehicle', 'quadrotor', '--use-sim-time', 'false'):
        assert profile.name != 'vehicle'
        assert '/clock' not in profile.publishes | profile.subscribes


@pytest.mark.parametrize(('words', 'said'), [
    pytest.param([], 'arguments: expected --vehicle, --model, --record or --play', id='nothing'),
    pytest.param(['--vehicle', 'rov', '--params-file', 'absent.yaml'],
                 "failed to initialize rcl: Couldn't parse params file", id='no settings'),
    pytest.param(['--vehicle', 'rov', '--namespace', 'a-b'], 'Invalid namespace: namespace must',
                 id='namespace'),
    pytest.param(['--model', 'absent.urdf'], 'absent.urdf: cannot be read', id='no model'),
    pytest.param(['--vehicle', 'rov', '--enclave', 'rov'], 'enclave: expected a path such as',
                 id='relative enclave'),
    pytest.param(['--vehicle', 'rov', '--enclave', '/a"b'], 'enclave: expected a path such as',
                 id='quoted enclave'),
    pytest.param(['--vehicle', 'rov', '--output', 'absent/x.xml'], 'absent/x.xml: No such file',
                 id='no folder'),
    pytest.param(['--model', 'x.urdf', '--gazebo', 'system'], '--gazebo: expected --vehicle too',
                 id='Gazebo without a vehicle'),
    pytest.param(['--vehicle', 'rocket', '--gazebo', 'bridge'],
                 'robot/link[name=booster_1_ring]: expected an <inertial>', id='no such route'),
    pytest.param(['--vehicle', 'rov', '--gazebo', 'system', '--use-sim-time', 'false'],
                 '--gazebo: does not go with --use-sim-time', id='not of Gazebo'),
    pytest.param(['--record', '--vehicle', 'rov'], '--record: does not go with --vehicle',
                 id='two at once'),
    pytest.param(['--record', 'a b'], "topic: expected a whole name such as /a/b, got '/a b'",
                 id='no topic'),
    pytest.param(['--play', 'absent.mcap'], 'absent.mcap: ', id='no bag'),
])
def test_what_is_wrong_is_one_line(words, said, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert cli.main(['policy', *words]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f'propulsion_ros policy: {said}')
    assert error.count('\n') == 1


def test_rules_are_sorted_and_empty_ones_left_out():
    text = policy_text('/a/b', [Profile('n', '/s', frozenset({'/y', '/x'}))])
    assert text.count('ALLOW') == 1
    assert text.index('/x') < text.index('/y')
