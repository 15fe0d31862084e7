# SPDX-License-Identifier: Apache-2.0
"""The gz-sim system against a fake of its API, with real nodes and real commands."""
from __future__ import annotations

import re
from contextlib import nullcontext

import numpy as np
import pytest
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from fake_gz import Element, World, install, worlds
from parts import amount
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.wiring import checked_graph
from propulsion_ros.gz.system import ActuatorSystem, get_system
from propulsion_ros.messages import qos
from propulsion_ros.nodes.host_node import HostNode
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.settings.errors import ConfigError

INERTIAL = '<inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
ROBOT = f"""<robot name="lander">
  <link name="base_link">{INERTIAL}</link><link name="engine"/><link name="port"/>
  <link name="keel"/>
  <joint name="engine_joint" type="fixed"><parent link="base_link"/><child link="engine"/>
    <origin xyz="2 0 0"/></joint>
  <joint name="port_joint" type="fixed"><parent link="base_link"/><child link="port"/></joint>
  <joint name="keel" type="revolute"><parent link="base_link"/><child link="keel"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <gazebo><plugin filename="propulsion_ros" name="boosters"><command_timeout>0</command_timeout>
    <tank name="main"><link>port</link><capacity>2</capacity></tank>
    <booster name="engine"><joint>engine_joint</joint><tank>main</tank><axis>0 0 1</axis>
      <max_thrust>200</max_thrust><max_fuel_rate>0.1</max_fuel_rate>
      <time_constant>0</time_constant></booster>
  </plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="fins">
    <fin name="keel"><joint>keel</joint><chord>1 0 0</chord>
      <two_lines><area>0.1</area><fluid_density>1000</fluid_density><stall_angle>0.4</stall_angle>
        <lift_slope>4</lift_slope><stalled_lift_slope>-1</stalled_lift_slope><drag_slope>0</drag_slope>
        <stalled_drag_slope>0</stalled_drag_slope><zero_lift_drag>0</zero_lift_drag>
      </two_lines></fin>
  </plugin></gazebo></robot>"""


@pytest.fixture
def urdf(tmp_path):
    """Return the file of a robot with a booster and a keel."""
    path = tmp_path / 'lander.urdf'
    path.write_text(ROBOT)
    return path


@pytest.fixture
def make_world(monkeypatch, urdf):
    """Return what makes worlds with the robot in them, and end them."""
    with worlds(monkeypatch, ActuatorSystem) as make:
        yield lambda links=('base_link',), **tags: make(
            links, Element.plugin(**{'urdf_file': urdf, **tags})
        )


def command(stamp=0.0, effort=100.0):
    """Return a command to the engine at a stamp, 0 for at once."""
    message = JointState(name=['engine'], effort=[effort])
    message.header.stamp.sec = int(stamp)
    message.header.stamp.nanosec = round(stamp % 1.0 * 1e9)
    return message


def burn(graph, world, body='base_link'):
    """Step until a command reaches the engine."""
    # The nodes start with the first step.
    world.step()
    # A node that does not know its listener yet speaks in vain.
    graph.until(lambda: [world.step(), all(graph.received.values())][1], 'what is listened to')
    talker = graph.talk(JointState, 'boosters/command', qos.COMMAND)
    talker.publish(command())

    def pushed():
        world.step()
        return world[body].wrenches[-1][:3].any()
    graph.until(pushed, 'a force on the body')


def test_command_becomes_a_force_at_the_engine(graph, make_world):
    """Worked by hand: 2 m forward along x of a body that is rolled and pitched by 90 degrees."""
    world = make_world()
    body = world['base_link']
    body.position = np.array([3.0, 4.0, 5.0])
    body.rotation = Rotation.from_euler('xyz', [90, 90, 0], degrees=True).as_matrix()
    burn(graph, world)
    # z of the body points along -y, and its x down: (0, 0, -2) x (0, -100, 0).
    np.testing.assert_allclose(body.wrenches[-1], [0, -100, 0, -200, 0, 0], atol=1e-9)


def test_impulse_is_that_of_the_propellant(graph, make_world):
    """What is burnt, and published, is what the physics got: 2000 N s/kg."""
    world = make_world()
    tanks = graph.listen(InertiaStamped, 'boosters/tanks/main', qos.LATCHED)
    wrenches = graph.listen(WrenchStamped, 'boosters/wrench', qos.STATE)
    burn(graph, world)

    def last():
        # A publication each 10 ms of 1 ms steps.
        return wrenches and round(
            wrenches[-1].header.stamp.sec * 1e3 + wrenches[-1].header.stamp.nanosec * 1e-6
        ) // 10 == (len(world['base_link'].wrenches) - 1) // 10

    for _ in range(10):
        # No more at a time than a queue holds.
        world.step(10)
        graph.until(last, 'the last wrench')
    stamps = [w.header.stamp.sec + w.header.stamp.nanosec * 1e-9 for w in wrenches]
    np.testing.assert_allclose(np.diff(stamps), 0.01, atol=1e-9)
    ticks = round(stamps[-1] * 1e3) + 1
    applied = np.sum(world['base_link'].wrenches[:ticks], axis=0)[2] * 1e-3
    # Each is the mean over the 10 steps up to its stamp, the first over step 0 alone.
    published = sum(w.wrench.force.z for w in wrenches) * 0.01
    assert applied > 9.0
    assert published == pytest.approx(applied, rel=1e-9)
    graph.becomes(
        lambda: (2.0 - tanks[-1].inertia.m) * 2000.0, pytest.approx(applied, rel=1e-9)
    )


def test_fins_feel_the_motion_of_the_body(graph, make_world):
    """No topic tells them: a keel at 0.1 rad to the flow pushes across it, body to world."""
    world = make_world()
    body = world['base_link']
    turned = Rotation.from_euler('z', 90.0, degrees=True)
    body.rotation = turned.as_matrix()
    body.velocity = turned.apply([2.0 * np.cos(0.1), 2.0 * np.sin(0.1), 0.0])
    world.step()
    # Lift 0.5 rho A v^2 C = 0.5 * 1000 * 0.1 * 4 * (4 * 0.1), square to the flow.
    across = turned.apply([np.sin(0.1), -np.cos(0.1), 0.0])
    np.testing.assert_allclose(body.wrenches[-1][:3], 80.0 * across, rtol=1e-6, atol=1e-6)


def test_reset_of_the_world_fills_the_tank_and_forgets_the_command(graph, make_world):
    world = make_world()
    tanks = graph.listen(InertiaStamped, 'boosters/tanks/main', qos.LATCHED)
    burn(graph, world)
    world.step(100)
    graph.until(lambda: tanks and tanks[-1].inertia.m < 1.996, 'propellant to burn')
    world.reset()
    world.step()
    assert not world['base_link'].wrenches[-1].any()
    graph.until(lambda: tanks[-1].inertia.m == 2.0, 'a full tank')


def test_pause_holds_everything_but_services(graph, make_world):
    world = make_world()
    burn(graph, world)
    steps = len(world['base_link'].wrenches)
    client = graph._client(SetBool, 'boosters/set_enabled')
    future = client.call_async(SetBool.Request(data=False))
    graph.until(lambda: [world.pause(), future.done()][1], 'an answer')
    assert len(world['base_link'].wrenches) == steps
    world.step()
    assert not world['base_link'].wrenches[-1].any()


def test_end_of_the_world_leaves_a_zero_wrench(graph, make_world):
    world = make_world()
    wrenches = graph.listen(WrenchStamped, 'boosters/wrench', qos.STATE)
    burn(graph, world)
    world.step(20)
    graph.until(lambda: wrenches and wrenches[-1].wrench.force.z > 0.0, 'a thrust')
    world.system.shutdown()
    graph.until(lambda: wrenches[-1].wrench.force.z == 0.0, 'the last word')


def test_settings_of_a_file_win_over_the_description(graph, make_world, tmp_path):
    first, second = tmp_path / 'a.yaml', tmp_path / 'b.yaml'
    text = '/**/boosters:\n  ros__parameters:\n    tanks.starting_fuel_ratio: [{}]\n'
    first.write_text(text.format(0.75))
    second.write_text(text.format(0.25))
    world = make_world(params_file=[first, second], namespace='two')
    tanks = graph.listen(InertiaStamped, 'two/boosters/tanks/main', qos.LATCHED)
    world.step()
    graph.until(lambda: [world.step(), tanks][1], 'a tank')
    assert tanks[-1].inertia.m == pytest.approx(0.5)


SECTION = '{}: {{ros__parameters: {{command_timeout: 7.0}}}}\n'


@pytest.mark.parametrize(('sections', 'namespace', 'expected'), [
    pytest.param(['/**/main'], 'two', 7.0, id='any namespace'),
    pytest.param(['/two/main', '/other/main'], 'two', 7.0, id='two models'),
    pytest.param(['/two/fins', '/other/main'], 'two', 0.0, id='the other model'),
    pytest.param(['main'], 'two', "'/main' is no node here, did you mean '/two/main'?",
                 id='without its namespace'),
    pytest.param(['/**/fins', '/two/boosters'], 'two', "boosters: not a node that this knows, did "
                 "you mean 'main'?; the robot has main, fins", id='its family'),
])
def test_sections_of_a_file_are_taken_and_refused_as_nodes_do(
    graph, make_world, urdf, tmp_path, sections, namespace, expected
):
    """A section of another namespace was ignored without a word."""
    urdf.write_text(ROBOT.replace('name="boosters">', 'name="main"><family>boosters</family>'))
    path = tmp_path / 'settings.yaml'
    path.write_text(''.join(map(SECTION.format, sections)))

    def in_nodes():
        nodes = checked_graph(['--model', str(urdf), '--namespace', namespace], [path]).nodes
        (spec,) = (spec for spec in nodes if spec.name == 'main')
        node = make_node(spec, namespace, params_files=[path], context=graph.context)
        node.start()
        graph.nodes.append(node)
        return node

    def in_gazebo():
        world = make_world(params_file=path, namespace=namespace)
        world.step()
        return world.system.host.nodes[0]

    is_refused = isinstance(expected, str)
    for start in (in_nodes, in_gazebo):
        with pytest.raises(ConfigError) if is_refused else nullcontext() as caught:
            assert start().get_parameter('command_timeout').value == expected
        assert not is_refused or expected in str(caught.value)


def vehicle(make_world, name, *files):
    """Return a world with a vehicle of the package, all of whose links are one."""
    share = share_directory()
    return make_world(
        links=('body',) if name == 'freeflyer' else ('base_link',),
        urdf_file=share / 'urdf' / f'{name}.urdf.xacro',
        params_file=[share / 'config' / f'{name}.yaml', *files],
    )


def push(graph, world, topic, message):
    """Command until something pushes the body."""
    world.step()
    talker = graph.talk(type(message), topic, qos.COMMAND)

    def pushed():
        talker.publish(message)
        world.step(5)
        return world['base_link'].wrenches[-1].any()
    graph.until(pushed, 'a force on the body')


@pytest.mark.parametrize('name', ['rocket', 'quadrotor', 'rov', 'freeflyer'])
def test_thrust_holds_from_the_start_and_through_resets(make_world, name):
    """Commands of stamp 0, ten a second, each of which would be stale after half a second."""
    world = vehicle(make_world, name)
    body = next(iter(world.bodies.values()))
    world.step()
    node, given = world.system.host.nodes[0], {'effort': 5.0, 'position': 0.3, 'velocity': 50.0}
    family = node.loop.family
    order = JointState(name=list(family.command_names))
    for field in set(family.command_fields):
        setattr(order, field, [
            given[field] if own == field else np.nan for own in family.command_fields
        ])
    for _ in range(amount('rest', 2, 5)):
        world.reset()
        body.wrenches.clear()
        for _ in range(8):
            node.loop.ports[0].take(order)
            world.step(100)
        # Impellers take a tenth of a second to turn at all.
        assert np.array(body.wrenches)[200:].any(axis=1).all()


def test_two_vehicles_of_one_description_have_their_own_nodes(graph, make_world):
    first, second = make_world(namespace='a'), make_world(namespace='b')
    second.step()
    push(graph, first, 'a/boosters/command', command())
    second.step(20)
    assert not np.any(second['base_link'].wrenches)


def test_what_no_one_takes_is_not_published(make_world, monkeypatch):
    """But the tank, once a second, for those that come later."""
    world, published = make_world(), []
    take = HostNode.publish

    def publish(self, outlet, stamp_ns, payload):
        published.append((outlet.topic, stamp_ns))
        take(self, outlet, stamp_ns, payload)
    monkeypatch.setattr(HostNode, 'publish', publish)
    world.step(2500)
    times = [stamp_ns for topic, stamp_ns in published if topic == '~/tanks/main']
    assert times == [0, 1_000_000_000, 2_000_000_000]
    assert len(published) == len(times) + sum(t == '~/effectiveness' for t, _ in published)


def test_plugin_outside_a_model_is_refused(monkeypatch, urdf):
    install(monkeypatch)
    monkeypatch.setattr(World, 'MODEL', 1)
    system = ActuatorSystem()
    with pytest.raises(ConfigError, match='plugin: expected to be inside a <model>'):
        system.configure(7, Element.plugin(urdf_file=urdf), None, None)


@pytest.mark.parametrize(('step', 'message'), [
    pytest.param(1.0 / 240.0, "'max_step_size': a step of 4167 us that ends at 0.008333 s",
                 id='no whole microseconds'),
    pytest.param(4e-7, "'max_step_size': a step of less than 1 us", id='below a microsecond'),
    pytest.param(0.0, "'max_step_size': a step of less than 1 us", id='none'),
])
def test_step_that_cannot_be_followed_is_refused(make_world, step, message):
    """Python sees gz-sim's time in whole microseconds."""
    world = make_world()
    world.step_size = step
    # Its plugin stands in no file.
    assert world.system.place == "model 'lander'"
    with pytest.raises(ConfigError, match=re.escape(message)):
        world.step(2)
    assert not world.system.host.nodes


@pytest.mark.parametrize(('step', 'time', 'stamp', 'line', 'is_kept'), [
    pytest.param(0.001, 7.0, 7_000_000_000, 'time jumped by', False, id='seek'),
    pytest.param(0.001, 7.0005, 7_000_000_000, 'time jumped by', False, id='seek between steps'),
    pytest.param(0.001, 0.0, 0, 'actuators reset', False, id='seek back'),
    pytest.param(0.0015, None, 49_500_000, 'steps of 1500 us', True, id='another step size'),
])
def test_actuators_go_on_after_a_jump_of_time(
    graph, make_world, capfd, step, time, stamp, line, is_kept
):
    """What burnt stays burnt but where time goes back; a command outlasts another step size."""
    world = make_world()
    world.step(50)
    node = world.system.host.nodes[0]
    node.loop.ports[0].take(command())
    world.step(1)
    assert world['base_link'].wrenches[-1].any()
    world.step_size = step
    if time is not None:
        world.seek(time)
    world.step(1)
    assert node.now_ns() == stamp + (1_500_000 if is_kept else 0)
    assert world['base_link'].wrenches[-1].any() == is_kept
    node.loop.ports[0].take(command())
    world.step(2)
    assert world['base_link'].wrenches[-1].any()
    assert line in capfd.readouterr().err


@pytest.mark.parametrize(('tags', 'settings', 'message'), [
    pytest.param({'namespace': '9'}, '', 'boosters: Invalid namespace', id='namespace'),
    pytest.param({}, '/**/fins: {ros__parameters: {autostart: 5}}', 'fins: the node did not',
                 id='second node'),
])
def test_node_that_does_not_start_leaves_none_behind(
    make_world, tmp_path, tags, settings, message
):
    (tmp_path / 'settings.yaml').write_text(settings)
    world = make_world(params_file=tmp_path / 'settings.yaml' if settings else [], **tags)
    with pytest.raises(ConfigError, match=message):
        world.step()
    assert not world.system.host.nodes


def test_system_needs_its_simulator(urdf):
    with pytest.raises(ImportError, match='runs inside gz-sim'):
        get_system().configure(7, Element.plugin(urdf_file=urdf), None, None)
