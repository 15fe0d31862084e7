# SPDX-License-Identifier: Apache-2.0
"""The page on robot descriptions says what is read."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.graph.family_params import GroupParams
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.thrusters.thrusters import ThrustersParams
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf import block as plugin_block
from propulsion_ros.urdf import link_tree
from propulsion_ros.urdf import reader as description
from propulsion_ros.urdf import xml as urdf_xml
from propulsion_ros.urdf.reader import actuators_from_urdf

PAGE = (Path(__file__).parent.parent / 'docs/urdf.md').read_text()
ROBOT, STEERING, ROW = re.findall(r'```xml\n(.*?)```', PAGE, re.DOTALL)
PLUGIN = (
    '<robot name="r"><link name="B"/><link name="L"/><joint name="J" type="revolute">'
    '<parent link="B"/><child link="L"/><axis xyz="0 0 1"/></joint>'
    '<gazebo><plugin filename="{}" name="p">{}</plugin></gazebo></robot>'
)
LAG = '<dynamics><type>ZeroOrder</type></dynamics>'
SQUARE = '<conversion><type>Basic</type><rotorConstant>1</rotorConstant></conversion>'


def table(title):
    """Return type, name here and constants of the rows under one heading."""
    start = PAGE.index(f'| `<{title}>` |')
    lines = PAGE[start:].split('\n\n')[0].splitlines()[2:]
    for line in lines:
        kind, here, constants = (cell.strip() for cell in line.strip('|').split('|'))
        pairs = re.findall(r'`(\w+)`(?:: `(\w+)`)?', constants)
        yield pytest.param(
            title, kind.strip('`'), here.strip('`'), {a: b or a for a, b in pairs},
            id=f'{title} {kind}',
        )


def test_example_is_read():
    (spec,) = actuators_from_urdf(ROBOT, LoopParams)
    params = build(ThrustersParams, spec.values)
    assert params.names == ('port', 'starboard')
    assert params.dynamics == ('first_order',) * 2
    np.testing.assert_array_equal(params.position, [[-0.4, 0.2, 0], [-0.4, -0.2, 0]])


def test_example_of_an_expression_is_read():
    start, end = ROBOT.index('<thruster'), ROBOT.rindex('</thruster>') + len('</thruster>')
    row = ROW.replace(r'thruster_\d+_joint', 'p.rt')
    (spec,) = actuators_from_urdf(ROBOT[:start] + row + ROBOT[end:], LoopParams)
    assert spec.values['names'] == ['port']


def test_example_of_steering_is_read():
    robot = ROBOT.replace('<parent link="base_link"/> <child link="port_link"/>', (
        '<parent link="pod"/> <child link="port_link"/>'
    )).replace('  <link name="port_link"/>', (
        '<link name="pod"/><joint name="port_azimuth" type="continuous"> <parent link="base_link"/>'
        '<child link="pod"/><axis xyz="0 0 1"/><limit effort="1" velocity="2"/></joint>'
        '<link name="port_link"/>'
    )).replace('    </plugin>', f'{STEERING}</plugin>')
    (spec,) = actuators_from_urdf(robot, GroupParams)
    joints = build(GroupParams, spec.values).steering
    assert (joints.joints, joints.mode, joints.actuators) == (
        ('port_azimuth',), ('servo',), ('port_azimuth', ''),
    )
    assert joints.time_constant == 0.2
    assert joints.rate_limit == 2.0
    assert not spec.notes


@pytest.mark.parametrize(('title', 'kind', 'here', 'constants'), [
    *table('dynamics'), *table('conversion'), *table('liftdrag'),
])
def test_constants_are_those_of_the_tables(title, kind, here, constants):
    values = {key: f'0.{i + 1}' for i, key in enumerate(constants)}
    model = f'<{title}><type>{kind}</type>' + ''.join(
        f'<{key}>{value}</{key}>' for key, value in values.items()
    ) + f'</{title}>'
    if title == 'liftdrag':
        inside = f'<fin_id>0</fin_id><joint_name>J</joint_name>{LAG}{model}'
        filename, prefix = 'libuuv_fin_ros_plugin.so', f'{here}.'
    else:
        other = SQUARE if title == 'dynamics' else LAG
        inside = f'<thrusterID>0</thrusterID><jointName>J</jointName>{model}{other}'
        filename, prefix = 'libuuv_thruster_ros_plugin.so', ''
    (spec,) = actuators_from_urdf(PLUGIN.format(filename, inside))
    assert spec.values[f'{prefix}fin' if prefix else title] == ['fin_0' if prefix else here]
    for key, parameter in constants.items():
        (found,) = spec.values[prefix + parameter]
        assert float(found) == float(values[key])
    assert spec.notes == ()
    for key in constants:
        broken = model.replace(f'<{key}>{values[key]}</{key}>', '')
        with pytest.raises(SourceError, match=f'{title}/{key}: is missing, {kind} needs it'):
            actuators_from_urdf(PLUGIN.format(filename, inside.replace(model, broken)))


def test_limits_are_those_of_the_table():
    assert f'{urdf_xml.SIZE_LIMIT // 2**20} Mi characters, {urdf_xml.DEEPEST} el' in PAGE
    assert f'joints in a row | {link_tree.CHAIN_LIMIT} |' in PAGE
    assert f'{description.BLOCK_LIMIT}, {plugin_block.ROW_LIMIT} |' in PAGE
