# SPDX-License-Identifier: Apache-2.0
"""What `check --show` states is what the models make and what the simulated body weighs."""
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from parts import amount
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.graph.read_layout import Sources
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.common.family import Allocatable, BodyState, Command, effectiveness_of
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.urdf.reader import actuators_from_urdf, masses_from_urdf

SHARE = share_directory()
SHIPPED = [
    *sorted((SHARE / 'urdf').glob('*.urdf.xacro')),
    *sorted((Path(__file__).parents[2] / 'examples').glob('*/*.urdf*')),
]
RANDOM = amount('rest', 8, 200)
EXACT = {'rtol': 1e-9, 'atol': 1e-9}
ENDLESS = 1e30
"""Capacity of a tank that a long step does not empty [kg]."""


def read(text):
    specs = actuators_from_urdf(text, loop_params_of)
    _, links = masses_from_urdf(text, specs[0].base_link)
    return specs, links


def thrusting(spec):
    """Return a family that can push for ever."""
    tanks = {'tanks.capacity': [ENDLESS]} if spec.values.get('tanks.capacity') else {}
    return build_family(spec.family, tanks, spec)[0]


def settled(family, thrust):
    """Return what a family makes some time after the commands for thrusts."""
    command = np.full(len(family.command_names), np.nan)
    command[:len(thrust)] = family.command_for(thrust)
    given = {
        field: np.where(np.array(family.command_fields) == field, command, np.nan)
        for field in set(family.command_fields)
    }
    for dt in (5.0, 5.0, 1.0):
        output = family.step(Command(**given), BodyState(), dt, 0)
    return output


def require_truth(text, rng):
    specs, links = read(text)
    robot = Sources({spec.name: spec for spec in specs}, links).layout
    dry = MassProperties.total(list(links.values()))
    groups = {group.name: group for group in robot.groups}
    mass, first = dry.mass, dry.mass * dry.com
    for spec in specs:
        family = build_family(spec.family, {}, spec)[0]
        if REGISTRY[spec.family].facts.pushes:
            tanks = family.step(Command(), BodyState(), 1.0 / 128.0, 0).tanks
            for own, com in zip(*(tanks[:2] if tanks else ((), ())), strict=True):
                mass, first = mass + own, first + own * com
        if spec.name not in groups or not isinstance(family, Allocatable):
            continue
        family, group = thrusting(spec), groups[spec.name]
        lowest, highest = (np.clip(limit, -1e3, 1e3) for limit in family.thrust_limits)
        works = effectiveness_of(family)
        is_shown = group.layout.highest < 1e3
        np.testing.assert_allclose(
            group.layout.highest[is_shown & (highest > 0.0)],
            settled(family, highest).thrusts[is_shown & (highest > 0.0)], **EXACT
        )
        # The valves of jets make no small part of a pulse.
        least = 1.0 if spec.family == 'jets' else 0.6
        thrust = lowest + (highest - lowest) * rng.uniform(least, 1.0, len(lowest))
        np.testing.assert_allclose(
            group.matrix @ (thrust * works), settled(family, thrust).wrench, **EXACT
        )
    require_true_range(robot, {spec.name: thrusting(spec) for spec in specs if spec.name in groups})
    np.testing.assert_allclose(robot.body.mass, mass, rtol=1e-12)
    np.testing.assert_allclose(robot.body.com, first / mass if mass else 0.0, atol=1e-12)
    assert robot.propellant == pytest.approx(mass - dry.mass, abs=1e-9)


def require_true_range(robot, families):
    """Require that models make the least and the largest of each part of the wrench together."""
    groups = [group for group in robot.groups if group.matrix.shape[1]]
    if not all(isinstance(families[group.name], Allocatable) for group in groups):
        return
    for part, (least, most) in enumerate(zip(*robot.extremes, strict=True)):
        for end, wanted in ((-1.0, least), (1.0, most)):
            made = np.zeros(6)
            for group in groups if np.isfinite(wanted) else ():
                lowest, highest = families[group.name].thrust_limits
                shifted = np.vstack([group.matrix[:3], group.matrix[3:] - np.cross(
                    robot.body.com, group.matrix[:3].T
                ).T])
                thrust = np.where(end * shifted[part] > 0.0, highest, lowest)
                # What makes none of it may stay off.
                thrust[np.abs(shifted[part]) < 1e-12] = 0.0
                made += settled(families[group.name], thrust).wrench
            made[3:] -= np.cross(robot.body.com, made[:3])
            if np.isfinite(wanted):
                np.testing.assert_allclose(made[part], wanted, **EXACT)


@pytest.mark.parametrize('path', SHIPPED, ids=lambda path: path.name)
def test_shipped_robots(path):
    text = read_description(path).text
    if 'filename="propulsion_ros"' not in text:
        pytest.skip('macros alone')
    require_truth(text, np.random.default_rng(1))


def random_robot(rng):
    """Return a robot of 1 to 3 groups at random places, with random faults and tanks."""
    families = rng.permutation(['rotors', 'thrusters', 'boosters', 'jets'])[:rng.integers(1, 4)]
    links, blocks = [inertial('base_link', rng)], []
    for family in families:
        rows = []
        for i in range(rng.integers(1, 7)):
            name = f'{family}_{i}'
            links.append(inertial(name, rng) + joint('base_link', name, rng))
            inside = ''
            if family == 'boosters' and rng.random() < 0.5:
                links.append(gimbal(name, rng))
                inside = f'<gimbal><joint>{name}_x</joint><joint>{name}_y</joint></gimbal>'
            block = ROWS[family](name, rng).replace('</booster>', f'{inside}</booster>')
            link = f'{name}_nozzle' if inside else name
            rows.append(block.replace(f'<link>{name}</link>', f'<link>{link}</link>'))
        tank = ''
        if family == 'boosters':
            links.append('<link name="tank"/>' + joint('base_link', 'tank', rng))
            ratio, capacity = rng.uniform(0, 1), rng.uniform(0, 20)
            tank = (
                f'<tank name="t"><link>tank</link><capacity>{capacity}</capacity>'
                f'<starting_fuel_ratio>{ratio}</starting_fuel_ratio></tank>'
            )
        blocks.append(
            f'<gazebo><plugin filename="propulsion_ros" name="{family}">{tank}{"".join(rows)}'
            '</plugin></gazebo>'
        )
    return f'<robot name="r">{"".join(links)}{"".join(blocks)}</robot>'


def three(numbers):
    return ' '.join(map(repr, np.asarray(numbers).tolist()))


def inertial(name, rng):
    moments = rng.uniform(1, 2, 3)
    return (
        f'<link name="{name}"><inertial><origin xyz="{three(rng.normal(size=3))}" '
        f'rpy="{three(rng.normal(size=3))}"/><mass value="{rng.uniform(0.1, 9)}"/><inertia '
        f'ixx="{moments[0]}" iyy="{moments[1]}" izz="{moments[2]}" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link>'
    )


def joint(parent, child, rng):
    rpy = Rotation.random(random_state=rng).as_euler('xyz')
    return (
        f'<joint name="{child}_joint" type="fixed"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{three(rng.normal(size=3))}" rpy="{three(rpy)}"/></joint>'
    )


def gimbal(name, rng):
    """Return two turning joints, the inner of which carries the engine."""
    axes, places = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    return ''.join(
        f'<joint name="{name}_{key}" type="continuous"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{three(place)}"/><axis xyz="{three(axis)}"/></joint>'
        for key, parent, child, place, axis in (
            ('x', name, f'{name}_ring', places[0], axes[0]),
            ('y', f'{name}_ring', f'{name}_nozzle', places[1], axes[1]),
        )
    ) + f'<link name="{name}_ring"/>{inertial(f"{name}_nozzle", rng)}'


def row(tag, name, rng, **values):
    inside = ''.join(f'<{key}>{value}</{key}>' for key, value in values.items())
    return (
        f'<{tag} name="{name}"><link>{name}</link><axis>{three(rng.normal(size=3))}</axis>{inside}'
        f'</{tag}>'
    )


ROWS = {
    'rotors': lambda name, rng: row(
        'rotor', name, rng, max_thrust=rng.uniform(1, 50), motor_constant=1e-5,
        efficiency=rng.uniform(0.2, 1), moment_constant=rng.uniform(0, 0.1), time_constant_up=0.03,
        direction=rng.choice([-1, 1]),
    ),
    'thrusters': lambda name, rng: row(
        'thruster', name, rng, rotor_constant=1e-3, max_thrust=40, min_thrust=-30,
        thrust_efficiency=rng.uniform(0.2, 1), time_constant=0.1,
    ),
    'boosters': lambda name, rng: row(
        'booster', name, rng, max_thrust=rng.uniform(10, 500), max_fuel_rate=0.1,
        efficiency=rng.uniform(0.2, 1), tank='t', misalignment=three(0.01 * rng.normal(size=3)),
    ),
    'jets': lambda name, rng: row(
        'jet', name, rng, max_thrust=rng.uniform(0.1, 5), specific_impulse=60,
        efficiency=rng.uniform(0.2, 1),
    ),
}


@pytest.mark.parametrize('seed', range(RANDOM))
def test_random_robots(seed):
    rng = np.random.default_rng(seed)
    require_truth(random_robot(rng), rng)
