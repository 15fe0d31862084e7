# SPDX-License-Identifier: Apache-2.0
"""What is applied to the links of a simulated model is the wrench that the family says."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.graph.share import load_robot_description, share_directory
from propulsion_ros.graph.wiring import pushing_blocks
from propulsion_ros.gz.link_forces import LinkForces, Mount
from propulsion_ros.models.common.family import BodyState, Command, Output
from propulsion_ros.models.common.wrench import move_wrench
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.urdf.link_tree import LinkTree, Pose
from propulsion_ros.urdf.reader import actuators_from_urdf
from propulsion_ros.urdf.xml import parse_urdf

ROLLED_AND_PITCHED = Rotation.from_euler('xyz', [90.0, 90.0, 0.0], degrees=True).as_matrix()
IDENTITY = Pose(np.eye(3), np.zeros(3))
TREE = """<robot name="r"><link name="root"/><link name="base"/><link name="arm"/><link name="tip"/>
  <joint name="a" type="fixed"><parent link="root"/><child link="base"/>
    <origin xyz="0 0 1"/></joint>
  <joint name="b" type="fixed"><parent link="base"/><child link="arm"/>
    <origin xyz="2 0 0" rpy="0 0 1.5707963267948966"/></joint>
  <joint name="c" type="continuous"><parent link="arm"/><child link="tip"/>
    <origin xyz="3 0 0"/></joint></robot>"""


def pose(rotation, *position):
    return Pose(rotation, np.array(position, float))


def output(forces, wrench):
    forces = np.array(forces, float)
    size = np.linalg.norm(forces, axis=-1)
    return Output(np.array(wrench, float), size, forces / size[:, None])


def test_force_of_a_rolled_and_pitched_body():
    """Worked by hand: rolled by 90, then pitched by 90 degrees about the world's axes.

    The body's x points down, its y along x, its z along -y. A thrust of 5 N along the body's z
    at (2, 0, 0) is then -5 N along the world's y, 2 m below base_link: (0, 0, -2) x (0, -5, 0) is
    a torque of (-10, 0, 0).
    """
    forces = LinkForces(Mount('body', IDENTITY), [Mount('body', pose(np.eye(3), 2, 0, 0))])
    wrench = forces.at(
        output([[0, 0, 5]], [0, 0, 5, 0, -10, 0]), {'body': pose(ROLLED_AND_PITCHED, 7, 8, 9)}
    )
    np.testing.assert_allclose(wrench['body'], [0, -5, 0, -10, 0, 0], atol=1e-12)


def test_force_acts_at_its_link_and_its_reaction_torque_at_base_link():
    forces = LinkForces(Mount('body', IDENTITY), [Mount('rotor', IDENTITY)])
    poses = {'body': pose(np.eye(3), 1, 0, 0), 'rotor': pose(np.eye(3), 1, 0.5, 0)}
    wrenches = forces.at(output([[0, 0, 4]], [0, 0, 4, 2, 0, -0.1]), poses)
    np.testing.assert_allclose(wrenches['rotor'], [0, 0, 4, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(wrenches['body'], [0, 0, 0, 0, 0, -0.1], atol=1e-12)


@pytest.mark.parametrize(('link', 'there', 'carrier', 'position'), [
    pytest.param('tip', {'root', 'tip'}, 'tip', [0, 0, 0], id='itself'),
    pytest.param('tip', {'root', 'arm'}, 'arm', [3, 0, 0], id='the one before'),
    # The arm looks along y, so its tip lies 3 m along the y of base.
    pytest.param('tip', {'root', 'base'}, 'base', [2, 3, 0], id='two before'),
    pytest.param('tip', {'root'}, 'root', [2, 3, 1], id='merged into the root'),
])
def test_mount_is_the_nearest_carrier(link, there, carrier, position):
    mount = Mount.find(LinkTree(parse_urdf(TREE)), link, there.__contains__)
    assert mount.link == carrier
    np.testing.assert_allclose(mount.pose.position, position, atol=1e-12)


def test_link_of_another_model_is_refused():
    with pytest.raises(SourceError, match="link 'tip': neither it nor one that carries it"):
        Mount.find(LinkTree(parse_urdf(TREE)), 'tip', {'wheel'}.__contains__)


def test_motion_of_base_link():
    """Worked by hand: base_link 1 m along the carrier's x, which points along the world's y."""
    turned = Rotation.from_euler('z', 90.0, degrees=True).as_matrix()
    mount = Mount('root', pose(np.eye(3), 1, 0, 0))
    motion = mount.motion(
        pose(turned, 5, 5, 5), (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)),
        np.array([0.0, 3.0, 0.0]), np.array([0.0, 0.0, 2.0]),
    )
    # The spin adds 2 rad/s x 1 m, along the world's -x, to 3 m/s along the world's y.
    np.testing.assert_allclose(motion.velocity, [3.0, 2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(motion.angular_velocity, [0.0, 0.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(motion.rotation, turned, atol=1e-12)


def blocks():
    """Yield every group of the vehicles that pushes, with its tree."""
    for path in sorted((share_directory() / 'urdf').glob('*.urdf.xacro')):
        text = load_robot_description(path)
        for spec in pushing_blocks(actuators_from_urdf(text, loop_params_of)):
            yield pytest.param(text, spec, id=f'{path.name.split(".")[0]}-{spec.name}')


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('keeps_links', [
    pytest.param(True, id='links'), pytest.param(False, id='merged'),
])
@pytest.mark.parametrize(('text', 'spec'), blocks())
def test_all_links_together_are_the_wrench_of_the_family(text, spec, keeps_links, seed):
    """Wherever the links are, joints that turn included: nothing of it is lost."""
    rng = np.random.default_rng(seed)
    tree = LinkTree(parse_urdf(text))
    family, _ = build_family(spec.family, {}, spec)
    done = moved(family, rng)
    there = (lambda link: True) if keeps_links else (lambda link: link == tree.root)
    base = Mount.find(tree, spec.base_link, there)
    forces = LinkForces(
        base, [Mount.find(tree, frame, there) for frame in family.actuator_frames]
    )
    poses = {
        link: Pose(Rotation.random(random_state=rng).as_matrix(), rng.uniform(-9, 9, 3))
        for link in forces.links
    }
    wrenches = forces.at(done, poses)
    origin = (poses[base.link] @ base.pose)
    total = sum(move_wrench(w, poses[link].position - origin.position)
                for link, w in wrenches.items())
    expected = np.concatenate(
        (origin.rotation @ done.wrench[:3], origin.rotation @ done.wrench[3:])
    )
    largest = np.abs(done.wrench).max()
    assert largest > 0.0
    np.testing.assert_allclose(total, expected, rtol=0.0, atol=1e-11 * max(largest, 1.0))


def moved(family, rng):
    """Return what a family does after some steps of random commands in a stream."""
    columns = {
        field: np.array([
            rng.uniform(0.05, 0.2) * (1000.0 if field == 'effort' else 1.0)
            * (500.0 if field == 'velocity' else 1.0) if own == field else np.nan
            for own in family.command_fields
        ]) for field in set(family.command_fields)
    }
    body = BodyState(velocity=np.array([4.0, 0.5, -1.0]), angular_velocity=np.array([0.1, 0, 0.2]))
    done = None
    for tick in range(20):
        done = family.step(Command(**columns), body, 0.01, tick)
    return done
