# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.fins.fins import FinsParams
from propulsion_ros.models.thrusters.thrusters import ThrustersParams
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.reader import actuators_from_urdf

JOINTS = ('rov/thruster_10_joint', 'rov/thruster_2_joint', 'rov/fin_1_joint', 'arm', 'ab_joint')


def robot(row, family='thrusters', joints=JOINTS):
    tree = ''.join(
        f'<link name="{joint}_link"/><joint name="{joint}" type="continuous">'
        f'<origin xyz="{i} 0 0"/><axis xyz="0 0 1"/><parent link="base"/>'
        f'<child link="{joint}_link"/></joint>' for i, joint in enumerate(joints)
    )
    return (
        f'<robot name="r"><link name="base"/>{tree}<gazebo>'
        f'<plugin filename="propulsion_ros" name="{family}">{row}</plugin></gazebo></robot>'
    )


def thruster(expression, rest='<rotor_constant>0.01</rotor_constant>'):
    return f'<thruster><names_expr>{expression}</names_expr>{rest}</thruster>'


def names(row, **kwargs):
    (spec,) = actuators_from_urdf(robot(row, **kwargs))
    return spec.values['names']


def test_one_tag_stands_for_all_joints_that_fit_in_the_order_of_the_description():
    (spec,) = actuators_from_urdf(robot(thruster(r'thruster_[0-9]+_joint')))
    params = build(ThrustersParams, spec.values)
    assert params.names == ('thruster_10_joint', 'thruster_2_joint')
    assert params.link == ('rov/thruster_10_joint_link', 'rov/thruster_2_joint_link')
    np.testing.assert_array_equal(params.rotor_constant, [0.01, 0.01])
    np.testing.assert_array_equal(params.position[:, 0], [0, 1])
    np.testing.assert_array_equal(params.axis, [[0, 0, 1]] * 2)


def test_parts_of_an_actuator_serve_all_too():
    row = (
        '<fin><names_expr>fin_1_joint|arm</names_expr><chord>1 0 0</chord><quadratic>'
        '<lift_constant>1</lift_constant><drag_constant>2</drag_constant></quadratic></fin>'
    )
    (spec,) = actuators_from_urdf(robot(row, 'fins'))
    params = build(FinsParams, spec.values)
    assert params.names == params.quadratic.fin == ('fin_1_joint', 'arm')
    np.testing.assert_array_equal(params.quadratic.drag_constant, [2, 2])


def test_several_tags_share_the_joints_of_a_robot():
    both = thruster('thruster_2_joint') + thruster('thruster_1.*')
    assert names(both) == ['thruster_2_joint', 'thruster_10_joint']


def test_joints_of_two_vehicles_of_one_name_are_two_actuators_of_one_name():
    with pytest.raises(ValueError, match="'arm' is named twice"):
        (spec,) = actuators_from_urdf(robot(thruster('arm'), joints=('x/arm', 'y/arm')))
        build(ThrustersParams, spec.values)


pieces = st.sampled_from([
    'a', 'b', '_', '1', '.', r'\d', r'\w', '[ab]', '[^a]', '[]a]', r'\.', '(a|b)', '(?:ab|1)',
    'a*', 'b+', '.*', r'\d+', 'a?', '1{2}', 'b{1,2}', '.*?', '|',
])


@given(st.lists(pieces, min_size=1, max_size=5).map(''.join),
       st.lists(st.text('ab_1', min_size=1, max_size=6), min_size=1, max_size=5, unique=True))
def test_what_is_taken_fits_as_python_says(expression, joints):
    expected = [joint for joint in joints if re.fullmatch(expression, joint)]
    if expected:
        assert names(thruster(expression), joints=joints) == expected
    else:
        with pytest.raises(SourceError, match='fits no joint'):
            names(thruster(expression), joints=joints)


adversarial = st.text('ab(|)*+?{1,2}[^].\\', max_size=30)


@given(adversarial)
def test_no_expression_takes_long(expression):
    """Every expression is either refused or matched within the bound: a hang would time out."""
    joint = 'ab' * 30
    xml = robot(thruster(expression), joints=(joint,))
    try:
        (spec,) = actuators_from_urdf(xml)
    except SourceError:
        return
    assert spec.values['names'] == [joint]
