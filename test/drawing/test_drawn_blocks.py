# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from propulsion_ros.drawing.drawn_blocks import drawn_blocks
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.urdf.reader import actuators_from_urdf

ROBOT = """<robot name="r"><link name="base_link"/>
  <joint name="j" type="fixed"><parent link="base_link"/><child link="b"/></joint><link name="b"/>
  <gazebo><plugin filename="propulsion_ros" name="boosters">{tags}
    <booster name="one"><joint>j</joint><max_fuel_rate>1</max_fuel_rate>{booster}</booster>
  </plugin></gazebo></robot>"""
WHOLE = ROBOT.format(tags='', booster='<max_thrust>50</max_thrust>')
WITHOUT_LIMIT = ROBOT.format(tags='', booster='')


def vehicle(name):
    return read_description(share_directory() / 'urdf' / f'{name}.urdf.xacro').text


def drawn(description, parameters_of_node=lambda name: {}):
    """Return the blocks of a description as they are drawn."""
    return drawn_blocks(actuators_from_urdf(description, loop_params_of), parameters_of_node)


@pytest.mark.parametrize(('name', 'blocks'), [
    pytest.param('rocket', {'boosters': {'main_tank': 12.0}, 'fins': {}}, id='rocket'),
    pytest.param('rov', {'thrusters': {}, 'fins': {}}, id='rov, in the tags of UUV'),
    pytest.param('freeflyer', {'fam': {}, 'propulsion_modules': {}, 'inverse_fam': {}},
                 id='freeflyer'),
    pytest.param('cubesat', {'jets': {'nitrogen': 0.06}}, id='cubesat'),
])
def test_every_block_of_a_vehicle(name, blocks):
    found = drawn(vehicle(name))
    assert {block.name: dict(block.tanks) for block in found} == blocks
    assert [block.name for block in found if block.layout is None] == (
        ['fam'] if name == 'freeflyer' else []
    )


@pytest.mark.parametrize(('description', 'given', 'limit'), [
    pytest.param(WHOLE, {}, 50.0, id='tag'),
    pytest.param(WHOLE, {'max_thrust': [80]}, 80.0, id='parameter wins'),
    pytest.param(WITHOUT_LIMIT, {'max_thrust': [80]}, 80.0, id='parameter alone'),
    pytest.param(WHOLE, {'names': ['x'], 'position': [9.0, 9.0, 9.0]}, 50.0,
                 id="geometry is the description's"),
    pytest.param(WHOLE, {'publish_each': True, 'update_rate': 50}, 50.0, id='of the node'),
])
def test_limits_come_from_parameters_before_tags(description, given, limit):
    asked = []

    def parameters_of_node(name):
        asked.append(name)
        return given

    (block,) = drawn(description, parameters_of_node=parameters_of_node)
    assert asked == ['boosters']
    assert block.layout.highest.tolist() == [limit]
    assert block.layout.names == ('one',)
    assert block.layout.position.tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize(('description', 'given', 'said'), [
    pytest.param('<robot name="r"><link name="l"/></robot>', {},
                 "parameter 'robot_description': has no plugin block", id='no block'),
    pytest.param(WITHOUT_LIMIT, {}, 'max_thrust', id='no limit anywhere'),
    pytest.param(ROBOT.format(tags='', booster='<max_thrust>-5</max_thrust>'), {},
                 'booster[name=one]/max_thrust: -5 must be above 0 N', id='wrong tag'),
    pytest.param(WHOLE, {'max_thrust': [-5.0]}, "parameter 'max_thrust[0]': -5 must be above 0 N",
                 id='wrong parameter'),
    pytest.param('<robot', {}, 'robot', id='no XML'),
])
def test_what_is_wrong_is_named(description, given, said):
    with pytest.raises(ConfigError) as caught:
        drawn(description, parameters_of_node=lambda name: given)
    assert said in str(caught.value)
