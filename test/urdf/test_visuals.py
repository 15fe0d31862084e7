# SPDX-License-Identifier: Apache-2.0
"""What the links of a robot description look like."""
from __future__ import annotations

import pytest

from propulsion_ros.urdf.visuals import PLAIN, visuals_of
from propulsion_ros.urdf.xml import parse_urdf
from refusals import refusal


def visuals(text):
    return list(visuals_of(parse_urdf(f'<robot name="r">{text}</robot>')))


def link(geometry, rest='', tag='visual'):
    return f'<link name="a"><{tag}>{rest}<geometry>{geometry}</geometry></{tag}></link>'


@pytest.mark.parametrize(('geometry', 'kind', 'size'), [
    ('<box size="1 2 3"/>', 'box', (1.0, 2.0, 3.0)),
    ('<cylinder radius="0.1" length="2"/>', 'cylinder', (0.1, 2.0)),
    ('<sphere radius="0.5"/>', 'sphere', (0.5,)),
    ('<mesh filename="package://p/a.stl"/>', 'mesh', (1.0, 1.0, 1.0)),
    ('<mesh filename="a.dae" scale="1 1 -2"/>', 'mesh', (1.0, 1.0, -2.0)),
])
def test_each_shape_has_its_size(geometry, kind, size):
    (found,) = visuals(link(geometry, '<origin xyz="1 0 0"/>'))
    assert (found.kind, found.size, found.colour) == (kind, size, PLAIN)
    assert found.pose.position.tolist() == [1.0, 0.0, 0.0]


def test_colours_are_found_by_name_wherever_they_are_given():
    red = '<material name="red"><color rgba="1 0 0 2"/></material>'
    box = '<box size="1 1 1"/>'
    assert visuals(red + link(box, '<material name="red"/>'))[0].colour == (1.0, 0.0, 0.0, 1.0)
    assert visuals(link(box, red))[0].colour == (1.0, 0.0, 0.0, 1.0)
    assert visuals(link(box, '<material name="other"/>') + red)[0].colour == PLAIN


def test_collisions_stand_for_a_robot_without_visuals():
    (found,) = visuals(link('<sphere radius="1"/>', tag='collision'))
    assert found.kind == 'sphere'
    both = link('<box size="1 1 1"/>') + link(
        '<sphere radius="1"/>', tag='collision').replace('"a"', '"b"')
    assert [each.kind for each in visuals(both)] == ['box']


@pytest.mark.parametrize(('geometry', 'expected'), [
    ('', 'expected box, cylinder, sphere or mesh, got nothing'),
    ('<cone radius="1"/>', "expected box, cylinder, sphere or mesh, got 'cone'"),
    ('<box size="1 1"/>', 'expected 3 numbers, got 2; write x, y and z'),
    ('<box size="1 1 0"/>', 'expected sizes above 0, got 0'),
    ('<sphere radius="nan"/>', 'nan is not finite'),
    ('<sphere/>', 'expected 1 number, got 0'),
    ('<mesh/>', 'expected a file'),
])
def test_a_wrong_shape_is_named_by_its_path(geometry, expected):
    line = refusal(visuals, link(geometry))
    assert line.startswith('robot/link[name=a]/visual/geometry')
    assert line.endswith(expected)
