# SPDX-License-Identifier: Apache-2.0
import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from layouts import layout_of

from mistakes import TEXTS
from propulsion_ros.graph.physical_numbers import flight_rows
from propulsion_ros.graph.robot_layout import lines_of
from propulsion_ros.graph.share import read_description, share_directory


def one_thruster(inertial='', tags=''):
    """Return a robot with a thruster in its only link."""
    return (
        f'<robot name="r"><link name="b">{inertial}</link><gazebo>'
        '<plugin filename="propulsion_ros" name="thrusters"><thruster name="t"><link>b</link>'
        f'<rotor_constant>1e-3</rotor_constant>{tags}</thruster></plugin></gazebo></robot>'
    )


def inertial(mass, moments, origin='0 0 0'):
    xx, yy, zz = moments
    return (f'<inertial><origin xyz="{origin}"/><mass value="{mass}"/><inertia ixx="{xx}" '
            f'iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial>')


def shipped(vehicle):
    return read_description(share_directory() / 'urdf' / f'{vehicle}.urdf.xacro').text


@pytest.fixture(scope='module')
def quadrotor():
    return layout_of(shipped('quadrotor'))


def test_thrust_to_weight_and_what_can_be_controlled(quadrotor):
    assert quadrotor.thrust_to_weight == pytest.approx(4 * 7.4 / (1.5 * 9.80665))
    assert quadrotor.controlled == ['force z', 'torque x', 'torque y', 'torque z']
    assert quadrotor.rank_and_condition[0] == 4


def test_speed_and_lag_of_each(quadrotor):
    (group,) = quadrotor.groups
    np.testing.assert_allclose(group.speeds, np.sqrt(7.4 / 1e-5), rtol=1e-9)
    assert set(group.lags) == {'0.05/0.03'}


def test_parameters_win(quadrotor):
    half = layout_of(shipped('quadrotor'), rotors={'max_thrust': [3.7]})
    assert half.thrust_to_weight == pytest.approx(quadrotor.thrust_to_weight / 2.0)


@pytest.mark.parametrize(('name', 'body', 'axes'), [
    pytest.param('azimuth_boat', {
        'body.fluid_density': 1000.0, 'body.hulls.names': ['hull'],
        'body.hulls.size': [3.0, 1.2, 0.5], 'body.ground': False,
    }, ['force x', 'force y', 'torque z'], id='pods, and water'),
    pytest.param('tiltrotor', {}, [
        'force x', 'force z', 'torque x', 'torque y', 'torque z',
    ], id='tilting rotors'),
])
def test_all_angles_of_joints_count_for_what_can_be_controlled(name, body, axes):
    path = next(Path(__file__).parents[2].glob(f'examples/{name}/*.urdf'))
    robot = layout_of(read_description(path).text, vehicle=body)
    assert robot.controlled == axes
    # Rank and wrenches are those at 0.
    assert 'taken at 0, but at any angle for what can be controlled' in robot.not_counted
    # An allocator that turns no joints has the present angles alone.
    turning = dataclasses.replace(robot, is_vectored=True)
    assert turning.rank_and_condition[0] == len(axes) > robot.rank_and_condition[0]


def test_a_battery_has_no_part_in_the_speed_at_the_largest_thrust():
    text = TEXTS['quadrotor']
    bare = re.sub('<battery.*?</battery>', '', text)
    speeds = [layout_of(each).groups[0].speeds for each in (text, bare)]
    np.testing.assert_allclose(speeds, np.sqrt(8.0 / 1e-5), rtol=1e-9)


def test_what_only_lifts_and_what_turns_is_not_counted():
    rocket = layout_of(shipped('rocket'))
    assert rocket.matrix.shape == (6, 2)
    assert rocket.controlled == ['force z', 'torque x']
    assert 'booster_1_gimbal_x' in rocket.not_counted
    assert rocket.not_counted.endswith('taken at 0; lift of fins')


SOLO = """<robot name="solo"><link name="b"><inertial><origin xyz="0 0 1"/><mass value="6"/>
<inertia ixx="3" iyy="3" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>
<link name="grain"/><joint name="at" type="fixed"><parent link="b"/><child link="grain"/></joint>
<gazebo><plugin filename="propulsion_ros" name="boosters">
<tank name="t"><link>grain</link><capacity>2</capacity></tank>
<booster name="m"><link>grain</link><tank>t</tank><max_thrust>500</max_thrust>
<max_fuel_rate>0.25</max_fuel_rate></booster></plugin></gazebo></robot>"""
TUBE = ('<visual><origin xyz="0 0 1"/><geometry><cylinder radius="0.05" length="2"/></geometry>'
        '</visual>')


@pytest.mark.parametrize(('shape', 'across', 'place', 'margin'), [
    pytest.param(TUBE, 0.2, 0.5, '2.5 calibers of 0.1 m full, 5 calibers of 0.1 m empty',
                 id='diameter known'),
    pytest.param('', 0.2, 0.5, '0.25 m full, 0.5 m empty', id='diameter unknown'),
    pytest.param(TUBE, 0.2, 0.0, '', id='no centre of pressure'),
    pytest.param(TUBE, 0.0, 0.5, '', id='no force across'),
])
def test_margin_impulse_and_burn_time_of_a_rocket(shape, across, place, margin):
    robot = layout_of(SOLO.format(shape=shape), vehicle={
        'body.drag_area': [across, across, 0.01], 'body.centre_of_pressure': [0.0, 0.0, place]})
    assert dict(flight_rows(robot)) == {
        **({'static margin': margin} if margin else {}), 'impulse of m': '4000 N s, burns for 8 s',
    }
    assert any(line.startswith('impulse of m ') for line in lines_of(robot, flight_rows(robot)))


def test_unknown_limits_and_mass_are_said_to_be_unknown():
    lines = list(lines_of(layout_of(one_thruster())))
    assert lines[1].split()[8:10] == ['-', '-']
    assert 'mass               unknown, no link has an <inertial>' in lines
    assert not any(line.startswith('thrust to weight') for line in lines), 'it pushes ahead alone'
    lines = lines_of(layout_of(one_thruster(tags='<axis>0 0 1</axis>')))
    assert any(line.startswith('thrust to weight   - along z') for line in lines)


def test_a_boat_is_said_to_float_and_a_stone_is_not():
    text = one_thruster(inertial(100, (9, 70, 70)))

    def rows(density):
        values = {'body.fluid_density': density, 'body.ground': False, 'body.hulls.names': ['h'],
                  'body.hulls.size': [2.0, 0.5, 0.4]}
        off = {'switched_off': ['t']}
        lines = [*lines_of(layout_of(text, vehicle=values, thrusters=off))]
        assert lines[-1].endswith('  that t is switched off (efficiency is counted)')
        return [line for line in lines if line.startswith('afloat')]

    # Draught 0.1 m; KB 0.05, BM 0.5^2 / (12 0.1) and 2^2 / (12 0.1), KG 0.2.
    line, = rows(1000.0)
    assert line.split('afloat')[1].strip() == (
        'b 0.1 m above the water, metacentre above the centre of mass by 0.05833 m in roll, '
        '3.183 m in pitch'
    )
    assert rows(200.0) == []


@pytest.mark.parametrize(('density', 'volume', 'row'), [
    pytest.param(1025.0, 0.012, 'displaces 12.3 kg, its centre 0.04 m above the centre of mass; '
                 'it rises with 32.36 N', id='floats up'),
    pytest.param(1000.0, 0.002, 'displaces 2 kg, its centre 0.04 m above the centre of mass; '
                 'it sinks with 68.65 N', id='sinks'),
    pytest.param(1025.0, 0.0, '', id='displaces nothing'),
    pytest.param(0.0, 0.012, '', id='in air'),
])
def test_what_is_under_water_has_a_row_of_its_buoyancy(density, volume, row):
    text = one_thruster(inertial(9, (0.1, 0.1, 0.1), '0 0 -0.01'))
    values = {'body.fluid_density': density, 'body.displaced_volume': volume,
              'body.centre_of_buoyancy': [0.0, 0.0, 0.03]}
    lines = lines_of(layout_of(text, vehicle=values))
    rows = [line.split('buoyancy')[1].strip() for line in lines if 'buoyancy' in line]
    assert rows == [row] * bool(row)


def test_sum_of_thrusts_is_known_where_each_limit_in_it_is():
    tags = '<axis>0 0 1</axis><max_thrust>40</max_thrust>'
    least, most = layout_of(one_thruster(tags=tags)).extremes
    np.testing.assert_array_equal(least, [0.0, 0.0, np.nan, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(most, [0.0, 0.0, 40.0, 0.0, 0.0, 0.0], rtol=1e-12)


def test_lift_of_fins_is_named_beside_what_thrusts_control():
    lines = lines_of(layout_of(shipped('rov')))
    (line,) = [line for line in lines if line.startswith('can be controlled')]
    assert line.endswith('torque z; more by the lift of fins')


def test_table_of_a_quadrotor(quadrotor):
    lines = list(lines_of(quadrotor))
    assert lines[1] == (
        'rotors  front_left   0.2 0.2 0.04    0 0 1  7.4      8215  0.05/0.03'
    )
    assert 'can be controlled  force z, torque x, torque y, torque z' in lines
    assert 'together [N, N m]  least    most' in lines
    assert 'centre of mass     0 0 0.0053 m' in lines
    assert 'inertia about it   0.015 0.015 0.0281 kg m^2' in lines
    assert not any(line.startswith(('only together', 'costly')) for line in lines)


def test_what_is_costly_beside_another_part_is_named(quadrotor):
    (group,) = quadrotor.groups
    matrix = group.matrix.copy()
    matrix[0], matrix[5] = 0.1 * matrix[4] + 0.02 * matrix[5], 0.0
    robot = dataclasses.replace(quadrotor, groups=[dataclasses.replace(group, matrix=matrix)])
    assert any(line.startswith('costly') and 'an exact force.x' in line for line in lines_of(robot))
    # A boat asks for the force and not for its pitch; its allocator may turn the thrusts.
    boat = dataclasses.replace(robot, expects=frozenset({'force_x'}))
    (line,) = [line for line in lines_of(boat) if line.startswith('costly')]
    assert line.endswith('where no controller asks for torque.y, give the allocator weights: '
                         '[1.0, 1.0, 1.0, 1.0, 0.0, 1.0]')
    for other in ({'counted': np.array([1, 1, 1, 1, 0, 1])}, {'is_vectored': True}):
        lines = lines_of(dataclasses.replace(boat, **other))
        assert not any(line.startswith('costly') for line in lines)


def test_allocator_of_a_file_says_what_counts():
    path = Path(__file__).resolve().parents[2] / 'examples' / 'auv' / 'auv.urdf'
    robot = layout_of(
        path.read_text(), thrusters_allocator={'weights': [1.0, 1.0, 0.0, 1.0, 1.0, 1.0]}
    )
    assert robot.counted.tolist() == [1, 1, 0, 1, 1, 1]
    assert not robot.is_vectored


def test_what_comes_with_another_part_is_said_to():
    """Thrusters above the centre of mass push ahead with a pitch alone."""
    path = Path(__file__).resolve().parents[2] / 'examples' / 'auv' / 'auv.urdf'
    lines = list(lines_of(layout_of(path.read_text())))
    assert 'can be controlled  force y, force z, torque x, torque z' in lines
    assert 'only together      force x, torque y' in lines


def test_wrench_is_shown_over_the_angles_of_each_joint():
    """Two rotors of 7 N, one of which a joint turns from z to x in five steps."""
    link = inertial(1, (1, 1, 1))
    rotor = ('<rotor name="{0}"><link>{0}</link><max_thrust>7</max_thrust>'
             '<motor_constant>1e-5</motor_constant></rotor>')
    robot = layout_of(f"""<robot name="r"><link name="base">{link}</link><link name="a"/>
      <joint name="tilt" type="revolute"><parent link="base"/><child link="a"/>
        <axis xyz="0 1 0"/><limit lower="0" upper="1.5707963267948966" velocity="1"/></joint>
      <link name="b"/><joint name="j" type="fixed"><parent link="base"/><child link="b"/></joint>
      <gazebo><plugin filename="propulsion_ros" name="rotors">{rotor.format('a')}
      {rotor.format('b')}<steering name="tilt"><mode>servo</mode></steering>
      </plugin></gazebo></robot>""")
    lines = list(lines_of(robot))
    at = next(i for i, line in enumerate(lines) if line.startswith('tilt [deg]'))
    rows = [line.split() for line in lines[at + 1:at + 6]]
    assert [float(row[0]) for row in rows] == [0.0, 22.5, 45.0, 67.5, 90.0]
    angles = np.linspace(0.0, np.pi / 2, 5)
    np.testing.assert_allclose(
        [float(row[3]) for row in rows], 7.0 * np.sin(angles), rtol=1e-3, atol=1e-9
    )
    np.testing.assert_allclose(
        [float(row[9]) for row in rows], 7.0 + 7.0 * np.cos(angles), rtol=1e-3
    )
    np.testing.assert_allclose(robot.groups[0].speeds, np.sqrt(7.0 / 1e-5))
