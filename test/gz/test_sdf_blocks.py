# SPDX-License-Identifier: Apache-2.0
"""Models that have their blocks in the SDF alone, against a fake of gz-sim's API."""
from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from defusedxml import ElementTree
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

from fake_gz import Element, worlds
from own_models import ARM, POD, TRICOPTER, VESSEL
from propulsion_ros.gz.system import ActuatorSystem
from propulsion_ros.settings.errors import ConfigError


@pytest.fixture
def make_world(monkeypatch):
    """Return what makes worlds with a model whose plugin has blocks."""
    with worlds(monkeypatch, ActuatorSystem) as make:
        yield lambda links, hinges, *blocks, **tags: make(links, Element.plugin(
            module_name='propulsion_ros.gz.system',
            actuators=[ElementTree.fromstring(block) for block in blocks], **tags,
        ), hinges=hinges)


def push(world, **command):
    """Command all actuators until thrusts are steady; return what the last step applied."""
    world.step()
    node = world.system.host.nodes[0]
    (field, values), = command.items()
    message = JointState(name=list(node.loop.family.command_names), **{field: values})
    for _ in range(4):
        node.loop.ports[0].take(message)
        world.step(100)
    return {body.name: body.wrenches[-1] for body in world.bodies.values()}


def about(world, name, point):
    """Return force and torque about a point of what the last step applied to a link."""
    wrench = world[name].wrenches[-1]
    return wrench[:3], wrench[3:] + np.cross(world[name].position - point, wrench[:3])


def test_tail_pushes_along_its_own_tilt(make_world):
    """Worked by hand: a tail that is rolled by 0.5 rad pushes and twists along its shaft."""
    world = make_world(*TRICOPTER)
    turn = Rotation.from_euler('x', 0.5).as_matrix()
    world['mount'].rotation = turn
    world['propeller'].position = world['mount'].position + turn @ [0, 0, 0.05]
    # The shaft has turned by itself too, which changes nothing.
    world['propeller'].rotation = turn @ Rotation.from_euler('z', 1.0).as_matrix()
    given = push(world, effort=[3.0, 4.0, 2.0])
    assert not any(given[name].any() for name in ('left', 'right', 'propeller'))
    force, torque = about(world, 'mount', world['propeller'].position)
    np.testing.assert_allclose(force, turn @ [0, 0, 2.0], atol=1e-9)
    moment = world.system.host.nodes[0].loop.family.allocation_matrix[5, 2] * 2.0
    assert moment > 0.0
    np.testing.assert_allclose(torque, turn @ [0, 0, moment], atol=1e-9)
    np.testing.assert_allclose(given['frame'][:3], [0, 0, 7.0], atol=1e-9)
    np.testing.assert_allclose(
        given['frame'][3:5], np.cross([0.2, 0.3, 0], [0, 0, 3.0])[:2]
        + np.cross([0.2, -0.3, 0], [0, 0, 4.0])[:2], atol=1e-9,
    )


@pytest.mark.parametrize('angle', [0.0, 0.3, np.pi / 2])
def test_propeller_at_the_end_of_an_arm_pushes_along_the_arm(make_world, angle):
    world = make_world(*ARM)
    turn = Rotation.from_euler('y', angle).as_matrix()
    world['arm::upper'].rotation = world['arm::tip'].rotation = turn
    world['arm::tip'].position = np.array([0, 0, 1]) + turn @ [0.5, 0, 0]
    given = push(world, effort=[4.0])
    np.testing.assert_allclose(given['arm::tip'][:3], turn @ [4.0, 0, 0], atol=1e-9)
    # What is published is about base_link, and what was applied.
    np.testing.assert_allclose(
        world.system.host.nodes[0].loop.core.output.wrench[:3], turn @ [4.0, 0, 0], atol=1e-9
    )


def test_no_actuator_is_said_to_stay_while_it_follows_its_link(make_world, capfd):
    make_world(*ARM).step(1)
    said = ''.join(capfd.readouterr())
    assert 'active, takes commands for hand' in said
    assert 'stays' not in said


@pytest.mark.parametrize('mode', ['joint_states', 'servo'])
def test_steered_tail_is_where_the_world_has_it_and_its_servo_turns_the_joint(make_world, mode):
    """The joint of the model runs the other way round; only a servo gets a rate."""
    links, hinges, block = TRICOPTER
    hinges = [dataclasses.replace(hinge) for hinge in hinges]
    tilt = next(hinge for hinge in hinges if hinge.name == 'tilt')
    steering = f'<steering name="tilt"><mode>{mode}</mode><rate_limit>2</rate_limit></steering>'
    world = make_world(links, hinges, block.replace('</actuators>', f'{steering}</actuators>'))
    world.step()
    tilt.position, tilt.velocity = -0.5, 0.25
    turn = Rotation.from_euler('x', 0.5).as_matrix()
    world['mount'].rotation = turn
    world['propeller'].position = world['mount'].position + turn @ [0, 0, 0.05]
    node = world.system.host.nodes[0]
    command = JointState(name=['tail'], effort=[2.0])
    if mode == 'servo':
        command.name, command.effort = ['tail', 'tilt'], [2.0, np.nan]
        command.position = [np.nan, 0.1]
    for _ in range(3):
        node.loop.ports[0].take(command)
        world.step(100)
    output = node.loop.core.output
    force, _ = about(world, 'mount', world['propeller'].position)
    np.testing.assert_allclose(force, turn @ [0, 0, 2.0], atol=1e-9)
    # What the actuators reckon with, and what the world makes of it.
    np.testing.assert_allclose(output.axes[2], turn @ [0, 0, 1.0], atol=1e-12)
    np.testing.assert_allclose(output.wrench[:3], turn @ [0, 0, 2.0], atol=1e-9)
    state = dict(zip(node.loop.family.state_names, output.position, strict=True))
    assert state['tilt'] == -0.5
    assert tilt.commanded[-1:] == ([[pytest.approx(2.0)]] if mode == 'servo' else [])
    assert not any(hinge.commanded for hinge in hinges if hinge is not tilt)


def test_shafts_of_a_vessel_push_the_hull(make_world):
    world = make_world(*VESSEL)
    given = push(world, effort=[10.0, 6.0])
    np.testing.assert_allclose(given['hull'], [16.0, 0, 0, 0, -4.8, -4.0], atol=1e-9)
    assert not given['port'].any()


def test_description_and_sdf_have_blocks_together(make_world, tmp_path):
    """A block of each; places of both come from the world, and one line has the difference."""
    path = tmp_path / 'vessel.urdf'
    path.write_text(
        '<robot name="v"><link name="hull"/><link name="port"/><joint name="port_pod" '
        'type="continuous"><parent link="hull"/><child link="port"/><origin xyz="-2 1.1 -0.3"/>'
        '<axis xyz="1 0 0"/></joint><gazebo><plugin filename="propulsion_ros" name="thrusters">'
        f'<command_interface>effort</command_interface>{POD.format("port")}'
        '</plugin></gazebo></robot>'
    )
    world = make_world(VESSEL.links, VESSEL.hinges, urdf_file=path)
    (warning,) = world.system.host.warnings
    assert "'port' is at (-2, 1, -0.3) m in the world and at (-2, 1.1, -0.3) m in the" in warning
    given = push(world, effort=[10.0])
    np.testing.assert_allclose(given['hull'], [10.0, 0, 0, 0, -3.0, -10.0], atol=1e-9)
    world.system.shutdown()
    with pytest.raises(ConfigError, match='the robot description has a block of this name too'):
        make_world(*VESSEL, urdf_file=path)
