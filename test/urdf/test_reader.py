# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.boosters.boosters import BoostersParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf

URDF = """
<robot name="r">
  <link name="base"/> <link name="tank"/> <link name="ring"/> <link name="plate"/>
  <link name="one"/> <link name="ns/two"/>
  <joint name="tank_joint" type="fixed"><parent link="base"/><child link="tank"/>
    <origin xyz="0 0 2" rpy="0 1.5707963267948966 0"/></joint>
  <joint name="gx" type="revolute"><parent link="base"/><child link="ring"/>
    <origin xyz="0.5 0 0.3"/><axis xyz="1 0 0"/></joint>
  <joint name="gy" type="revolute"><parent link="ring"/><child link="plate"/>
    <axis xyz="0 2 0"/></joint>
  <joint name="one_joint" type="fixed"><parent link="plate"/><child link="one"/>
    <origin xyz="0 0 -0.3"/></joint>
  <joint name="two_joint" type="fixed"><parent link="base"/><child link="ns/two"/>
    <origin xyz="-0.5 0 0" rpy="3.141592653589793 0 0"/></joint>
  <gazebo><plugin filename="libgazebo_ros_control.so" name="other"/></gazebo>
  <gazebo>
    <plugin filename="propulsion_ros" name="boosters">
      <update_rate>200</update_rate>
      <integrator>euler</integrator>
      <tank name="main"><link>tank</link><capacity>5</capacity><inertia>1 2 3</inertia></tank>
      <booster name="one">
        <joint>one_joint</joint><tank>main</tank>
        <max_thrust>100</max_thrust><max_fuel_rate>0.1</max_fuel_rate>
        <time_constant>0.2</time_constant>
        <gimbal><joint>gx</joint><joint>gy</joint><range>0.1 0.2</range></gimbal>
      </booster>
      <booster name="two">
        <link>ns/two</link><axis>0 0 1</axis><reignitable>false</reignitable>
        <max_thrust>50</max_thrust><max_fuel_rate>0.1</max_fuel_rate>
      </booster>
    </plugin>
  </gazebo>
</robot>
"""


def read(xml=URDF):
    (spec,) = actuators_from_urdf(xml, LoopParams)
    return spec


@pytest.fixture(scope='module')
def params():
    return build(BoostersParams, read().values)


def test_block_gives_name_family_and_rates():
    spec = read()
    assert (spec.name, spec.family, spec.base_link) == ('boosters', 'boosters', 'base')
    assert build(LoopParams, spec.values).update_rate == 200.0


def test_values_stand_in_rows_and_absent_ones_take_the_default(params):
    assert params.names == ('one', 'two')
    np.testing.assert_array_equal(params.max_thrust, [100, 50])
    np.testing.assert_array_equal(params.time_constant, [0.2, 0.0])
    np.testing.assert_array_equal(params.reignitable, [True, False])
    assert params.tank == ('main', '')
    assert params.integrator == 'euler'


def test_geometry_comes_from_the_link_tree(params):
    np.testing.assert_allclose(params.position, [[0.5, 0, 0], [-0.5, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(params.axis, [[0, 0, 1], [0, 0, -1]], atol=1e-15)
    assert params.link == ('one', 'ns/two')
    np.testing.assert_allclose(params.tanks.com, [[0, 0, 2]], atol=1e-15)
    # The tank lies on its side: its z axis is the base's x axis.
    np.testing.assert_allclose(params.tanks.rotation[0] @ [0, 0, 1], [1, 0, 0], atol=1e-15)


def test_rocket_weighs_what_its_links_weigh():
    description = read_description(share_directory() / 'urdf' / 'rocket.urdf.xacro').text
    base_link, mass = mass_from_urdf(description)
    assert base_link == 'base_link'
    assert mass.mass == pytest.approx(38.0)
    assert mass.com[2] == pytest.approx((34.0 * 1.7 + 4.0 * 0.12) / 38.0)


def test_error_in_what_a_parameter_gave_instead_is_left_to_the_parameter():
    spec = read()
    error = ConfigError('max_thrust', '-1 must be above 0 N', 0)
    assert str(spec.locate(error)) == (
        'gazebo/plugin[name=boosters]/booster[name=one]/max_thrust: -1 must be above 0 N'
    )
    assert spec.locate(error, {'max_thrust'}) is error
    assert spec.locate(ConfigError('no_such_key', 'is odd')).key == 'no_such_key'
