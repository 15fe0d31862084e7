# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.thrusters.curves import ThrustCurves
from propulsion_ros.models.thrusters.dynamics import RotorDynamics
from propulsion_ros.models.thrusters.thrusters import ThrustersParams
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.reader import actuators_from_urdf
from refusals import refusal

GOLDEN = Path(__file__).parents[1] / 'data/golden'


def scenarios(name):
    return {s['name']: s for s in json.loads((GOLDEN / f'{name}.json').read_text())['scenarios']}


THRUSTERS, FINS = scenarios('uuv_thruster_plugin'), scenarios('uuv_fin_plugin')
CURVES, DYNAMICS = scenarios('uuv_conversions'), scenarios('uuv_dynamics')

LAG = '<dynamics><type>FirstOrder</type><timeConstant>0.1</timeConstant></dynamics>'
SQUARE = '<conversion><type>Basic</type><rotorConstant>0.002</rotorConstant></conversion>'
NAMED = '<linkName>L</linkName><jointName>J</jointName><thrusterID>0</thrusterID>'
STILL = BodyState()


def robot(blocks, kind='continuous', axis=(1.0, 0.0, 0.0), joint=''):
    return (
        '<robot name="r"><link name="B"/><link name="L"/>'
        f'<joint name="J" type="{kind}"><parent link="B"/><child link="L"/>'
        f'<axis xyz="{axis[0]!r} {axis[1]!r} {axis[2]!r}"/>{joint}</joint>{blocks}</robot>'
    )


def plugin(inside, filename='libuuv_thruster_ros_plugin.so', name='my_thruster'):
    return f'<gazebo><plugin name="{name}" filename="{filename}">{inside}</plugin></gazebo>'


def read(xml):
    (spec,) = actuators_from_urdf(xml, LoopParams)
    return spec


def located(spec, params):
    try:
        return build(params, spec.values)
    except ConfigError as error:
        raise spec.locate(error) from None


def thruster_params(inside, **where):
    return located(read(robot(plugin(inside), **where)), ThrustersParams)


# What the original made of the same XML.


@pytest.mark.parametrize('scenario', THRUSTERS.values(), ids=THRUSTERS)
def test_plugin_settings_are_those_that_the_original_loaded(scenario):
    if scenario['name'] == 'invalid_efficiency':
        # The original goes on with 1; here it is an error.
        with pytest.raises(SourceError, match=r'propeller_efficiency: -0\.1 is below 0'):
            thruster_params(scenario['xml'])
        return
    params = thruster_params(scenario['xml'], axis=scenario['joint_axis'])
    loaded = {
        'clampMin': params.min_command, 'clampMax': params.max_command,
        'thrustMin': params.min_thrust, 'thrustMax': params.max_thrust, 'gain': params.gain,
        'thrust_efficiency': params.thrust_efficiency,
        'propeller_efficiency': params.propeller_efficiency,
    }
    for key, (value,) in loaded.items():
        assert value == np.clip(scenario['loaded'][key], -1e12, 1e12), key
    np.testing.assert_array_equal(params.axis, [scenario['joint_axis']])


AT_REST = ('interp_unsorted', 'interp_single')


@pytest.mark.parametrize(('name', 'scenario'), CURVES.items(), ids=CURVES)
def test_conversion_block_gives_the_curve_of_the_original(name, scenario):
    inside = NAMED + LAG + scenario['xml']
    if not scenario['create'].startswith('ok') or scenario['name'] == 'basic_negative':
        with pytest.raises(SourceError, match=r'^gazebo/plugin\[name=my_thruster\]/conversion'):
            thruster_params(inside)
        return
    if name in AT_REST:
        with pytest.raises(SourceError, match=r'/conversion/outputValues: a thruster at rest'):
            thruster_params(inside)
        return
    params = thruster_params(inside)
    inputs = np.array(scenario['inputs'], dtype=float)
    finite = np.isfinite(inputs)
    found = ThrustCurves(params).thrust(inputs[finite, None])[:, 0]
    np.testing.assert_allclose(
        found, np.array(scenario['outputs'])[finite], rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize('name', [
    'zero_order', 'first_order', 'first_order_irregular', 'first_order_dt_gt_tau',
    'first_order_start_late', 'yoerger_two_calls', 'bessa_two_calls',
])
def test_dynamics_block_gives_the_speeds_of_the_original(name):
    scenario = DYNAMICS[name]
    block = (
        '<gazebo><plugin filename="propulsion_ros" name="thrusters">'
        '<integrator>euler</integrator><thruster><jointName>J</jointName>'
        f'<thrusterID>0</thrusterID>{scenario["xml"]}{SQUARE}</thruster></plugin></gazebo>'
    )
    params = located(read(robot(block)), ThrustersParams)
    commands = np.array(scenario['inputs']['cmd'])[:, None]
    drive, speed, found = RotorDynamics(params, np.abs(commands).max(axis=0)), np.zeros(1), []
    # The original's first call only stores the time.
    since = np.diff(scenario['inputs']['t'], prepend=scenario['inputs']['t'][0])
    for dt, command in zip(since, commands, strict=True):
        speed = drive.step(speed, command, dt)
        found.append(speed[0])
    np.testing.assert_allclose(found, scenario['outputs']['state'], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('scenario', FINS.values(), ids=FINS)
def test_fin_plugin_lifts_and_turns_as_the_original_did(scenario):
    low, high = scenario['joint_limits']
    limit = f'<limit lower="{low}" upper="{high}" effort="0" velocity="0"/>'
    block = plugin(scenario['xml'], 'libuuv_fin_ros_plugin.so')
    spec = read(robot(block, kind='revolute', axis=(0.0, 0.0, 1.0), joint=limit))
    params = located(spec, FinsParams)
    assert (params.min_deflection[0], params.max_deflection[0]) == (low, high)
    np.testing.assert_array_equal(params.span, [[0, 0, 1]])
    np.testing.assert_array_equal(params.chord, [[1, 0, 0]])
    assert any('current_velocity_topic has no effect' in note for note in spec.notes)
    fins, rows = Fins(params), np.array(scenario['rows'])
    since = np.diff(rows[:, 1], prepend=rows[0, 1])
    for tick, (row, dt) in enumerate(zip(rows, since, strict=True)):
        fins.step(Command(position=row[:1]), STILL, dt, tick)
        np.testing.assert_allclose(fins.deflection[0], row[12], rtol=1e-12, atol=1e-15)


# Whole robots.

ROV = """
<robot name="rov">
  <link name="rov/base_link"/>
  {joints}
  {plugins}
  <gazebo><plugin name="p3d" filename="libgazebo_ros_p3d.so"/></gazebo>
</robot>
"""


def rov(ids=(10, 0, 2), fins=(1, 0)):
    joints = ''.join(
        f'<link name="rov/thruster_{i}"/>'
        f'<joint name="rov/thruster_{i}_joint" type="continuous">'
        f'<origin xyz="{i} 0 0" rpy="0 0 1.5707963267948966"/><axis xyz="1 0 0"/>'
        f'<parent link="rov/base_link"/><child link="rov/thruster_{i}"/></joint>' for i in ids
    ) + ''.join(
        f'<link name="rov/fin{i}"/><joint name="rov/fin{i}_joint" type="revolute">'
        f'<limit effort="0" lower="-0.{i + 3}" upper="0.{i + 3}" velocity="0"/>'
        f'<origin xyz="-1 0 {i}"/><axis xyz="0 0 1"/>'
        f'<parent link="rov/base_link"/><child link="rov/fin{i}"/></joint>' for i in fins
    )
    plugins = ''.join(
        plugin(
            f'<linkName>rov/thruster_{i}</linkName><jointName>rov/thruster_{i}_joint</jointName>'
            f'<thrusterID>{i}</thrusterID><clampMin>0</clampMin><clampMax>0</clampMax>'
            f'<thrustMin>-{i + 1}</thrustMin><thrustMax>{i + 1}</thrustMax>{LAG}{SQUARE}',
            name=f'rov_{i}_thruster_model',
        ) for i in ids
    ) + ''.join(
        plugin(
            '<dynamics><type>ZeroOrder</type></dynamics><liftdrag><type>TwoLines</type>'
            '<area>0.0064</area><fluid_density>1028.0</fluid_density><a0>0.1</a0>'
            '<alpha_stall>0.5</alpha_stall><cla>4.0</cla><cla_stall>-1.2</cla_stall>'
            '<cda>0.8</cda><cda_stall>0.9</cda_stall></liftdrag>'
            f'<current_velocity_topic>/current</current_velocity_topic><fin_id>{i}</fin_id>'
            f'<link_name>rov/fin{i}</link_name><joint_name>rov/fin{i}_joint</joint_name>',
            'libuuv_fin_ros_plugin.so', f'rov_fin{i}_model',
        ) for i in fins
    )
    return ROV.format(joints=joints, plugins=plugins)


def test_one_plugin_each_becomes_one_group_in_the_order_of_the_ids():
    thrusters, fins = actuators_from_urdf(rov(), LoopParams)
    assert (thrusters.name, thrusters.family, thrusters.base_link) == (
        'thrusters', 'thrusters', 'rov/base_link',
    )
    params = located(thrusters, ThrustersParams)
    assert params.names == ('thruster_0', 'thruster_2', 'thruster_10')
    assert params.link == ('rov/thruster_0', 'rov/thruster_2', 'rov/thruster_10')
    assert params.dynamics == ('first_order',) * 3
    np.testing.assert_array_equal(params.max_thrust, [1, 3, 11])
    np.testing.assert_array_equal(params.max_command, [1e12] * 3)
    np.testing.assert_array_equal(params.position[:, 0], [0, 2, 10])
    np.testing.assert_allclose(params.axis, [[0, 1, 0]] * 3, atol=1e-15)
    assert thrusters.notes[0] == (
        'gazebo/plugin[name=rov_0_thruster_model]: clampMin and clampMax of 0 mean no limit; '
        '2 more like it'
    )

    assert (fins.name, fins.family) == ('fins', 'fins')
    params = located(fins, FinsParams)
    assert params.names == params.two_lines.fin == ('fin_0', 'fin_1')
    np.testing.assert_array_equal(params.max_deflection, [0.3, 0.4])
    np.testing.assert_array_equal(params.position, [[-1, 0, 0], [-1, 0, 1]])
    lines = params.two_lines
    assert [float(x[0]) for x in (
        lines.area, lines.fluid_density, lines.angle_offset, lines.stall_angle, lines.lift_slope,
        lines.stalled_lift_slope, lines.drag_slope, lines.stalled_drag_slope,
    )] == [0.0064, 1028.0, 0.1, 0.5, 4.0, -1.2, 0.8, 0.9]


BESSA_DRIVE = (
    '<dynamics><type>Bessa</type><Jmsp>0.1</Jmsp><Kv1>0.2</Kv1><Kv2>0.3</Kv2><Kt>0.4</Kt>'
    '<Rm>0.5</Rm></dynamics>'
)
DEAD_ZONE = (
    '<conversion><type>Bessa</type><rotorConstantL>1</rotorConstantL>'
    '<rotorConstantR>2</rotorConstantR><deltaL>-3</deltaL><deltaR>4</deltaR></conversion>'
)


def test_blocks_of_the_original_stand_in_blocks_of_this_package():
    spec = read(robot(
        '<gazebo><plugin filename="propulsion_ros" name="thrusters"><update_rate>50</update_rate>'
        '<thruster name="original"><joint>J</joint>'
        f'{BESSA_DRIVE}<gain>-1</gain><clampMax>7</clampMax>{DEAD_ZONE}</thruster>'
        f'<thruster><jointName>J</jointName><thrusterID>3</thrusterID>{LAG}{SQUARE}</thruster>'
        '<thruster name="own"><link>L</link><dynamics>first_order</dynamics>'
        '<time_constant>0.3</time_constant><rotor_constant>1</rotor_constant><axis>0 0 1</axis>'
        '</thruster></plugin></gazebo>', axis=(0.0, 3.0, 0.0),
    ))
    params = located(spec, ThrustersParams)
    assert params.names == ('original', 'thruster_3', 'own')
    assert params.dynamics == ('bessa', 'first_order', 'first_order')
    assert params.conversion == ('dead_zone', 'basic', 'basic')
    np.testing.assert_array_equal(params.time_constant, [0, 0.1, 0.3])
    np.testing.assert_array_equal(params.gain, [-1, 1, 1])
    np.testing.assert_array_equal(params.max_command, [7, 1e12, 1e12])
    np.testing.assert_allclose(params.axis, [[0, 1, 0], [0, 1, 0], [0, 0, 1]])


def test_tag_on_a_row_wins_over_its_joint():
    limit = '<limit lower="-0.2" upper="0.2" effort="0" velocity="0"/>'
    spec = read(robot(
        '<gazebo><plugin filename="propulsion_ros" name="fins"><fin name="a"><joint>J</joint>'
        '<max_deflection>0.1</max_deflection><span>0 1 0</span><quadratic>'
        '<lift_constant>1</lift_constant><drag_constant>1</drag_constant></quadratic></fin>'
        '</plugin></gazebo>', kind='revolute', axis=(0.0, 0.0, 1.0), joint=limit,
    ))
    params = located(spec, FinsParams)
    assert (params.min_deflection[0], params.max_deflection[0]) == (-0.2, 0.1)
    np.testing.assert_array_equal(params.span, [[0, 1, 0]])


def test_limits_of_a_joint_that_cannot_be_are_named_there():
    limit = '<limit lower="-9" upper="9" effort="0" velocity="0"/>'
    fin = FINS['identity_sweep']['xml']
    spec = read(robot(plugin(fin, 'libuuv_fin_ros_plugin.so'), kind='revolute', joint=limit,
                      axis=(0.0, 0.0, 1.0)))
    assert refusal(located, spec, FinsParams) == (
        'robot/joint[name=J]/limit/@lower: -9 is below -3.14159 rad: write -0.15708, in rad'
    )


def test_constant_of_another_type_is_said_to_have_no_effect():
    inside = NAMED + LAG.replace('FirstOrder', 'ZeroOrder') + SQUARE
    spec = read(robot(plugin(inside)))
    assert spec.values['dynamics'] == ['zero_order']
    assert 'time_constant' not in spec.values
    assert spec.notes == (
        'gazebo/plugin[name=my_thruster]/dynamics/timeConstant has no effect: '
        'ZeroOrder does not use it',
    )


@pytest.mark.parametrize('limits', [
    '<clampMin>0</clampMin>', '<clampMax>0.0</clampMax>',
    '<clampMin>0</clampMin><clampMax>5</clampMax>',
])
def test_one_limit_of_0_is_a_limit(limits):
    params = thruster_params(NAMED + LAG + SQUARE + limits)
    assert 0.0 in (params.min_command[0], params.max_command[0])


@pytest.mark.parametrize('tag', ['maxThrust', 'timeConstant', 'rotorConstant', 'minCommand'])
def test_camel_case_is_understood_nowhere_else(tag):
    block = (
        '<gazebo><plugin filename="propulsion_ros" name="thrusters"><thruster name="a">'
        f'<link>L</link><{tag}>1</{tag}></thruster></plugin></gazebo>'
    )
    with pytest.raises(SourceError, match=f'{tag}: unknown tag'):
        actuators_from_urdf(robot(block))


@pytest.mark.parametrize(('low', 'high'), [('2500', '-2500'), ('5', '5.0')])
def test_swapped_clamps_mean_no_limit_as_in_the_original_and_are_noted(low, high):
    clamps = f'<clampMin>{low}</clampMin><clampMax>{high}</clampMax>'
    spec = read(robot(plugin(NAMED + LAG + SQUARE + clamps)))
    params = located(spec, ThrustersParams)
    assert (params.min_command[0], params.max_command[0]) == (-1e12, 1e12)
    assert spec.notes == (
        f'gazebo/plugin[name=my_thruster]: clampMin {low} is not below clampMax {high}, which '
        'means no limit as in the original; are they swapped?',
    )
