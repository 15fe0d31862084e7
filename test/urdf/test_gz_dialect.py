# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.errors import FaultList
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.reader import actuators_from_urdf, family_of

STILL = BodyState()
THRUSTER = (
    '<namespace>boat</namespace><joint_name>{0}_joint</joint_name>'
    '<thrust_coefficient>0.004422</thrust_coefficient><fluid_density>1025</fluid_density>'
    '<propeller_diameter>0.2</propeller_diameter><velocity_control>true</velocity_control>'
    '<max_thrust_cmd>300</max_thrust_cmd><min_thrust_cmd>-200</min_thrust_cmd>'
)
ROTOR = (
    '<robotNamespace>x3</robotNamespace><jointName>{0}_joint</jointName><linkName>{0}</linkName>'
    '<turningDirection>{1}</turningDirection><timeConstantUp>0.0182</timeConstantUp>'
    '<timeConstantDown>0.0182</timeConstantDown><maxRotVelocity>1000.0</maxRotVelocity>'
    '<motorConstant>8.54858e-06</motorConstant><momentConstant>0.06</momentConstant>'
    '<commandSubTopic>gazebo/command/motor_speed</commandSubTopic><motorNumber>{2}</motorNumber>'
    '<rotorDragCoefficient>8.06428e-05</rotorDragCoefficient>'
    '<rollingMomentCoefficient>1e-06</rollingMomentCoefficient><motorType>velocity</motorType>'
)


def robot(*plugins, kind='thruster', prefix='gz-sim', extra=''):
    links = ''.join(
        f'<link name="{name}"/><joint name="{name}_joint" type="continuous">'
        f'<parent link="base"/><child link="{name}"/><origin xyz="{i} 0 0"/><axis xyz="1 0 0"/>'
        '</joint>' for i, name in enumerate('ab')
    )
    blocks = ''.join(
        f'<gazebo><plugin filename="{prefix}-{kind}-system" name="gz::sim::systems::Any">{inside}'
        '</plugin></gazebo>' for inside in plugins
    )
    return f'<robot name="r"><link name="base"/>{links}{blocks}{extra}</robot>'


def rotors(*plugins, **options):
    return robot(*plugins, kind='multicopter-motor-model', **options)


def read(xml):
    (spec,) = actuators_from_urdf(xml, LoopParams)
    return spec


@pytest.mark.parametrize('prefix', ['gz-sim', 'libgz-sim', 'gz-sim8', 'ignition-gazebo'])
def test_thrusters_push_as_there(prefix):
    spec = read(robot(THRUSTER.format('a'), THRUSTER.format('b'), prefix=prefix))
    assert (spec.name, spec.family) == ('thrusters', 'thrusters')
    params = build(ThrustersParams, spec.values)
    assert params.names == ('a_joint', 'b_joint')
    assert params.command_interface == 'effort'
    np.testing.assert_array_equal(params.position[:, 0], [0.0, 1.0])
    output = Thrusters(params).step(Command(effort=[250.0, -500.0]), STILL, 0.01, 0)
    np.testing.assert_allclose(output.effort, [250.0, -200.0], rtol=1e-9)
    speed = np.sqrt(250.0 / (1025 * 0.004422 * 0.2**4))
    assert output.velocity[0] == pytest.approx(speed, rel=1e-9)


def test_thrusters_by_speed():
    inside = THRUSTER.format('a') + '<use_angvel_cmd>true</use_angvel_cmd>'
    params = build(ThrustersParams, read(robot(inside)).values)
    output = Thrusters(params).step(Command(velocity=[100.0]), STILL, 0.01, 0)
    assert output.effort[0] == pytest.approx(1025 * 0.004422 * 0.2**4 * 100.0**2)


STREAM = '<alpha_1>0.2</alpha_1><alpha_2>-0.1</alpha_2>'


@pytest.mark.parametrize(('tags', 'expected'), [
    pytest.param('<max_thrust_cmd>-5</max_thrust_cmd><min_thrust_cmd>5</min_thrust_cmd>', {
        'min_thrust': -1000.0, 'max_thrust': 1000.0, 'thrust_coefficient': 1.0,
        'propeller_diameter': 0.02,
    }, id='defaults and swapped limits'),
    pytest.param(STREAM, {'thrust_coefficient': 0.2, 'advance_coefficient': -0.1}, id='stream'),
    pytest.param(f'{STREAM}<thrust_coefficient>0.3</thrust_coefficient>',
                 {'thrust_coefficient': 0.3, 'advance_coefficient': 0.0}, id='both'),
])
def test_numbers_of_a_thruster_are_those_of_the_original(tags, expected):
    inside = f'<joint_name>a_joint</joint_name>{tags}'
    params = build(ThrustersParams, read(robot(inside)).values)
    assert {key: getattr(params, key)[0] for key in expected} == expected


def test_rotors_push_as_there():
    spec = read(rotors(ROTOR.format('b', 'cw', 1), ROTOR.format('a', 'ccw', 0)))
    params = build(RotorsParams, spec.values)
    assert params.names == ('rotor_0', 'rotor_1')
    assert params.link == ('a', 'b')
    np.testing.assert_array_equal(params.direction, [1, -1])
    np.testing.assert_allclose(params.max_thrust, 8.54858)
    family = Rotors(params)
    for tick in range(100):
        output = family.step(Command(velocity=[800.0, 1200.0]), STILL, 0.01, tick)
    thrust = 8.54858e-06 * np.array([800.0, 1000.0])**2
    np.testing.assert_allclose(output.effort, thrust, rtol=1e-9)
    np.testing.assert_allclose(output.wrench[2], thrust.sum(), rtol=1e-9)
    assert output.wrench[5] == pytest.approx(0.06 * (thrust[1] - thrust[0]))


def test_what_has_no_effect_is_noted():
    notes = read(rotors(ROTOR.format('a', 'cw', 0) + '<new>1</new>')).notes
    path = 'gazebo/plugin[name=gz::sim::systems::Any]'
    assert f'{path}/new has no effect: it is not known here' in notes
    line = 'rotorDragCoefficient (it would need odometry; give rotor_drag_coefficient'
    assert any(line in note for note in notes)


def test_a_block_of_this_package_stands_for_plugins_of_gazebo_beside_it():
    own = (
        '<gazebo><plugin filename="propulsion_ros" name="thrusters"><thruster name="t">'
        '<joint>a_joint</joint><rotor_constant>1e-3</rotor_constant></thruster></plugin></gazebo>'
    )
    faults = FaultList()
    (spec,) = actuators_from_urdf(
        robot(THRUSTER.format('a'), extra=own), LoopParams, faults=faults
    )
    assert spec.values['names'] == ['t']
    assert faults.warnings == [(
        'gazebo/plugin[filename=gz-sim-thruster-system]',
        "has no effect here: block 'thrusters' stands for it",
    )]


@pytest.mark.parametrize(('filename', 'family'), [
    ('gz-sim-thruster-system', 'thrusters'), ('libuuv_fin_ros_plugin.so', 'fins'),
    ('ignition-gazebo6-multicopter-motor-model-system', 'rotors'), ('gz-sim-imu-system', ''),
    ('libuuv_thruster_plugin.so', 'thrusters'), ('uuv_thruster_ros_plugin', 'thrusters'),
    ('uuv_thruster', ''), ('libuuv_underwater_object_ros_plugin.so', ''),
    ('libgazebo_ros_p3d.so', ''), ('', ''),
])
def test_family_of_a_plugin_of_others(filename, family):
    assert family_of(filename) == family
