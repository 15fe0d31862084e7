# SPDX-License-Identifier: Apache-2.0
"""Live nodes do what their policies of SROS2 say, as others in the graph see them."""
from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from importlib.util import find_spec

import pytest
import rclpy
from defusedxml import ElementTree
from rclpy.executors import SingleThreadedExecutor

from fake_gz import Element, World, install
from policy_cases import FOREIGN, SHIPPED, asked, parsed, seen, write_bag
from propulsion_ros.graph.graph_options import graph_of
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.gz.system import get_system
from propulsion_ros.gz.vehicle import gazebo_vehicle
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.replay.player import Player
from propulsion_ros.replay.recorder import Recorder
from propulsion_ros.tools.policy_xml import Profile
from ros_graph import close

OWN_ROBOT = """<robot name="hopper"><link name="base_link"/>
  <link name="engine"/><joint name="engine" type="fixed"><parent link="base_link"/>
    <child link="engine"/></joint>
  <link name="fan"/><joint name="fan" type="fixed"><parent link="base_link"/>
    <child link="fan"/></joint>
  <gazebo><plugin filename="propulsion_ros" name="boosters">
    <tank name="main"><link>base_link</link><capacity>2</capacity></tank>
    <booster name="engine"><joint>engine</joint><tank>main</tank><axis>0 0 1</axis>
      <max_thrust>200</max_thrust><max_fuel_rate>0.1</max_fuel_rate></booster>
  </plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="fans"><family>rotors</family>
    <rotor name="fan"><joint>fan</joint><max_thrust>5</max_thrust>
      <motor_constant>1e-5</motor_constant></rotor>
  </plugin></gazebo></robot>"""


@pytest.fixture
def start(graph):
    """Return what starts nodes of some specs, which the probe of the graph discovers."""
    context, nodes = rclpy.Context(), []
    rclpy.init(args=[], context=context)

    def begin(specs, files, namespace=''):
        for spec in specs:
            nodes.append(make_node(spec, namespace, params_files=files, context=context))
            nodes[-1].start()
            assert nodes[-1].is_active, spec.name
        return nodes
    yield begin
    close(context, nodes)


def hold(graph, nodes, allowed):
    """Hold nodes to their profiles, and return the names of the other ones."""
    rest = {(profile.namespace, profile.name): profile for profile in allowed}
    for node in nodes:
        expected = rest.pop((node.get_namespace(), node.get_name()))
        if find_spec('tf2_msgs') is None:
            expected = replace(expected, publishes=expected.publishes - {'/tf'})
        graph.becomes(lambda expected=expected: seen(graph.probe, expected), expected)
    return {name for _, name in rest}


@pytest.mark.parametrize('words', [
    *(pytest.param(['--vehicle', v], id=v) for v in VEHICLES),
    pytest.param(['--vehicle', 'rocket', '--replay'], id='replay'),
    pytest.param(['--vehicle', 'quadrotor', '--use-sim-time', 'false', '--visualize'], id='body'),
])
def test_vehicle_does_what_its_policy_says(graph, start, words):
    allowed, made = asked(*words), graph_of(parsed(*words))
    nodes = start(made.nodes, [made.params_file])
    assert hold(graph, nodes, allowed) == {'launch_ros_*', 'robot_state_publisher'}


@pytest.mark.parametrize('more', [
    pytest.param([], id='as it is'),
    pytest.param(['--allocate', 'fans', '--use-sim-time', 'true', '--visualize',
                  '--namespace', 'fleet/one'], id='allocated'),
])
def test_robot_of_ones_own_does_what_its_policy_says(graph, start, tmp_path, more):
    model, settings = tmp_path / 'hopper.urdf', tmp_path / 'hopper.yaml'
    model.write_text(OWN_ROBOT)
    settings.write_text('/**/fans:\n  ros__parameters:\n    publish_each: true\n')
    words = ['--model', str(model), '--params-file', str(settings), *more]
    args, allowed = parsed(*words), asked(*words)
    nodes = start(graph_of(args, args.params_file).nodes, [settings], args.namespace)
    assert hold(graph, nodes, allowed) == {'launch_ros_*', 'robot_state_publisher'}
    (fans,) = (profile for profile in allowed if profile.name == 'fans')
    assert f'{fans.namespace.rstrip("/")}/fans/wrenches/fan' in fans.publishes


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_nodes_inside_gazebo_do_what_its_policy_says(graph, monkeypatch, vehicle):
    """With a fake of gz-sim, and links as Gazebo's model has them."""
    allowed = asked(*SHIPPED[f'gazebo_{vehicle}'])
    made = gazebo_vehicle(vehicle, 'system')
    links = [link.get('name') for link in ElementTree.fromstring(made.robot.description)
             if link.tag == 'link']
    install(monkeypatch, 'gz.sim8')
    world = World(get_system(), links, Element.plugin(
        urdf_file=made.model, params_file=list(made.params_files)
    ))
    try:
        world.step()
        hold(graph, world.system.host.nodes, allowed)
    finally:
        world.system.shutdown()


@pytest.mark.parametrize('name', [name for name in SHIPPED if name.startswith('gazebo')])
def test_nodes_beside_gazebo_do_what_its_policy_says(graph, start, name):
    args, allowed = parsed(*SHIPPED[name]), asked(*SHIPPED[name])
    made = gazebo_vehicle(args.vehicle, args.gazebo)
    rest = hold(graph, start(made.graph.nodes, made.params_files), allowed)
    assert rest >= FOREIGN


@pytest.mark.parametrize('topics', [
    pytest.param([], id='everything'),
    pytest.param(['/vehicle/odometry', 'rotors/state'], id='two topics'),
])
def test_recorder_does_what_its_policy_says(graph, start, topics):
    made = graph_of(parsed('--vehicle', 'quadrotor'))
    start(made.nodes, [made.params_file])
    own, _ = asked('--record', *topics)
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    recorder = Recorder(
        lambda message, offers: None, [f'/{topic.lstrip("/")}' for topic in topics], True, context
    )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(recorder)
    needed = own.subscribes - {'/*'} or {'/clock', '/rotors/wrench', '/diagnostics', '/rosout'}

    found = Profile(own.name)

    def does():
        nonlocal found
        executor.spin_once(timeout_sec=0.05)
        found = seen(graph.probe, own) or found
        # What it records is all of what is needed, and whatever else comes.
        return replace(found, subscribes=found.subscribes & needed)
    try:
        graph.becomes(does, replace(own, subscribes=needed))
    finally:
        executor.shutdown()
        recorder.destroy_node()
        close(context, [])
    for topic in found.subscribes:
        assert any(fnmatchcase(topic, rule) for rule in own.subscribes)


def test_player_does_what_its_policy_says(graph, tmp_path):
    bag = write_bag(tmp_path / 'bag', '/said', '/vehicle/said')
    own, other = asked('--play', str(bag))
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    player = Player(clock_rate=10.0, context=context)
    executor = SingleThreadedExecutor(context=context)
    try:
        player.choose(
            {'/said': 'std_msgs/msg/String', '/vehicle/said': 'std_msgs/msg/String'}, executor, 0.1
        )
        graph.becomes(lambda: seen(graph.probe, own), own)
    finally:
        executor.shutdown()
        player.destroy_node()
        close(context, [])
    assert {'/said', '/vehicle/said', '/clock'} <= other.publishes
