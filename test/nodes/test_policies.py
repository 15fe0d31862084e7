"""The shipped policies of SROS2 allow what the nodes do, and nothing else."""
from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from policy_form import read_policy
from propulsion_ros.tools import cli, policy
from propulsion_ros.tools.policy_xml import Profile, policy_text
from propulsion_ros.wiring import VEHICLES
from topic_tables import topics_of

FOLDER = Path(__file__).resolve().parent.parent.parent / 'policies'
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


def profiles(vehicle):
    _, found = read_policy((FOLDER / f'{vehicle}.policy.xml').read_text(encoding='utf-8'))
    return {profile.get('node'): profile for profile in found}


def names(profile, may, element='topic'):
    return {found.text for found in profile.iterfind(f'*[@{may}="ALLOW"]/{element}')}


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_shipped_policy_is_that_of_the_nodes(vehicle, tmp_path):
    path = tmp_path / 'policy.xml'
    assert cli.main(['policy', '--vehicle', vehicle, '--output', str(path)]) == 0
    shipped = FOLDER / f'{vehicle}.policy.xml'
    assert path.read_text(encoding='utf-8') == shipped.read_text(encoding='utf-8'), (
        f'made anew by: propulsion_ros policy --vehicle {vehicle} --output {shipped.name}'
    )


def test_every_policy_has_a_vehicle():
    assert {path.name for path in FOLDER.iterdir()} == {f'{v}.policy.xml' for v in VEHICLES}


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


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_every_lifecycle_node_answers_its_services_and_asks_none(vehicle):
    for node, profile in profiles(vehicle).items():
        answered = names(profile, 'reply', 'service')
        assert not names(profile, 'request', 'service'), node
        if node != 'robot_state_publisher':
            assert {f'/{node}/{service}' for service in SERVICES} <= answered, node
        assert all(service.startswith(f'/{node}/') for service in answered), node


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_shipped_policy_has_the_form_that_sros2_reads(vehicle):
    enclave, _ = read_policy((FOLDER / f'{vehicle}.policy.xml').read_text(encoding='utf-8'))
    assert enclave == f'/{vehicle}'


def asked(*words):
    parser = argparse.ArgumentParser()
    policy.add_arguments(parser)
    return policy.profiles_of(parser.parse_args(words))


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_no_node_leaves_its_namespace(vehicle):
    """Nodes name their topics relatively, but for those that are one for all robots."""
    for profile in asked('--vehicle', vehicle, '--visualize', '--namespace', 'fleet/one',
                         '--clock-topic', '/fleet/one/clock'):
        assert profile.namespace == '/fleet/one'
        for name in (profile.publishes | profile.subscribes) - (OUTSIDE - {'/clock'}):
            assert name.startswith('/fleet/one/'), profile.name
        for name in profile.replies | profile.requests:
            assert name.startswith(f'/fleet/one/{profile.name}/')


def test_a_robot_that_has_a_real_body_hears_no_clock():
    for profile in asked('--vehicle', 'quadrotor', '--use-sim-time', 'false'):
        assert profile.name != 'vehicle'
        assert '/clock' not in profile.publishes | profile.subscribes


@pytest.mark.parametrize(('words', 'said'), [
    pytest.param([], 'expected --vehicle or --model', id='nothing'),
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
