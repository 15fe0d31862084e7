# SPDX-License-Identifier: Apache-2.0
"""Numbers that hold at any size, against momentum theory, the gas law and Archimedes."""
import math

import numpy as np
import pytest
from layouts import layout_of

from mistakes import TEXTS
from propulsion_ros.graph import actuator_numbers as rows
from propulsion_ros.graph import physical_numbers as p
from propulsion_ros.graph import robot_numbers as n

AIR = 1.225
AFLOAT = {
    'body.fluid_density': 1000.0, 'body.hulls.names': ['hull'],
    'body.hulls.size': [1.5, 0.5, 0.2], 'body.ground': False,
}


def changed(name, changes=(), **given):
    """Return the layout of a robot of the mistakes with other texts, and parameters by node."""
    text = TEXTS[name]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return layout_of(text, **given)


@pytest.mark.parametrize('radius', [0.1, 0.15], ids=lambda radius: f'{radius:g} m')
@pytest.mark.parametrize('moment', [0.01, 0.016], ids=lambda moment: f'{moment:g} m')
def test_figure_of_merit_is_induced_over_shaft_power(radius, moment):
    robot = changed('quadrotor', [
        ('>0.016<', f'>{moment}<'),
        ('<direction>', f'<rotor_radius>{radius}</rotor_radius> <direction>'),
    ])
    rows = p.spinning(robot, robot.groups[0])
    thrust, speed = 8.0, math.sqrt(8.0 / 1e-5)
    induced = math.sqrt(thrust / (2.0 * AIR * math.pi * radius**2))
    merit = thrust * induced / (moment * thrust * speed)
    np.testing.assert_allclose(rows.merit, merit, rtol=1e-3)
    np.testing.assert_allclose(rows.tip_in_air, radius * speed, rtol=1e-6)
    np.testing.assert_array_equal(rows.ideal, 1.0)


@pytest.mark.parametrize('scale', [0.2, 1.0, 5.0], ids=lambda scale: f'{scale:g} times')
def test_similar_rotors_have_one_figure_of_merit(scale):
    robot = changed('quadrotor', [
        ('>8<', f'>{8.0 * scale**3}<'), ('>1e-5<', f'>{1e-5 * scale**4}<'),
        ('>0.016<', f'>{0.016 * scale}<'),
    ])
    rows = p.spinning(robot, robot.groups[0])
    np.testing.assert_allclose(rows.merit, 0.561, rtol=2e-3)
    np.testing.assert_allclose(rows.tip_in_air, 113.4 * math.sqrt(scale), rtol=2e-3)


@pytest.mark.parametrize(('radius', 'pressure'), [(0.04, 2e7), (0.1, 5e6)], ids=str)
def test_sphere_of_nitrogen_has_its_molar_mass(radius, pressure):
    mass = 4.0 / 3.0 * math.pi * radius**3 * pressure * 0.0280134 / (8.314462618 * 293.0)
    inertia = ' '.join([f'{0.4 * mass * radius**2}'] * 3)
    robot = changed('boat', [
        ('<capacity>1<', f'<inertia>{inertia}</inertia> <pressure>{pressure}</pressure> '
         f'<capacity>{mass}<'),
    ])
    molar = p.contents(robot, robot.groups[-1]).molar
    np.testing.assert_allclose(molar, 0.0280134, rtol=1e-9)


@pytest.mark.parametrize('height', [-0.05, 0.0, 3.0], ids=lambda height: f'{height:g} m')
def test_start_is_held_against_the_draft_of_a_box(height):
    body = {**AFLOAT, 'body.start_position': [0.0, 0.0, height]}
    robot = changed('boat', vehicle=body)
    (number,) = p.starts(robot)
    draft = robot.body.mass / (1000.0 * 1.5 * 0.5)
    assert number.value == pytest.approx(abs(height - (0.1 - draft)), abs=1e-9)
    assert number.of == 0.2
    lying = {**body, 'body.hulls.rpy': [0.0, math.pi / 2, 0.0]}
    (number,) = p.starts(changed('boat', vehicle=lying))
    assert number.of == pytest.approx(1.5)


@pytest.mark.parametrize(('density', 'count'), [(1.225, 0), (1025.0, 1), (0.0, 1)], ids=str)
def test_what_floats_may_have_a_sail(density, count):
    robot = changed('boat', [
        ('<lift_slope>', f'<fluid_density>{density}</fluid_density> <lift_slope>')
    ], vehicle=AFLOAT)
    assert len([each for each in p.fluids(robot) if each.who == 'rudder ']) == count


def test_given_radius_is_judged_once():
    changes = [('<direction>', '<rotor_radius>0.1</rotor_radius> <direction>')]
    robot = changed('quadrotor', changes)
    group = robot.groups[0]
    assert np.isnan(rows.actuators(robot, group).blades).all()
    assert np.isfinite(p.spinning(robot, group).load).all()


@pytest.mark.parametrize('areas', [[0.5], [0.2, 3.0]], ids=['one', 'two'])
def test_canopies_carry_the_weight_without_propellant(areas):
    chutes = {'parachutes.names': ['a', 'b'][:len(areas)], 'parachutes.drag_area': areas}
    *each, together = p.descents(changed('rocket', vehicle=chutes))
    weight = 30.0 * 9.80665
    for number, area in zip((*each, together), (*areas, sum(areas)), strict=True):
        assert 0.5 * AIR * area * number.value**2 == pytest.approx(weight, rel=1e-3)


def test_fin_that_meets_the_stream_backwards_is_half_a_turn_off():
    changes = [('>-100<', '>0<'), ('<joint>fin_joint<', '<chord>-1 0 0</chord> <joint>fin_joint<')]
    (number,) = p.headings(changed('boat', changes))
    # The jet pushes a little upwards.
    assert number.value == pytest.approx(180.0 - math.degrees(math.atan(1.0 / 72.0)), abs=0.01)


@pytest.mark.parametrize('places', [(-0.7, 0.4), (0.2, 0.7), (-0.9, -0.1)], ids=str)
def test_fins_lift_at_the_mean_of_their_places_by_area(places):
    fin = TEXTS['boat'][TEXTS['boat'].index('<fin name'):TEXTS['boat'].index('</fin>') + 6]
    other = fin.replace('rudder', 'other').replace('fin_joint', 'other_joint').replace(
        '>0.1<', '>0.2<').replace('>0.3<', '>0.6<')
    robot = changed('boat', [
        ('"-0.7 0 0"', f'"{places[0]} 0 0"'), (fin, fin + other),
        ('<link name="fin"/>', '<link name="fin"/> <link name="other"/>'),
        ('<joint name="nozzle_joint"', '<joint name="other_joint" type="revolute"> '
         f'<parent link="base_link"/> <child link="other"/> <origin xyz="{places[1]} 0 0"/> '
         '<axis xyz="0 0 1"/> <limit lower="-0.5" upper="0.5"/> </joint> '
         '<joint name="nozzle_joint"'),
    ])
    (number,) = p.margins(robot)
    # Of similar fins, one has four times the area; its moment acts a little behind its place.
    at = (places[0] + 4.0 * places[1]) / 5.0 - robot.body.com[0]
    assert number.value == pytest.approx(at, abs=0.02)
    assert number.of == pytest.approx(p.size_of(robot))


@pytest.mark.parametrize(('height', 'count'), [(-0.3, 0), (0.5, 1)], ids=['wet', 'dry'])
def test_propellers_of_what_floats_are_held_against_the_water(height, count):
    robot = changed('boat', [('"-0.6 0 0"', f'"-0.6 0 {height}"')], vehicle=AFLOAT)
    (number,) = p.dry_propellers(robot)
    draft = robot.body.mass / (1000.0 * 1.5 * 0.5)
    assert number.value == pytest.approx(height + 0.1 - draft, abs=1e-9)
    assert (number.value > 0.0) == bool(count)


@pytest.mark.parametrize(('lean', 'count'), [
    ((0.2, -0.2), 0), ((0.2, 0.0), 1), ((0.2, 0.2), 2),
], ids=['mirrored', 'one', 'both to one side'])
def test_pairs_are_mirror_images_or_half_a_turn(lean, count):
    robot = changed('quadrotor', [
        (f'"0 {y} 0"', f'"0 {y} 0" rpy="{angle} 0 0"')
        for y, angle in zip((0.2, -0.2), lean, strict=True)
    ])
    angles = [number.value for number in n.mirrored(robot)]
    assert sum(angle > 1.0 for angle in angles) == min(count, 1)
    assert max(angles) == pytest.approx(math.degrees(abs(sum(lean))), abs=1e-5)


def test_rotors_that_lean_along_their_turn_are_half_a_turn_alike():
    robot = changed('quadrotor', [
        (f'"0 {y} 0"', f'"0 {y} 0" rpy="0 {y} 0"') for y in (0.2, -0.2)
    ])
    assert max(number.value for number in n.mirrored(robot)) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(('roll', 'names', 'count'), [
    (0.0, ('front', 'left', 'rear', 'right'), 0), (0.0, ('rear', 'left', 'front', 'right'), 2),
    (0.0, ('front', 'right', 'rear', 'left'), 2), (math.pi, ('front', 'right', 'rear', 'left'), 0),
    (0.0, ('a', 'b', 'c', 'd'), 0), (0.0, ('tail', 'left', 'bow', 'right'), 2),
], ids=['right', 'fore and aft', 'sides', 'z down', 'no words', 'other words'])
def test_places_are_held_against_names(roll, names, count):
    changes = [(f'<rotor name="{old}">', f'<rotor name="{new}_">')
               for old, new in zip(('front', 'left', 'rear', 'right'), names, strict=True)]
    robot = changed('quadrotor', changes, vehicle={'body.start_rpy': [roll, 0.0, 0.0]})
    assert sum(number.value < 0.0 for number in n.sides(robot)) == count


@pytest.mark.parametrize(('curve', 'needed'), [('0 8', 8.0), ('0 2', 8.0)], ids=str)
def test_full_throttle_is_held_against_the_largest_thrust(curve, needed):
    robot = changed('quadrotor', [
        ('<update_rate>', '<command_interface>throttle</command_interface> <update_rate>'),
        ('<direction>', f'<esc_curve>{curve}</esc_curve> <direction>'),
    ])
    ends = p.ends(robot, robot.groups[0])
    np.testing.assert_allclose(ends.full, float(curve.split()[1]))
    np.testing.assert_allclose(ends.needed, needed)
