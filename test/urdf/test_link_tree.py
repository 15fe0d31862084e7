# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.urdf.link_tree import CHAIN_LIMIT, LinkTree
from propulsion_ros.urdf.xml import parse_urdf
from refusals import refusal

QUARTER = 1.5707963267948966


def robot(body):
    return f'<robot name="r">{body}</robot>'


def joint(name, parent, child, origin='', extra='', kind='fixed'):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/>{origin}{extra}</joint>')


def links(*names):
    return ''.join(f'<link name="{name}"/>' for name in names)


def test_mass_is_turned_and_placed():
    tree = LinkTree(parse_urdf(robot(
        '<link name="base"/><link name="a"><inertial><origin xyz="0 0 1"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial></link>'
        + joint('j', 'base', 'a', f'<origin xyz="5 0 0" rpy="0 {QUARTER} 0"/>')
    )))
    ((_, part),) = tree.inertials('base')
    assert part.mass == 2.0
    np.testing.assert_allclose(part.com, [6, 0, 0], atol=1e-15)
    np.testing.assert_allclose(np.diag(part.inertia), [3, 2, 1], atol=1e-14)


def inertial(mass, moments):
    xx, yy, zz, xy = moments
    return robot(
        f'<link name="b"><inertial><mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" '
        f'ixy="{xy}" ixz="0" iyz="0"/></inertial></link>'
    )


@pytest.mark.parametrize(('xml', 'message'), [
    pytest.param(inertial(-1, (1, 1, 1, 0)),
                 r'\[name=b\]/inertial/mass/@value: -1 is below 0 kg; write 1', id='mass'),
    pytest.param(inertial(1, (1, 1, -0.5, 0)),
                 r'inertial/inertia: its principal moments are -0.5, 1, 1 kg m\^2, expected none',
                 id='moment'),
    pytest.param(inertial(1, (1, 1, 1, 2)), 'its principal moments are -1, 1, 3', id='product'),
])
def test_mass_of_nothing_is_refused(xml, message):
    with pytest.raises(SourceError, match=message):
        list(LinkTree(parse_urdf(xml)).inertials('b'))


# Geometry.

angles = st.floats(-7.0, 7.0)
lengths = st.floats(-10.0, 10.0)
triples = st.tuples(lengths, lengths, lengths), st.tuples(angles, angles, angles)


def chain(origins):
    """Return a robot whose links l0, l1, ... hang on each other, and the last pose by scipy."""
    text = links(*(f'l{i}' for i in range(len(origins) + 1)))
    turn, place = Rotation.identity(), np.zeros(3)
    for i, (xyz, rpy) in enumerate(origins):
        text += joint(f'j{i}', f'l{i}', f'l{i + 1}', '<origin xyz="{} {} {}" rpy="{} {} {}"/>'
                      .format(*map(repr, (*xyz, *rpy))))
        place = place + turn.apply(xyz)
        # Roll, pitch, yaw about fixed axes are yaw, pitch, roll about moving ones.
        turn = turn * Rotation.from_euler('ZYX', rpy[::-1])
    return LinkTree(parse_urdf(robot(text))), turn.as_matrix(), place


@given(st.lists(st.tuples(*triples), min_size=2, max_size=6), st.data())
def test_poses_are_composed_along_the_tree_whatever_the_way(origins, data):
    tree, turn, place = chain(origins)
    last = tree.pose(f'l{len(origins)}', 'l0')
    np.testing.assert_allclose(last.rotation, turn, atol=1e-12)
    np.testing.assert_allclose(last.position, place, atol=1e-11)
    a, b, c = (
        f'l{data.draw(st.integers(0, len(origins)), label=name)}' for name in 'abc'
    )
    whole, parts = tree.pose(a, c), tree.pose(b, c) @ tree.pose(a, b)
    np.testing.assert_allclose(parts.rotation, whole.rotation, atol=1e-12)
    np.testing.assert_allclose(parts.position, whole.position, atol=1e-11)
    np.testing.assert_allclose(whole.rotation @ whole.rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(whole.rotation) == pytest.approx(1.0)


@pytest.mark.parametrize('branch', [False, True])
def test_chains_of_joints_are_limited(branch):
    def tree(count):
        text = links(*(f'l{i}' for i in range(count + 1)), 'side') + ''.join(
            joint(f'j{i}', f'l{i}', f'l{i + 1}', '<origin xyz="0.5 0 0"/>') for i in range(count)
        )
        return LinkTree(parse_urdf(robot(text + joint('s', 'l1' if branch else 'l0', 'side'))))

    assert tree(CHAIN_LIMIT).pose(f'l{CHAIN_LIMIT}', 'l0').position[0] == 0.5 * CHAIN_LIMIT
    with pytest.raises(SourceError, match=f'hangs on more than {CHAIN_LIMIT} joints in a row'):
        tree(CHAIN_LIMIT + 1)


# Joints.

TREE = robot(
    links('world', 'ns/base', 'ns/arm', 'ns/fin', 'other/fin', 'loose')
    + joint('free', 'world', 'ns/base', kind='floating')
    + joint('ns/shoulder', 'ns/base', 'ns/arm', '<axis xyz="0 0 -2"/>',
            '<limit lower="-0.5" upper="1e16"/><mimic joint="ns/fin_joint"/>', kind='revolute')
    + joint('ns/fin_joint', 'ns/arm', 'ns/fin', kind='continuous')
    + joint('other/fin_joint', 'ns/arm', 'other/fin', kind='prismatic')
    + joint('slide', 'world', 'loose', kind='planar')
)


@pytest.fixture(scope='module')
def tree():
    return LinkTree(parse_urdf(TREE))


def test_joint_says_how_it_moves(tree):
    shoulder, fin = tree.joint('ns/shoulder', 'p'), tree.joint('ns/fin_joint', 'p')
    np.testing.assert_array_equal(shoulder.axis, [0, 0, -1])
    assert (shoulder.kind, shoulder.limits, shoulder.mimics) == (
        'revolute', (-0.5, 1e16), 'ns/fin_joint',
    )
    assert shoulder.turns
    assert not shoulder.is_loose
    np.testing.assert_array_equal(fin.axis, [1, 0, 0])
    assert (fin.turns, fin.limits, fin.mimics) == (True, None, '')
    assert tree.joint('other/fin_joint', 'p').limits is None
    assert [name for name, j in tree.joints.items() if j.is_loose] == ['free', 'slide']


@pytest.mark.parametrize(('asked', 'message'), [
    pytest.param('fin', "p: link 'fin' may be 'ns/fin' or 'other/fin'", id='ambiguous'),
    pytest.param('my/base', "p: unknown link 'my/base', did you mean 'ns/base'?",
                 id='another namespace'),
    pytest.param('se', "p: unknown link 'se', known: world, ns/base, ns/arm, ns/fin, ...",
                 id='not a whole name'),
    pytest.param('', "p: unknown link '', known: world, ns/base, ns/arm, ns/fin, ...", id='empty'),
])
def test_link_is_not_found(tree, asked, message):
    assert refusal(tree.require_link, asked, 'p') == message


def test_ends_of_joints_are_named_whole():
    xml = robot(links('ns/a', 'ns/b') + joint('j', 'a', 'ns/b'))
    with pytest.raises(SourceError, match="unknown link 'a'"):
        LinkTree(parse_urdf(xml))
