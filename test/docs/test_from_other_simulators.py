# SPDX-License-Identifier: Apache-2.0
"""What the page makes of other simulators' configurations gives their numbers."""
from __future__ import annotations

import json
import re

import numpy as np
import pytest
import yaml

from markdown_pages import REPOSITORY, Page
from page_words import TAGS, WORDS
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.params import ModulesParams, angle_from_count, speed_from_count
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import actuators_from_urdf

PAGE = Page(REPOSITORY / 'docs/from_other_simulators.md')
GOLDEN = REPOSITORY / 'test/data/golden'
DEGREE = np.pi / 180.0
UUV_ROBOT = (
    '<robot name="r"><link name="B"/><link name="L"/><joint name="J" type="revolute">'
    '<parent link="B"/><child link="L"/><axis xyz="0 0 1"/><limit lower="-0.6" upper="0.6"/>'
    '</joint><gazebo><plugin filename="libuuv_fin_ros_plugin.so" name="p">{}</plugin></gazebo>'
    '</robot>'
)


OTHERS = {
    'thruster_0', 'fin_0', 'gimbal_1', 'gimbal_2', 'effort', 'velocity', 'position',
    'forward_unit', 'lifting_unit',
}
"""Names of the page's own robots, of a JointState and of PyFlyt."""


def words_here():
    """Yield each word in a column "Here" of the page's tables."""
    column = None
    for number, line in enumerate(PAGE.path.read_text(encoding='utf-8').splitlines(), 1):
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if not line.startswith('|'):
            column = None
        elif column is None:
            column = cells.index('Here') if 'Here' in cells else len(cells)
        elif column < len(cells):
            for word in re.findall(r'`<?([a-z]\w*(?:\.\w+)*)>?(?:: [^`]*)?`', cells[column]):
                yield pytest.param(word, id=f'{number} {word}')


@pytest.mark.parametrize('word', words_here())
def test_what_it_becomes_here_is_there(word):
    assert word in {*WORDS, *TAGS, *OTHERS}


def recorded(file, name):
    """Return one scenario of the originals."""
    scenarios = json.loads((GOLDEN / f'{file}.json').read_text(encoding='utf-8'))['scenarios']
    return next(each for each in scenarios if each['name'] == name)


def specs(file):
    """Return the plugin blocks of a description of the page by name."""
    return {each.name: each for each in actuators_from_urdf(PAGE.files[file], loop_params_of)}


def made(tmp_path, robot, block, settings=''):
    """Return the family and configuration of a block of the page, with a parameter file."""
    spec = specs(robot)[block]
    values = dict(spec.values)
    if settings:
        (tmp_path / settings).write_text(PAGE.files[settings], encoding='utf-8')
        values |= ParameterFile(tmp_path / settings).of(block)
    params = build(FAMILIES[spec.family].Params, values)
    return FAMILIES[spec.family](params), params


@pytest.fixture(scope='module')
def pyflyt():
    """Return the YAML of PyFlyt that the page begins with."""
    (text,) = (b.text for b in PAGE.blocks if b.text.startswith('booster_params'))
    return yaml.safe_load(text)


def test_uuv_thruster_follows_the_closed_form_of_the_original(tmp_path):
    thrusters, _ = made(tmp_path, 'rov.urdf', 'thrusters', 'rov.yaml')
    for k in range(1, 30):
        output = thrusters.step(Command(velocity=np.array([200.0])), BodyState(), 0.02, k)
        speed = 200.0 * (1.0 - np.exp(-k * 0.02 / 0.05))
        np.testing.assert_allclose(output.effort, min(0.00031 * speed**2, 40.0), rtol=1e-12)


def test_uuv_fin_is_the_recorded_one():
    scenario = recorded('uuv_fin_plugin', 'quadratic_random')
    assert scenario['joint_limits'] == [-0.6, 0.6]
    (theirs,) = actuators_from_urdf(UUV_ROBOT.format(scenario['xml']), loop_params_of)
    ours = specs('rov.urdf')['fins']
    assert {key: value for key, value in ours.values.items() if key not in ours.geometry} \
        == {key: value for key, value in theirs.values.items() if key not in theirs.geometry}


@pytest.mark.parametrize(('key', 'parameter', 'factor'), [
    ('total_fuel', 'tanks.capacity', 1.0),
    ('max_fuel_rate', 'max_fuel_rate', 1.0),
    ('min_thrust', 'min_thrust', 1.0),
    ('max_thrust', 'max_thrust', 1.0),
    ('booster_tau', 'time_constant', 1.0),
    ('noise_ratio', 'noise_ratio', 1.0),
    ('reignitable', 'reignitable', 1.0),
    ('gimbal_tau', 'gimbals.time_constant', 1.0),
    ('gimbal_range_degrees', 'gimbals.range', DEGREE),
])
def test_pyflyt_booster_parameter(pyflyt, key, parameter, factor):
    values = specs('rocket.urdf')['boosters'].values[parameter]
    assert values == pytest.approx([pyflyt['booster_params'][key] * factor] * len(values))


def test_pyflyt_tank_inertia(pyflyt):
    given = [pyflyt['booster_params'][f'inertia_i{axis * 2}'] for axis in 'xyz']
    assert specs('rocket.urdf')['boosters'].values['tanks.inertia'] == given


@pytest.mark.parametrize(('key', 'parameter', 'factor'), [
    ('Cl_alpha_2D', 'lifting_surface.lift_slope', 1.0),
    ('chord', 'lifting_surface.chord_length', 1.0),
    ('span', 'lifting_surface.span_length', 1.0),
    ('flap_to_chord', 'lifting_surface.flap_to_chord', 1.0),
    ('eta', 'lifting_surface.flap_effectiveness', 1.0),
    ('Cd_0', 'lifting_surface.zero_lift_drag', 1.0),
    ('alpha_0_base', 'lifting_surface.zero_lift_angle', DEGREE),
    ('alpha_stall_P_base', 'lifting_surface.max_stall_angle', DEGREE),
    ('alpha_stall_N_base', 'lifting_surface.min_stall_angle', DEGREE),
    ('deflection_limit', 'max_deflection', DEGREE),
    ('tau', 'time_constant', 1.0),
])
def test_pyflyt_finlet_parameter(pyflyt, key, parameter, factor):
    values = specs('rocket.urdf')['fins'].values[parameter]
    assert values == pytest.approx([pyflyt['finlet_params'][key] * factor] * 2, rel=1e-7)


def test_pyflyt_rocket_burns_as_recorded(tmp_path, pyflyt):
    scenario = recorded('pyflyt_boosters', 'nominal_rocket_yaml')
    assert scenario['params']['max_thrust'] == pyflyt['booster_params']['max_thrust']
    boosters, params = made(tmp_path, 'rocket.urdf', 'boosters', 'pyflyt.yaml')
    low, high = params.min_thrust[0], params.max_thrust[0]
    inputs, outputs = scenario['inputs'], scenario['outputs']
    for k, (ignition, pwm) in enumerate(zip(inputs['ignition'], inputs['pwm'], strict=True)):
        effort = low + pwm * (high - low) if ignition > 0.5 else 0.0
        command = Command(effort=np.array([effort, np.nan, np.nan]))
        boosters.step(command, BodyState(), scenario['dt'], k)
        np.testing.assert_allclose(boosters.throttle, outputs['throttle'][k], 1e-12, 1e-12)
        ratio = boosters.propellant / params.tanks.capacity
        np.testing.assert_allclose(ratio, outputs['fuel_ratio'][k], 1e-12)


def test_pyflyt_finlet_pushes_as_recorded(tmp_path):
    scenario = recorded('pyflyt_lifting_surface', 'rocket_finlet')
    fins, params = made(tmp_path, 'rocket.urdf', 'fins', 'pyflyt.yaml')
    limit, stall = params.max_deflection[0], scenario['params']['alpha_stall_P_base']
    for row in scenario['rows']:
        actuation, velocity, force = row[0], np.array(row[2:5]), np.array(row[5:8])
        if abs(row[1]) == stall:
            # There the force jumps, and the last digit decides on which side one is.
            continue
        fins.deflection = np.array([actuation * limit, 0.0])
        command = Command(position=fins.deflection)
        output = fins.step(command, BodyState(velocity=velocity), scenario['dt'], 0)
        # The angles of the page have eight digits.
        np.testing.assert_allclose(output.forces[0], force, rtol=0, atol=1e-6 * velocity @ velocity)


def test_astrobee_bytes_mean_what_the_page_says():
    params, counts = ModulesParams(), np.array([0, 1, 128, 254])
    span = params.max_angle - params.min_angle
    np.testing.assert_allclose(
        angle_from_count(counts, params), params.min_angle + counts / 255 * span, rtol=1e-12
    )
    np.testing.assert_allclose(speed_from_count(counts), counts / 0.792095, rtol=1e-12)
    degrees = np.degrees([astrobee.MIN_ANGLE, astrobee.MAX_ANGLE])
    np.testing.assert_allclose(degrees, [15.68, 79.91], rtol=1e-7)
