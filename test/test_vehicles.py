# SPDX-License-Identifier: Apache-2.0
"""The vehicles that come with the package: what they weigh, how they push."""
from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
import yaml
from defusedxml.ElementTree import fromstring

from propulsion_ros.graph.family_params import ActuatorNodeParams, FamilyNodeParams, loop_params_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.estimate_loop import EstimateParams
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.models.common.allocation import Allocator
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.params import NozzlesParams
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of, unknown_keys
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf

SHARE = share_directory()
BLOCKS = {
    'rocket': ('boosters', 'fins'),
    'quadrotor': ('rotors',),
    'rov': ('thrusters', 'fins'),
    'freeflyer': ('fam', 'propulsion_modules', 'inverse_fam'),
    'cubesat': ('jets',),
}
VEHICLES = tuple(BLOCKS)
MASSES = {'rocket': 38.0, 'quadrotor': 1.5, 'rov': 11.5, 'freeflyer': 9.583788668,
          'cubesat': 12.0}
FILES = (*VEHICLES, *(f'{vehicle}_demo' for vehicle in VEHICLES))
STILL = BodyState(velocity=np.zeros(3), angular_velocity=np.zeros(3))


@functools.cache
def description(vehicle):
    """Return the URDF of a vehicle."""
    return read_description(SHARE / 'urdf' / f'{vehicle}.urdf.xacro').text


@functools.cache
def blocks(vehicle):
    """Return the plugin blocks of a vehicle by name."""
    return {spec.name: spec for spec in actuators_from_urdf(description(vehicle), loop_params_of)}


@functools.cache
def settings(file):
    """Return the parameters of a file by node."""
    text = (SHARE / 'config' / f'{file}.yaml').read_text(encoding='utf-8')
    return {
        node.removeprefix('/**/'): content['ros__parameters']
        for node, content in yaml.safe_load(text).items()
    }


def values_of(vehicle, block):
    """Return the parameters of an actuator node, as its launch file gives them."""
    return {**blocks(vehicle)[block].values, **settings(vehicle).get(block, {})}


def make(vehicle, block, **changes):
    """Return one family of a vehicle."""
    family = FAMILIES[blocks(vehicle)[block].family]
    return family(build(family.Params, {**values_of(vehicle, block), **changes}))


def settle(family, command, body=STILL, seconds=3.0):
    """Return the output of a family that has had a constant command for long."""
    for tick in range(round(100 * seconds)):
        output = family.step(command, body, 0.01, tick)
    return output


def about(point, wrench):
    """Return a wrench about the origin as one about a point."""
    return np.concatenate((wrench[:3], wrench[3:] - np.cross(point, wrench[:3])))


# What they are.


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_description_has_a_block_for_each_node(vehicle):
    assert tuple(blocks(vehicle)) == BLOCKS[vehicle]
    for name, spec in blocks(vehicle).items():
        assert spec.notes == ()
        assert len(make(vehicle, name).command_names) > 0


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_mass_and_inertia_are_those_of_a_solid_body(vehicle):
    _, whole = mass_from_urdf(description(vehicle))
    assert whole.mass == pytest.approx(MASSES[vehicle], rel=1e-12)
    inertias = [whole.inertia]
    for inertial in fromstring(description(vehicle)).iterfind('link/inertial'):
        assert float(inertial.find('mass').get('value')) > 0.0
        entries = {key: float(text) for key, text in inertial.find('inertia').attrib.items()}
        inertias.append(np.diag([entries[key] for key in ('ixx', 'iyy', 'izz')]))
    for inertia in inertias:
        moments = np.linalg.eigvalsh(inertia)
        assert 0.0 < moments[2] <= (moments[0] + moments[1]) * (1.0 + 1e-12)


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_joints_that_report_a_state_are_in_the_description(vehicle):
    robot = fromstring(description(vehicle))
    joints = {
        joint.get('name') for joint in robot.findall('joint') if joint.get('type') != 'fixed'
    }
    stated = [name for block in blocks(vehicle) for name in make(vehicle, block).state_names]
    assert joints <= set(stated)


def test_macros_serve_a_robot_of_ones_own(tmp_path):
    model = tmp_path / 'mine.urdf.xacro'
    model.write_text(f"""
        <robot name="mine" xmlns:xacro="http://www.ros.org/wiki/xacro">
          <xacro:include filename="{SHARE / 'urdf' / 'actuators.xacro'}" ns="propulsion"/>
          <link name="base_link"/>
          <xacro:propulsion.rotor_link name="left" parent="base_link" mass="0.02" radius="0.1">
            <origin xyz="0 0.2 0"/>
          </xacro:propulsion.rotor_link>
          <xacro:propulsion.booster_link name="motor" parent="base_link" mass="1" radius="0.1"
              length="0.3">
            <origin xyz="0 0 0.3"/>
          </xacro:propulsion.booster_link>
          <gazebo><plugin filename="propulsion_ros" name="rotors">
            <xacro:propulsion.rotor name="left" max_thrust="8" motor_constant="1e-5"/>
          </plugin></gazebo>
          <gazebo><plugin filename="propulsion_ros" name="boosters">
            <xacro:propulsion.booster name="motor" max_thrust="100" max_fuel_rate="0"/>
          </plugin></gazebo>
        </robot>""", encoding='utf-8')
    rotors, boosters = actuators_from_urdf(read_description(model).text, loop_params_of)
    assert rotors.values['position'] == pytest.approx([0.0, 0.2, 0.0])
    params = build(FAMILIES['boosters'].Params, boosters.values)
    assert params.tank == ('',)
    np.testing.assert_allclose(params.position, [[0.0, 0.0, 0.0]], atol=1e-15)
    assert params.gimbals.joints == ('motor_gimbal_x', 'motor_gimbal_y')


MOTORS = Path(__file__).parent / 'data' / 'motors.eng'


@pytest.mark.parametrize(('arguments', 'expected'), [
    pytest.param('motor_file="{}" motor="T11"', ('T11', 20.0), id='motor of a file'),
    pytest.param('max_thrust="100" max_fuel_rate="0.1"', ('', 100.0), id='throttled'),
    pytest.param('max_thrust="100"', 'max_fuel_rate', id='no fuel rate'),
    pytest.param('max_fuel_rate="0.1"', 'max_thrust', id='no thrust'),
])
def test_macro_of_a_booster_needs_its_numbers_or_a_motor(tmp_path, arguments, expected):
    model = tmp_path / 'mine.urdf.xacro'
    model.write_text(f"""
        <robot name="mine" xmlns:xacro="http://www.ros.org/wiki/xacro">
          <xacro:include filename="{SHARE / 'urdf' / 'actuators.xacro'}"/>
          <link name="base_link"/>
          <xacro:booster_link name="engine" parent="base_link" mass="1" radius="0.1" length="0.3">
            <origin xyz="0 0 0.3"/>
          </xacro:booster_link>
          <gazebo><plugin filename="propulsion_ros" name="boosters">
            <xacro:booster name="engine" {arguments.format(MOTORS)}/>
          </plugin></gazebo>
        </robot>""", encoding='utf-8')
    (spec,) = actuators_from_urdf(read_description(model).text, loop_params_of)
    if isinstance(expected, str):
        with pytest.raises(ConfigError, match=expected):
            build(FAMILIES['boosters'].Params, spec.values)
        return
    params = build(FAMILIES['boosters'].Params, spec.values)
    assert (params.motor[0], params.max_thrust[0]) == expected


@pytest.mark.parametrize('file', FILES)
def test_every_setting_is_a_parameter_of_its_node(file):
    schemas = {
        'flight_state': (FlightLoopParams,),
        'vehicle': (VehicleParams,),
        'inverse_fam': (FamilyNodeParams, EstimateParams, FAMILIES['inverse_fam'].Params),
    }
    vehicle = file.removesuffix('_demo')
    for node, values in settings(file).items():
        classes = schemas.get(node) or (
            ActuatorNodeParams, LoopParams, FAMILIES[blocks(vehicle)[node].family].Params
        )
        known = [parameter.key for cls in classes for parameter in parameters_of(cls)]
        assert unknown_keys(values, known) == []
        from_block = blocks(vehicle)[node].values if node in blocks(vehicle) else {}
        wiring = {'wrench_topics': ['actuators/wrench'], 'deployer_topic': 'deployers'}
        for cls in classes:
            build(cls, {**(wiring if node == 'vehicle' else {}), **from_block, **values})


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_actuators_step_as_often_as_the_vehicle(vehicle):
    rate = settings(vehicle)['vehicle']['update_rate']
    for name in set(BLOCKS[vehicle]) - {'inverse_fam'}:
        assert build(LoopParams, values_of(vehicle, name)).update_rate == rate


# How they push.


def test_boosters_of_the_rocket_turned_apart_make_a_roll_torque_alone():
    boosters, angle, offset = make('rocket', 'boosters'), 0.05, 0.045
    names = list(boosters.command_names)
    position = np.zeros(len(names))
    position[names.index('booster_1_gimbal_y')] = angle
    position[names.index('booster_2_gimbal_y')] = -angle
    effort = np.where([name in ('booster_1', 'booster_2') for name in names], 1300.0, np.nan)
    output = settle(boosters, Command(position=position, effort=effort), seconds=2.0)
    torques = np.cross(
        [[0.0, offset, 0.0], [0.0, -offset, 0.0]], output.forces
    )[:, 2]
    np.testing.assert_allclose(torques, -1300.0 * offset * np.sin(angle), rtol=1e-9)
    expected = [0.0, 0.0, 2600.0 * np.cos(angle), 0.0, 0.0, 2.0 * torques[0]]
    np.testing.assert_allclose(output.wrench, expected, atol=1e-6)


def test_fins_of_the_rocket_turned_together_roll_it_clockwise():
    fins = make('rocket', 'fins')
    ascent = BodyState(velocity=np.array([0.0, 0.0, 100.0]), angular_velocity=np.zeros(3))
    wrench = settle(fins, Command(position=np.full(4, 0.1)), ascent).wrench
    # Half of density, squared speed, area, lift slope and angle, at four levers.
    lift = 0.5 * 1.225 * 100.0**2 * 0.03 * 2.5 * 0.1
    assert wrench[5] == pytest.approx(-4 * 0.17 * lift, rel=1e-9)
    np.testing.assert_allclose(wrench[[0, 1, 3, 4]], 0.0, atol=1e-9)


@pytest.mark.parametrize(('sideways', 'torque'), [
    pytest.param([10.0, 0.0], [0.0, 1.0], id='moves along x too'),
    pytest.param([0.0, 10.0], [-1.0, 0.0], id='moves along y too'),
])
def test_fins_of_the_rocket_turn_the_nose_into_the_flow(sideways, torque):
    _, mass = mass_from_urdf(description('rocket'))
    state = BodyState(velocity=np.array([*sideways, 100.0]), angular_velocity=np.zeros(3))
    wrench = about(mass.com, settle(make('rocket', 'fins'), Command(), state).wrench)
    turning = wrench[3:5]
    np.testing.assert_allclose(turning / np.linalg.norm(turning), torque, atol=1e-12)


@pytest.mark.parametrize(('more', 'axis', 'sign'), [
    pytest.param(('front_left', 'rear_left'), 3, 1, id='left: rolls to the right'),
    pytest.param(('front_left', 'front_right'), 4, -1, id='front: pitches up'),
    pytest.param(('front_left', 'rear_right'), 5, 1, id='clockwise rotors: yaws to the left'),
])
def test_pairs_of_the_quadrotor_turn_it_about_one_axis(more, axis, sign):
    rotors = make('quadrotor', 'rotors')
    thrust = np.where([name in more for name in rotors.command_names], 5.0, 3.0)
    torque = settle(rotors, Command(effort=thrust)).wrench[3:]
    lever = 0.016 if axis == 5 else 0.2
    expected = np.zeros(3)
    expected[axis - 3] = sign * 2 * 2.0 * lever
    np.testing.assert_allclose(torque, expected, atol=1e-9)


def allocator_of(thrusters):
    """Return the allocator of the underwater vehicle."""
    return Allocator(thrusters.allocation_matrix, *thrusters.thrust_limits)


@pytest.mark.parametrize(('demand', 'effort'), [
    pytest.param([40, 0, 0, 0, 0, 0], [10 * np.sqrt(2)] * 4 + [0] * 4, id='surge'),
    pytest.param([0, 40, 0, 0, 0, 0],
                 [-10 * np.sqrt(2), 10 * np.sqrt(2), 10 * np.sqrt(2), -10 * np.sqrt(2)] + [0] * 4,
                 id='sway'),
    pytest.param([0, 0, 40, 0, 0, 0], [0] * 4 + [10] * 4, id='heave'),
    pytest.param([0, 0, 0, 4.4, 0, 0], [0] * 4 + [5, -5, 5, -5], id='roll'),
    pytest.param([0, 0, 0, 0, 2.4, 0], [0] * 4 + [-5, -5, 5, 5], id='pitch'),
    pytest.param([0, 0, 0, 0, 0, 5.4], [-5 * np.sqrt(2), 5 * np.sqrt(2)] * 2 + [0] * 4, id='yaw'),
])
def test_thrusters_of_the_rov_share_a_wrench(demand, effort):
    thrusters = make('rov', 'thrusters')
    allocation = allocator_of(thrusters).allocate(demand)
    np.testing.assert_allclose(allocation.effort, effort, atol=1e-9)
    command = Command(velocity=thrusters.command_for(allocation.effort))
    np.testing.assert_allclose(settle(thrusters, command).wrench, demand, atol=1e-6)


def test_fins_of_the_rov_push_its_stern_down():
    fins = make('rov', 'fins')
    cruise = BodyState(velocity=np.array([1.0, 0.0, 0.0]), angular_velocity=np.zeros(3))
    wrench = settle(fins, Command(position=np.full(2, 0.2)), cruise).wrench
    # Two fins, half of density times area times lift slope times angle.
    assert wrench[2] == pytest.approx(-2 * 514.0 * 0.0144 * 2.5 * 0.2, rel=1e-9)
    assert wrench[4] == pytest.approx(0.3 * wrench[2], rel=1e-9)
    assert wrench[[1, 3]] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize('block', BLOCKS['freeflyer'])
def test_link_tree_of_the_freeflyer_is_astrobees(block):
    family = FAMILIES[block]
    params = build(family.Params, values_of('freeflyer', block))
    original = family.Params()
    for key in ('position', 'axis', 'width', 'discharge_coefficient'):
        np.testing.assert_allclose(
            getattr(params.nozzles, key), getattr(original.nozzles, key), rtol=0.0, atol=1e-9
        )
    assert params.nozzles.names == astrobee.NOZZLE_NAMES
    assert params.nozzles.impeller == NozzlesParams().impeller
    np.testing.assert_allclose(
        params.allocation_matrix, original.allocation_matrix, rtol=0.0, atol=1e-9
    )


# The cubesat.

ARMS = np.array([0.113, 0.17, 0.113])


@pytest.mark.parametrize('axis', range(3))
@pytest.mark.parametrize('sign', [-1.0, 1.0])
def test_couples_of_the_cubesat_turn_it_about_one_axis(axis, sign):
    jets = make('cubesat', 'jets')
    torque = np.zeros(3)
    torque[axis] = sign * 0.1 * ARMS[axis]
    effort = Allocator(jets.allocation_matrix, *jets.thrust_limits).allocate([0.0] * 3 + [*torque])
    assert np.count_nonzero(effort.effort > 1e-9) == 2
    wrench = jets.step(Command(effort=effort.effort), STILL, 1.0, 0).wrench
    # The valves open 3 ms after their first order.
    np.testing.assert_allclose(wrench, [0.0] * 3 + [*(0.997 * torque)], atol=1e-9)
