# SPDX-License-Identifier: Apache-2.0
"""The policies of SROS2 allow what the nodes of the vehicles do, and nothing else."""
from __future__ import annotations

from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path

import pytest
import rclpy

from parts import few_of
from policy_form import LAUNCH, read_policy, seen
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.nodes.stack import make_node
from ros_graph import close
from topic_tables import topics_of

FOLDER = Path(__file__).resolve().parent.parent.parent / 'policies'
FOREIGN = {LAUNCH, 'robot_state_publisher'}
"""Nodes of other packages that a launch file starts."""
OUTSIDE = {'/parameter_events', '/rosout', '/diagnostics', '/clock'}
"""Topics that are not below a robot's namespace."""
SERVICES = {
    'describe_parameters', 'get_parameter_types', 'get_parameters', 'get_type_description',
    'list_parameters', 'set_parameters', 'set_parameters_atomically',
}
"""Of every node with parameters."""


def policy_of(vehicle):
    return read_policy((FOLDER / f'{vehicle}.policy.xml').read_text(encoding='utf-8'))


def profiles_of(vehicle):
    return {profile.name: profile for profile in policy_of(vehicle)[1]}


@pytest.fixture
def start(graph):
    """Return what starts the nodes of a graph, which the probe discovers."""
    context, nodes = rclpy.Context(), []
    rclpy.init(args=[], context=context)

    def begin(wired, namespace):
        for spec in wired.nodes:
            nodes.append(make_node(
                spec, namespace, params_files=[wired.params_file], context=context
            ))
            nodes[-1].start()
            assert nodes[-1].is_active, spec.name
        return [node.get_name() for node in nodes]
    yield begin
    close(context, nodes)


def below(namespace, profile):
    """Return the profile of the same node in a namespace."""
    def moved(names):
        return frozenset(name if name in OUTSIDE else f'{namespace}{name}' for name in names)
    sets = [field.name for field in fields(profile)][2:]
    return replace(
        profile, namespace=namespace or '/', **{n: moved(getattr(profile, n)) for n in sets}
    )


def test_every_vehicle_has_a_policy():
    assert {path.name for path in FOLDER.iterdir()} == {f'{v}.policy.xml' for v in VEHICLES}


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_enclave_is_named_after_the_vehicle(vehicle):
    assert policy_of(vehicle)[0] == f'/{vehicle}'


@pytest.mark.parametrize('namespace', few_of(['/fleet/one', ''], 2))
@pytest.mark.parametrize('vehicle', VEHICLES)
def test_nodes_do_what_their_policy_allows_and_nothing_else(graph, start, vehicle, namespace):
    allowed = profiles_of(vehicle)
    started = start(robot_graph(vehicle), namespace)
    assert allowed.keys() - set(started) == FOREIGN
    for name in started:
        expected = below(namespace, allowed[name])
        if find_spec('tf2_msgs') is None:
            expected = replace(expected, publishes=expected.publishes - {f'{namespace}/tf'})
        graph.becomes(lambda expected=expected: seen(graph.probe, expected), expected)


def test_nodes_of_a_real_body_do_the_same_without_the_simulated_clock(graph, start):
    allowed = profiles_of('quadrotor')
    started = start(robot_graph('quadrotor', use_sim_time=False), '')
    assert allowed.keys() - set(started) == {*FOREIGN, 'vehicle'}
    for name in started:
        expected = replace(allowed[name], subscribes=allowed[name].subscribes - {'/clock'})
        graph.becomes(lambda expected=expected: seen(graph.probe, expected), expected)


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_launch_may_follow_and_change_each_lifecycle_node_and_nothing_else(vehicle):
    allowed = profiles_of(vehicle)
    own = allowed.keys() - FOREIGN
    launch, all_nodes = allowed[LAUNCH], {'/parameter_events', '/rosout'}
    assert launch.publishes == all_nodes
    assert launch.subscribes == {
        '/parameter_events', *(f'/{name}/transition_event' for name in own)
    }
    assert launch.requests == {f'/{name}/change_state' for name in own}
    assert launch.replies == {f'/{LAUNCH}/{service}' for service in SERVICES}


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_state_publisher_may_draw_the_robot_and_nothing_else(vehicle):
    """By its sources: it need not be installed here."""
    publisher = profiles_of(vehicle)['robot_state_publisher']
    joints = {topic for topic, kind in topics_of(vehicle).items() if kind.endswith('JointState')}
    (read,) = publisher.subscribes - {'/clock', '/parameter_events'}
    assert read in joints
    assert publisher.publishes == {
        '/parameter_events', '/robot_description', '/rosout', '/tf', '/tf_static'
    }
    assert publisher.replies == {f'/robot_state_publisher/{service}' for service in SERVICES}
    assert not publisher.requests
