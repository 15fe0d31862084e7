# SPDX-License-Identifier: Apache-2.0
"""Random graphs of links and joints: every reader of descriptions ends, with a line or a robot."""
from __future__ import annotations

import random

import pytest

from parts import amount, few_of
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.gz.model import gazebo_robot
from propulsion_ros.settings.errors import MOST_FAULTS, ConfigError
from propulsion_ros.tools.check import check_file
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf
from propulsion_ros.urdf.xml import Description
from propulsion_ros.view.robot import Robot, scene_of

GRAPHS = amount('fuzz', 30, 2000)
LARGE = amount('fuzz', 4000, 10_000)
KINDS = 'tree', 'any', 'loop', 'islands', 'two parents', 'chain'


def graph_of(kind, count, rng):
    """Return joints as pairs of links, of which 0 is the base."""
    tree = [(rng.randrange(i), i) for i in range(1, count)]
    if kind == 'any':
        return [(rng.randrange(count), rng.randrange(count)) for _ in range(count)]
    if kind == 'loop':
        # Somewhere on the way from the last link to the base.
        parents, start = {child: parent for parent, child in tree}, count - 1
        while start and rng.random() < 0.6:
            start = parents[start]
        return [pair for pair in tree if pair[1] != start] + [(count - 1, start)]
    if kind == 'islands':
        return [pair for pair in tree if rng.random() < 0.8]
    if kind == 'two parents':
        return tree + [(rng.randrange(count), rng.randrange(1, count)) for _ in range(3)]
    return [(i, i + 1) for i in range(count - 1)] if kind == 'chain' else tree


def robot(joints, count, rng):
    links = ''.join(f'<link name="l{i}"/>' for i in range(count))
    kinds = 'fixed', 'continuous', 'floating'
    joined = ''.join(
        f'<joint name="j{i}" type="{rng.choice(kinds)}"><parent link="l{a}"/><child link="l{b}"/>'
        '</joint>' for i, (a, b) in enumerate(joints)
    )
    placed = f'<link>l{rng.randrange(count)}</link>'
    return (
        f'<robot name="r">{links}{joined}<gazebo><plugin filename="propulsion_ros" name="rotors">'
        f'<base_link>l0</base_link><rotor name="m">{placed}<max_thrust>5</max_thrust>'
        '<motor_constant>1e-5</motor_constant></rotor></plugin></gazebo></robot>'
    )


def readers(path, text):
    yield lambda: actuators_from_urdf(text, loop_params_of)
    yield lambda: mass_from_urdf(text, 'l0')
    yield lambda: scene_of(Robot(Description(path.name, text)), ())
    yield lambda: gazebo_robot(path)


def lines_of(path, text):
    """Return what `check` reports, after every other reader has refused or read the robot."""
    path.write_text(text)
    faults = check_file(path).faults
    refused = []
    for read in readers(path, text):
        try:
            read()
        except ConfigError as error:
            refused.append(str(error))
    assert all('\n' not in line for line in refused)
    return faults


@pytest.mark.part('fuzz')
def test_random_graphs_end(tmp_path):
    rng = random.Random(39)
    for number in range(GRAPHS):
        kind, count = KINDS[number % len(KINDS)], rng.randrange(2, 40)
        joints = graph_of(kind, count, rng)
        faults = lines_of(tmp_path / 'robot.urdf', robot(joints, count, rng))
        assert kind != 'loop' or any('closes a loop' in line for line in faults)


@pytest.mark.parametrize('kind', few_of(KINDS, 3))
def test_graphs_of_many_links_end(tmp_path, kind):
    rng = random.Random(kind)
    joints = graph_of(kind, LARGE, rng)
    faults = lines_of(tmp_path / 'robot.urdf', robot(joints, LARGE, rng))
    assert len(faults) <= MOST_FAULTS + 1
