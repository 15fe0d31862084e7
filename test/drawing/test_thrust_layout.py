# SPDX-License-Identifier: Apache-2.0
"""Drawn thrusts against the models: what an arrow says is the force that its family makes."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.drawing.drawn_blocks import layout_of
from propulsion_ros.drawing.shapes import read_state
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lifting_surface import LiftingSurfaceParams
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.reader import actuators_from_urdf

MOVING = BodyState(velocity=np.array([2.0, 0.3, 20.0]), angular_velocity=np.array([0.1, 0.2, 0.3]))
BLOCKS = [
    pytest.param('rocket', 'boosters', id='boosters'),
    pytest.param('quadrotor', 'rotors', id='rotors'),
    pytest.param('rov', 'thrusters', id='thrusters'),
    pytest.param('freeflyer', 'propulsion_modules', id='propulsion_modules'),
    pytest.param('freeflyer', 'inverse_fam', id='inverse_fam'),
    pytest.param('cubesat', 'jets', id='jets'),
]
FINS = [pytest.param('rocket', 'fins', id='rocket'), pytest.param('rov', 'fins', id='rov')]


def block(vehicle, name, **parameters):
    """Return family and layout of a vehicle's block."""
    path = share_directory() / 'urdf' / f'{vehicle}.urdf.xacro'
    specs = actuators_from_urdf(read_description(path).text, loop_params_of)
    spec = next(spec for spec in specs if spec.name == name)
    family_type = FAMILIES[spec.family]
    params = build(family_type.Params, {**spec.values, **parameters})
    family = family_type(params)
    return family, layout_of(params, family)


def command(family, rng):
    """Return something to do for all actuators."""
    sizes = {'position': 1.2, 'velocity': 280.0, 'effort': 5.0}
    if any('gimbal' in name for name in family.command_names):
        sizes = {'position': 0.08, 'velocity': 0.0, 'effort': 1200.0}
    fields = {}
    for field in set(family.command_fields):
        mask = np.array([own == field for own in family.command_fields])
        values = sizes[field] * rng.uniform(0.4, 1.0, len(mask))
        fields[field] = np.where(mask, values, np.nan)
    return Command(**fields)


def settled(family, wish):
    """Return what a family does after a while."""
    for tick in range(400):
        output = family.step(wish, MOVING, 0.01, tick)
    return output


def state_of(family, layout, output):
    """Return what the layout reads of the family's published state."""
    none = np.full(len(family.state_names), np.nan)
    position = none if output.position is None else output.position
    return read_state(layout, family.state_names, position, output.effort)


@pytest.mark.parametrize(('vehicle', 'name'), BLOCKS)
def test_arrows_are_the_forces_of_the_model(vehicle, name):
    family, layout = block(vehicle, name)
    output = settled(family, command(family, np.random.default_rng(5)))
    state = state_of(family, layout, output)
    points, axes = layout.in_base(state.angles)
    forces = state.thrust[:, None] * axes
    assert np.abs(forces).max() > 1e-3
    np.testing.assert_allclose(forces, output.forces, rtol=0.0, atol=1e-12 * layout.largest)
    np.testing.assert_allclose(
        state.thrust[:, None] * layout.in_links(state.angles),
        family.link_wrenches(output)[:, :3], rtol=0.0, atol=1e-12 * layout.largest,
    )
    if vehicle in ('rocket', 'rov'):
        # No reaction torque there, so the wrench tells where they push.
        np.testing.assert_allclose(
            np.cross(points, forces).sum(axis=0), output.wrench[3:], atol=1e-9 * layout.largest
        )


@pytest.mark.parametrize(('vehicle', 'name'), FINS)
def test_arrow_of_a_fin_is_its_lift(vehicle, name):
    family, layout = block(vehicle, name)
    rng = np.random.default_rng(7)
    wish = Command(position=rng.uniform(-0.2, 0.2, len(family.command_names)))
    output = settled(family, wish)
    state = state_of(family, layout, output)
    _, axes = layout.in_base(state.angles)
    assert np.abs(state.thrust).min() > 1e-3
    np.testing.assert_allclose(np.sum(output.forces * axes, axis=1), state.thrust, rtol=1e-9)
    in_links = family.link_wrenches(output)[:, :3]
    np.testing.assert_allclose(
        np.sum(in_links * layout.in_links(state.angles), axis=1), state.thrust, rtol=1e-9
    )


def test_fin_with_a_flap_does_not_turn_and_its_link_does():
    params = FinsParams(
        names=['flap'], lifting_surface=LiftingSurfaceParams(
            fin=['flap'], chord_length=[0.5], span_length=[1.0],
        ),
    )
    family = Fins(params)
    layout = layout_of(params, family)
    output = settled(family, Command(position=np.array([0.3])))
    state = state_of(family, layout, output)
    np.testing.assert_allclose(layout.in_base(state.angles)[1], [[0.0, 1.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(
        layout.in_links(state.angles), [[np.sin(0.3), np.cos(0.3), 0.0]], atol=1e-12
    )


@pytest.mark.parametrize(('vehicle', 'name', 'largest'), [
    pytest.param('rocket', 'boosters', 1300.0, id='max_thrust'),
    pytest.param('quadrotor', 'rotors', 7.4, id='rotors'),
    pytest.param('rov', 'thrusters', 49.0, id='end of the thrust table'),
    pytest.param('rocket', 'fins', 0.0, id='fins have none'),
])
def test_largest_thrust(vehicle, name, largest):
    assert block(vehicle, name)[1].largest == pytest.approx(largest)


def test_nozzle_pushes_hardest_alone_at_full_speed():
    family, layout = block('freeflyer', 'inverse_fam', method='polynomial')
    n = len(layout.names)
    wish = np.full((n, n + 2), 0.0)
    np.fill_diagonal(wish, np.pi / 2)
    speed = np.full((n, n + 2), np.nan)
    speed[:, n:] = 1e4
    thrusts = family.step(Command(position=wish, velocity=speed), MOVING, 0.01, 0).thrusts
    np.testing.assert_allclose(np.diag(thrusts), layout.highest, rtol=1e-9)


def test_limits_that_are_none_are_unknown():
    params = ThrustersParams(names=['t'], rotor_constant=[1e-3])
    layout = layout_of(params, Thrusters(params))
    assert np.isnan(layout.highest).all()
    assert layout.largest == 0.0
    assert np.isnan(layout.load(np.array([5.0]), np.empty(0))).all()


@pytest.mark.parametrize(('vehicle', 'name', 'thrust', 'angle', 'load'), [
    pytest.param('rocket', 'boosters', 650.0, 0.0, 0.5, id='booster half way'),
    pytest.param('rocket', 'boosters', 1300.0, 0.0, 1.0, id='booster at its limit'),
    pytest.param('quadrotor', 'rotors', 0.0, None, 0.0, id='rotor at rest'),
    pytest.param('rov', 'thrusters', -20.0, None, 20.0 / 38.0, id='thruster backwards'),
    pytest.param('rov', 'thrusters', 24.5, None, 0.5, id='thruster forwards'),
    pytest.param('rocket', 'fins', 0.0, -0.2, 1.0, id='fin at its stop without flow'),
    pytest.param('rocket', 'fins', 90.0, 0.05, 0.25, id='fin'),
    pytest.param('freeflyer', 'inverse_fam', 0.0, 0.0, 0.0, id='nozzle shut'),
    pytest.param('freeflyer', 'inverse_fam', 0.01, np.pi / 2, 1.0, id='nozzle open'),
])
def test_load(vehicle, name, thrust, angle, load):
    _, layout = block(vehicle, name)
    angles = np.full(len(layout.angle_names), 0.0 if angle is None else angle)
    loads = layout.load(np.full(len(layout.names), thrust), angles)
    assert loads[0] == pytest.approx(load, abs=1e-12)


def test_allocation_alone_is_not_drawn():
    assert block('freeflyer', 'fam')[1] is None
