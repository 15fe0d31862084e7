# SPDX-License-Identifier: Apache-2.0
"""What is applied to the links of a simulated model is the wrench that the family says."""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.wiring import pushing_blocks
from propulsion_ros.gz.joint_drives import Group, held_joints
from propulsion_ros.gz.link_forces import LinkForces, Mount, group_seats
from propulsion_ros.gz.simulated_model import SimulatedModel, carrier_of
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
    wrench = Mount('body', pose(np.eye(3), 2, 0, 0)).carried(
        np.array([0, 0, 5.0, 0, 0, 0]), pose(ROLLED_AND_PITCHED, 7, 8, 9)
    )
    np.testing.assert_allclose(wrench, [0, -5, 0, -10, 0, 0], atol=1e-12)


def test_wrench_follows_its_link():
    """Worked by hand: 4 N along z of a tail 1 m behind, which a hinge has rolled by 90 degrees.

    It then points along -y, as its reaction torque of -0.1 N m does, and pushes with a lever of
    1 m about z: (-1, 0, 0) x (0, -4, 0) is 4 N m.
    """
    rest = pose(np.eye(3), -1, 0, 0)
    family = SimpleNamespace(link_wrenches=lambda done: np.array([[0, 0, 4, 0, 0, -0.1]]))
    forces = LinkForces(Mount('body', IDENTITY), [(Mount('tail', IDENTITY), rest)], False)
    rolled = Rotation.from_euler('x', 90.0, degrees=True).as_matrix()
    wrenches, total = forces.at(
        family, output([[0, 0, 4]], [0, 0, 4, 0, 4, -0.1]),
        {'body': pose(np.eye(3), 5, 0, 0), 'tail': pose(rolled, 4, 0, 0)},
    )
    np.testing.assert_allclose(wrenches['tail'], [0, -4, 0, 0, 0.1, 0], atol=1e-12)
    np.testing.assert_allclose(wrenches['body'], 0.0, atol=1e-12)
    np.testing.assert_allclose(total, [0, -4, 0, 0, 0.1, 4], atol=1e-12)


@pytest.mark.parametrize(('link', 'there', 'carrier', 'position'), [
    pytest.param('tip', {'root', 'tip'}, 'tip', [0, 0, 0], id='itself'),
    pytest.param('arm', {'root', 'base'}, 'base', [2, 0, 0], id='fixed to the one before'),
    pytest.param('arm', {'root'}, 'root', [2, 0, 1], id='merged into the root'),
])
def test_mount_is_the_nearest_carrier(link, there, carrier, position):
    model = SimulatedModel('r', dict.fromkeys(there, IDENTITY), (), 'root')
    found, at = carrier_of(model, LinkTree(parse_urdf(TREE)), link, ())
    assert found == carrier
    np.testing.assert_allclose(at.position, position, atol=1e-12)


@pytest.mark.parametrize(('there', 'axis', 'held', 'carrier'), [
    pytest.param({'arm': None}, [1, 0, 0], (), 'arm', id='merged shaft'),
    pytest.param({'arm': None, 'tip': None}, [1, 0, 0], (), 'arm', id='shaft'),
    pytest.param({'arm': None, 'tip': None}, [0, 0, 1], (), 'tip', id='hinge'),
    pytest.param({'arm': None, 'tip': None}, [0, 0, 1], {'c'}, 'arm', id='held hinge'),
    pytest.param({'arm': None}, [0, 0, 1], {'c'}, 'arm', id='merged held hinge'),
])
def test_bearing_of_a_shaft_takes_the_thrust(there, axis, held, carrier):
    poses = dict.fromkeys(there, IDENTITY)
    tree = LinkTree(parse_urdf(TREE))
    model = SimulatedModel('r', poses, list(tree.joints.values()), 'arm')
    assert carrier_of(model, tree, 'tip', held, np.array(axis, float))[0] == carrier


@pytest.mark.parametrize(('link', 'message'), [
    pytest.param('base', "link 'root': the model has no such link; it has: wheel, rim", id='link'),
    pytest.param('tip', "link 'tip': the model has no such link, which continuous joint 'c' "
                 'moves; it has: wheel, rim', id='behind a hinge'),
])
def test_link_that_the_model_lacks_is_refused(link, message):
    model = SimulatedModel('r', dict.fromkeys(('wheel', 'rim'), IDENTITY))
    with pytest.raises(SourceError, match=message):
        carrier_of(model, LinkTree(parse_urdf(TREE)), link, ())


def test_motion_of_base_link():
    """Worked by hand: base_link 1 m along the carrier's x, which points along the world's y."""
    turned = Rotation.from_euler('z', 90.0, degrees=True).as_matrix()
    mount = Mount('root', pose(np.eye(3), 1, 0, 0))
    motion = mount.motion(
        pose(turned, 5, 5, 5), np.array([0.0, 3.0, 0.0]), np.array([0.0, 0.0, 2.0]),
    )
    # The spin adds 2 rad/s x 1 m, along the world's -x, to 3 m/s along the world's y.
    np.testing.assert_allclose(motion.velocity, [3.0, 2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(motion.angular_velocity, [0.0, 0.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(motion.rotation, turned, atol=1e-12)


def blocks():
    """Yield every group of the vehicles that pushes, with its tree."""
    for path in sorted((share_directory() / 'urdf').glob('*.urdf.xacro')):
        text = read_description(path).text
        for spec in pushing_blocks(actuators_from_urdf(text, loop_params_of)):
            yield pytest.param(text, spec, id=f'{path.name.split(".")[0]}-{spec.name}')


@pytest.mark.parametrize('keeps_links', [
    pytest.param(True, id='links'), pytest.param(False, id='merged'),
])
@pytest.mark.parametrize(('text', 'spec'), blocks())
def test_all_links_together_are_the_wrench_of_the_family(text, spec, keeps_links):
    """With every joint of the world at position 0: nothing of it is lost."""
    rng = np.random.default_rng(7)
    tree = LinkTree(parse_urdf(text))
    family, params = build_family(spec.family, {}, spec)
    done = moved(family, rng)
    all_links = [each.get('name') for each in parse_urdf(text).findall('link')]
    links = all_links if keeps_links else [tree.root]
    model = SimulatedModel(
        'r', {link: tree.pose(link, tree.root) for link in links}, list(tree.joints.values()),
        tree.root,
    )
    group = Group(spec, family, params, done)
    held = held_joints(parse_urdf(text), tree, [group])
    base = Mount(*carrier_of(model, tree, spec.base_link, held))
    forces = LinkForces(
        base, group_seats(model, tree, group, held), bool(group.turned(tree))
    )
    world = Pose(Rotation.random(random_state=rng).as_matrix(), rng.uniform(-9, 9, 3))
    poses = {link: world @ model.poses[link] for link in forces.links}
    assert forces.is_rigid == (len(poses) == 1)
    wrenches, total = forces.at(family, done, poses)
    origin = poses[base.link] @ base.pose
    summed = sum(move_wrench(w, poses[link].position - origin.position)
                 for link, w in wrenches.items())
    largest = np.abs(done.wrench).max()
    assert largest > 0.0
    close = {'rtol': 0.0, 'atol': 1e-11 * max(largest, 1.0)}
    np.testing.assert_allclose(total, done.wrench, **close)
    np.testing.assert_allclose(
        summed, (total.reshape(2, 3) @ origin.rotation.T).ravel(), **close
    )


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
