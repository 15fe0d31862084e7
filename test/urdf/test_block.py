# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from propulsion_ros.graph.family_params import GroupParams
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.boosters.boosters import BoostersParams
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.models.rotors.rotors import RotorsParams
from propulsion_ros.models.thrusters.thrusters import ThrustersParams
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.block import ROW_LIMIT
from propulsion_ros.urdf.reader import BLOCK_LIMIT, actuators_from_urdf
from refusals import refusal

FORCE_ALLOCATION = ('fam', 'inverse_fam', 'propulsion_modules')


def link(name, parent='base', xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0), kind='fixed'):
    place = 'xyz="{!r} {!r} {!r}" rpy="{!r} {!r} {!r}"'.format(*map(float, (*xyz, *rpy)))
    return (
        f'<link name="{name}"/><joint name="{name}_joint" type="{kind}"><origin {place}/>'
        f'<parent link="{parent}"/><child link="{name}"/></joint>'
    )


def robot(links, *blocks):
    plugins = ''.join(
        f'<gazebo><plugin filename="propulsion_ros" name="{name}">{inside}</plugin></gazebo>'
        for name, inside in blocks
    )
    return f'<robot name="r"><link name="base"/>{links}{plugins}</robot>'


def read(links, name, inside, common=LoopParams, **kwargs):
    (spec,) = actuators_from_urdf(robot(links, (name, inside)), common, **kwargs)
    return spec


def fam(name, inside, links=''):
    spec = read(links, name, inside)
    try:
        return build(FAMILIES[name].Params, spec.values)
    except ConfigError as error:
        raise spec.locate(error) from None


# Geometry from the link tree.

ROTOR = (
    '<rotor name="{0}"><link>{0}</link><max_thrust>9</max_thrust>'
    '<motor_constant>1e-5</motor_constant></rotor>'
)


angle, length = st.floats(-4.0, 4.0), st.floats(-5.0, 5.0)
pose = st.tuples(st.tuples(length, length, length), st.tuples(angle, angle, angle))


@given(pose, pose, pose)
def test_geometry_is_that_of_composed_rotations(first, second, base):
    links = (
        link('arm', xyz=first[0], rpy=first[1]) + link('hub', 'arm', second[0], second[1])
        + link('camera', xyz=base[0], rpy=base[1])
    )
    turns = [Rotation.from_euler('xyz', rpy) for _, rpy in (first, second, base)]
    place = np.add(first[0], turns[0].apply(second[0]))
    for base_link, back, origin in (
        ('base', Rotation.identity(), np.zeros(3)), ('camera', turns[2].inv(), np.array(base[0])),
    ):
        spec = read(links, 'rotors', ROTOR.format('hub'), base_link=base_link)
        params = build(RotorsParams, spec.values)
        np.testing.assert_allclose(params.position[0], back.apply(place - origin), atol=1e-12)
        expected = (back * turns[0] * turns[1]).apply([0, 0, 1])
        np.testing.assert_allclose(params.axis[0], expected, atol=1e-13)


@pytest.mark.parametrize('kind', ['prismatic', 'revolute', 'continuous'])
def test_what_hangs_on_a_moving_joint_stays_at_position_0_and_says_so(kind):
    links = link('arm', xyz=(1, 0, 0), kind=kind) + link('hub', 'arm', (0, 2, 0))
    spec = read(links, 'rotors', ROTOR.format('hub') + ROTOR.format('arm'))
    assert spec.values['position'] == [1, 2, 0, 1, 0, 0]
    path = 'gazebo/plugin[name=rotors]/rotor[name='
    steers = '' if kind == 'prismatic' else (
        '<steering name="arm_joint"> lets it move where that is meant, else '
    )
    assert spec.notes == (
        f"{path}hub]: joint 'arm_joint' moves 'hub', which stays where position 0 has it; {steers}"
        "see <parent> of joint 'hub_joint'",
    )


STEERED = (
    link('wing', xyz=(1, 0, 0), kind='revolute') + link('mast', 'wing', (0, 2, 0))
    + link('pod', 'mast', (0, 0, 3), kind='continuous') + link('hub', 'pod', (0, 0, 1))
).replace('name="wing_joint"', 'name="r/wing_joint"')


def steered(*rows):
    """Return the joints of rotors on hub, wing and the base link, read with these rows."""
    text = ''.join(ROTOR.format(name) for name in ('hub', 'wing', 'base'))
    return build(GroupParams, read(STEERED, 'rotors', text + ''.join(rows), GroupParams).values)


def test_steering_finds_its_joints_and_what_they_turn():
    """The inner joint first: the order of the tags is that of the arrays, and means nothing."""
    joints = steered(
        '<steering name="pod_joint"><mode>servo</mode><upper>2</upper></steering>',
        '<steering name="wing_joint"/>',
    ).steering
    assert joints.joints == ('pod_joint', 'r/wing_joint')
    assert joints.mode == ('servo', 'fixed')
    assert joints.carried_by == ('r/wing_joint', '')
    assert joints.actuators == ('pod_joint', 'r/wing_joint', '')
    np.testing.assert_allclose(joints.pivot, [[1, 2, 3], [1, 0, 0]])
    assert joints.upper[0] == 2.0
    assert joints.chains().tolist() == [[0, -1], [-1, -1], [-1, -1]]


def test_steering_serves_all_joints_that_an_expression_fits():
    joints = steered(
        '<steering><names_expr>(?:wing|pod)_joint</names_expr><mode>servo</mode></steering>'
    )
    assert joints.steering.chains().tolist() == [[0, 1], [0, -1], [-1, -1]]


@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_what_floats_free_of_base_link_has_no_place(kind):
    links = link('body', kind=kind) + link('hub', 'body', (1, 0, 0))
    assert refusal(read, links, 'rotors', ROTOR.format('hub')) == (
        f"gazebo/plugin[name=rotors]/rotor[name=hub]/link: {kind} joint 'body_joint' lies between "
        "'hub' and base_link 'base', expected another base_link"
    )
    spec = read(links, 'rotors', ROTOR.format('hub'), base_link='body')
    assert spec.values['position'] == [1, 0, 0]


@pytest.mark.parametrize('asked', ['base_link', 'rov/base_link'])
def test_base_link_is_given_with_or_without_its_namespace(asked):
    xml = robot(
        link('rov/base_link', xyz=(1, 0, 0)) + link('hub', xyz=(3, 0, 0)),
        ('rotors', f'<base_link>{asked}</base_link>{ROTOR.format("hub")}'),
    )
    by_tag, by_parameter = (
        actuators_from_urdf(xml, LoopParams, base_link)[0] for base_link in ('', asked)
    )
    assert by_tag == by_parameter
    assert by_tag.base_link == 'rov/base_link'
    assert by_tag.values['position'] == [2, 0, 0]


def test_links_and_joints_of_rows_need_no_namespace():
    links = link('rov/hub', xyz=(1, 0, 0), kind='continuous')
    spec = read(links, 'rotors', ROTOR.format('hub'))
    assert spec.values['link'] == ['rov/hub']


def test_what_no_row_says_may_come_from_a_parameter_and_is_missed_by_its_path():
    row = '<booster name="a"><link>hub</link><max_fuel_rate>1</max_fuel_rate></booster>'
    spec = read(link('hub'), 'boosters', row)
    assert 'max_thrust' not in spec.values
    build(BoostersParams, {**spec.values, 'max_thrust': [5.0]})
    with pytest.raises(ConfigError) as error:
        build(BoostersParams, spec.values)
    assert str(spec.locate(error.value)) == (
        'gazebo/plugin[name=boosters]/booster[name=a]/max_thrust: is required: thrust at throttle '
        '1 [N]'
    )


def test_rows_and_blocks_are_limited():
    row = '<thruster name="t{}"><link>base</link><rotor_constant>1</rotor_constant></thruster>'
    rows = ''.join(row.format(i) for i in range(ROW_LIMIT + 1))
    with pytest.raises(SourceError, match=f'expected at most {ROW_LIMIT} of <thruster>'):
        read('', 'thrusters', rows)
    whole = rows.rpartition('<thruster')[0]
    assert len(build(ThrustersParams, read('', 'thrusters', whole).values).names) == ROW_LIMIT
    block = f'<family>thrusters</family>{row}'
    blocks = [(f'b{i}', block) for i in range(BLOCK_LIMIT + 1)]
    assert len(actuators_from_urdf(robot('', *blocks[:-1]))) == BLOCK_LIMIT
    with pytest.raises(SourceError, match=f'expected at most {BLOCK_LIMIT} plugin blocks'):
        actuators_from_urdf(robot('', *blocks))


# Families whose own class has no rows.


@pytest.mark.parametrize('name', FORCE_ALLOCATION)
def test_block_of_force_allocation_without_rows_is_astrobee(name):
    params = fam(name, '<update_rate>62.5</update_rate>')
    defaults = FAMILIES[name].Params()
    assert params.nozzles.names == astrobee.NOZZLE_NAMES
    np.testing.assert_array_equal(params.allocation_matrix, defaults.allocation_matrix)
    FAMILIES[name](params)


_Z_ALONG = {
    (1, 0, 0): (0, math.pi / 2, 0), (-1, 0, 0): (0, -math.pi / 2, 0),
    (0, 1, 0): (-math.pi / 2, 0, 0), (0, -1, 0): (math.pi / 2, 0, 0),
    (0, 0, 1): (0, 0, 0), (0, 0, -1): (math.pi, 0, 0),
}


def nozzle_link(i):
    """Return Astrobee's nozzle ``i`` as a link whose z axis is its outflow."""
    axis = tuple(round(-x) for x in astrobee.NOZZLE_AXES[3 * i:3 * i + 3])
    return link(
        astrobee.NOZZLE_NAMES[i], xyz=astrobee.NOZZLE_POSITIONS[3 * i:3 * i + 3],
        rpy=_Z_ALONG[axis],
    )


def nozzle_row(i):
    return (
        f'<nozzle name="{astrobee.NOZZLE_NAMES[i]}"><link>{astrobee.NOZZLE_NAMES[i]}</link>'
        f'<axis>0 0 -1</axis><impeller>{astrobee.NOZZLE_IMPELLERS[i]}</impeller>'
        f'<width>{astrobee.NOZZLE_WIDTHS[i]!r}</width><discharge_coefficient>'
        f'{astrobee.DISCHARGE_COEFFICIENTS[i]!r}</discharge_coefficient></nozzle>'
    )


LINKS = ''.join(nozzle_link(i) for i in range(12))
NOZZLES = ''.join(nozzle_row(i) for i in range(12))


def test_scalar_default_serves_each_row_and_one_row_may_differ():
    row = nozzle_row(0).replace('</nozzle>', '<open_stop>1.29</open_stop></nozzle>')
    params = fam('propulsion_modules', row + nozzle_row(1), LINKS)
    np.testing.assert_array_equal(params.nozzles.open_stop, [1.29, astrobee.MAX_ANGLE])


@pytest.mark.parametrize('tag', ['axis', 'impeller', 'width', 'discharge_coefficient'])
@pytest.mark.parametrize('which', ['one', 'all'])
def test_default_of_all_twelve_serves_no_row(tag, which):
    """Twelve rows without a width are not Astrobee's twelve widths."""
    begin, end = f'<{tag}>', f'</{tag}>'
    rows = NOZZLES
    for _ in range(12 if which == 'all' else 1):
        rows = rows[:rows.index(begin)] + rows[rows.index(end) + len(end):]
    assert refusal(fam, 'fam', rows, LINKS) == (
        f'gazebo/plugin[name=fam]/nozzle[name=nozzle_1]/{tag}: is missing: each of its kind needs '
        'one'
    )


# Batteries.

BATTERY = (
    '<battery name="main"><capacity>5</capacity>'
    '<open_circuit_voltage>0 9 0.1 13.5 1 16.8</open_circuit_voltage>'
    '<internal_resistance>0.02</internal_resistance></battery>'
)
FED = ROTOR.replace(
    '</rotor>', '<moment_constant>0.01</moment_constant><battery>main</battery></rotor>'
)


def test_a_battery_is_shared_by_rotors_that_name_it():
    inside = BATTERY + FED.format('a') + ROTOR.format('b') + FED.format('c')
    links = link('a') + link('b') + link('c')
    params = build(RotorsParams, read(links, 'rotors', inside).values)
    assert params.battery == ('main', '', 'main')
    assert params.batteries.names == ('main',)
    assert params.batteries.capacity.tolist() == [5.0]
    assert params.batteries.open_circuit_voltage == ('0 9 0.1 13.5 1 16.8',)
    assert params.batteries.internal_resistance.tolist() == [0.02]
