from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.errors import SourceError
from propulsion_ros.link_tree import DEPTH_LIMIT, SIZE_LIMIT, LinkTree, numbers, parse_urdf

QUARTER = 1.5707963267948966


def robot(body):
    return f'<robot name="r">{body}</robot>'


def joint(name, parent, child, origin='', extra=''):
    return (f'<joint name="{name}" type="fixed"><parent link="{parent}"/>'
            f'<child link="{child}"/>{origin}{extra}</joint>')


def links(*names):
    return ''.join(f'<link name="{name}"/>' for name in names)


def test_poses_are_composed_along_the_tree():
    tree = LinkTree(parse_urdf(robot(
        links('base', 'a', 'b')
        + joint('j1', 'base', 'a', f'<origin xyz="1 2 3" rpy="0 0 {QUARTER}"/>')
        + joint('j2', 'a', 'b', f'<origin xyz="1 0 0" rpy="{QUARTER} 0 0"/>')
    )))
    pose = tree.pose('b', 'base')
    np.testing.assert_allclose(pose.position, [1, 3, 3], atol=1e-15)
    # b's z axis: -y of a, which is +x of the base.
    np.testing.assert_allclose(pose.rotation @ [0, 0, 1], [1, 0, 0], atol=1e-15)
    back = tree.pose('base', 'b')
    np.testing.assert_allclose((pose @ back).position, 0, atol=1e-15)


def test_rpy_turns_about_fixed_axes_roll_first():
    tree = LinkTree(parse_urdf(robot(
        links('base', 'a') + joint('j', 'base', 'a', f'<origin rpy="{QUARTER} 0 {QUARTER}"/>')
    )))
    # y rolls to z, and yaw about z leaves it there.
    np.testing.assert_allclose(tree.pose('a', 'base').rotation @ [0, 1, 0], [0, 0, 1], atol=1e-15)


def test_mass_is_turned_and_placed():
    tree = LinkTree(parse_urdf(robot(
        '<link name="base"/><link name="a"><inertial><origin xyz="0 0 1"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial></link>'
        + joint('j', 'base', 'a', f'<origin xyz="5 0 0" rpy="0 {QUARTER} 0"/>')
    )))
    ((mass, com, inertia),) = tree.inertials('base')
    assert mass == 2.0
    np.testing.assert_allclose(com, [6, 0, 0], atol=1e-15)
    np.testing.assert_allclose(np.diag(inertia), [3, 2, 1], atol=1e-14)


@pytest.mark.parametrize(('xml', 'message'), [
    pytest.param('<robot', 'robot: not well-formed XML', id='cut off'),
    pytest.param('', "robot: expected the text of a URDF, got ''", id='empty'),
    pytest.param('/my/robot.urdf', "robot: expected the text of a URDF, got '/my/robot.urdf'",
                 id='path'),
    pytest.param('<sdf/>', 'sdf: expected <robot> as the root element', id='another root'),
    pytest.param('<!DOCTYPE r [<!ENTITY a "b">]><robot name="r"/>',
                 r'robot: DTDs and entities are refused', id='DTD'),
    pytest.param('<robot name="r"/>', 'expected one root link, got 0: none', id='no link'),
    pytest.param(robot(links('a', 'b')), 'expected one root link, got 2: a, b', id='two roots'),
    pytest.param(robot('<link/>'), 'robot/link: expected a name attribute', id='nameless link'),
    pytest.param(robot(links('a', 'b') + joint('j', 'a', 'c')),
                 r"robot/joint\[name=j\]/child: unknown link 'c'", id='unknown child'),
    pytest.param(robot(links('a', 'b') + joint('j', 'a', 'b') + joint('k', 'a', 'b')),
                 r"robot/joint\[name=k\]/child: link 'b' already has a parent", id='two parents'),
    pytest.param(robot(links('r', 'a', 'b') + joint('j', 'a', 'b') + joint('k', 'b', 'a')),
                 'its joints form a loop', id='loop'),
    pytest.param(robot(links('a', 'b') + joint('j', 'a', 'b', '<origin xyz="1 2"/>')),
                 r'robot/joint\[name=j\]/origin/@xyz: expected 3 numbers, got 2', id='two numbers'),
    pytest.param(robot(links('a', 'b') + joint('j', 'a', 'b', '<origin rpy="0 0 x"/>')),
                 r"robot/joint\[name=j\]/origin/@rpy: expected a number, got 'x'", id='text'),
    pytest.param(robot(links('a', 'b') + joint('j', 'a', 'b', '', '<axis xyz="0 0 0"/>')),
                 r'robot/joint\[name=j\]/axis/@xyz: expected a direction, got length 0', id='axis'),
])
def test_errors_name_the_path(xml, message):
    with pytest.raises(SourceError, match=message):
        LinkTree(parse_urdf(xml))


def test_size_and_depth_are_limited():
    with pytest.raises(SourceError, match='expected at most'):
        parse_urdf('<robot>' + ' ' * SIZE_LIMIT + '</robot>')
    deep = '<a>' * DEPTH_LIMIT + '</a>' * DEPTH_LIMIT
    with pytest.raises(SourceError, match='nested deeper than'):
        parse_urdf(robot(deep))


def test_unknown_joint_gets_a_suggestion():
    tree = LinkTree(parse_urdf(robot(links('a', 'b') + joint('wheel', 'a', 'b'))))
    with pytest.raises(SourceError, match=r"here: unknown joint 'whel', did you mean 'wheel'\?"):
        tree.joint('whel', 'here')


def test_numbers_are_finite():
    assert numbers(' 1  -2.5e3\n', 'p') == [1.0, -2500.0]
    with pytest.raises(SourceError, match='p: inf is not finite'):
        numbers('inf', 'p')
