# SPDX-License-Identifier: Apache-2.0
"""Steered families against the same families placed where scipy's rotations bring their links."""
from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.models.steering.steered import ANGLE, steered
from propulsion_ros.models.steering.steering import SteeringParams

N = 3
DIRECTIONS = ('axis', 'chord', 'span')
NAMES = ('a', 'b', 'c')

ROTORS = {
    'motor_constant': 1e-5, 'max_thrust': 15.0, 'moment_constant': 0.02, 'direction': [1, -1, 1],
    'inflow_coefficient': [1e-3, 0.0, 2e-3], 'translational_lift_coefficient': 1e-3,
    'rotor_radius': 0.1, 'ground_height': -0.3, 'rotor_drag_coefficient': 1e-4,
    'rolling_moment_coefficient': 1e-5, 'flapping_moment_coefficient': [2e-5, 1e-5, 0.0],
    'rotor_inertia': 1e-4, 'efficiency': [1.0, 0.8, 1.0],
}
THRUSTERS = {
    'rotor_constant': 1e-3, 'moment_constant': 0.05, 'direction': [1, -1, 1],
    'surface_loss': True, 'propeller_diameter': 0.2, 'surface_height': 0.1,
}
FIELD = {
    'rotors': 'effort', 'thrusters': 'velocity', 'jets': 'effort', 'boosters': 'effort',
    'fins': 'position',
}
CASES = {
    'rotors': ('rotors', ROTORS),
    'thrusters': ('thrusters', THRUSTERS),
    'propellers': ('thrusters', {
        **THRUSTERS, 'conversion': 'propeller', 'thrust_coefficient': 0.4,
        'advance_slope': 0.3,
    }),
    'jets': ('jets', {'max_thrust': 2.0, 'modulation': 'on_off'}),
    'boosters': ('boosters', {
        'max_thrust': 30.0, 'max_fuel_rate': 0.1,
        'misalignment': [[0.01, 0.02, 0.0], [0.0, 0.0, 0.0], [0.1, 0.0, 0.0]],
    }),
    'fins': ('fins', {
        'lifting_surface.fin': ['a', 'b'], 'lifting_surface.chord_length': 0.2,
        'lifting_surface.span_length': 0.8, 'lifting_surface.flap_to_chord': 0.3,
        'quadratic.fin': ['c'], 'quadratic.lift_constant': 3.0, 'quadratic.drag_constant': 0.5,
    }),
}


def placed(family: str, values: dict, rng: np.random.Generator):
    """Return a family's configuration with N actuators at random places."""
    from propulsion_ros.settings.flat import build, parameters_of

    params = REGISTRY[family].Params
    keys = {each.key for each in parameters_of(params)}
    random = {
        key: rng.standard_normal((N, 3)) for key in DIRECTIONS if key in keys
    }
    return build(params, {
        'names': list(NAMES), 'position': rng.uniform(-1.0, 1.0, (N, 3)),
        'rotation': Rotation.random(N, random_state=rng).as_matrix(), **random, **values,
    })


def joints(rng: np.random.Generator) -> SteeringParams:
    """Return random joints: none, one or two for each actuator, some of them shared."""
    names = ['outer', 'inner', 'alone']
    return SteeringParams(
        joints=names, mode='servo', carried_by=['', 'outer', ''],
        axis=rng.standard_normal((N, 3)), pivot=rng.uniform(-1.0, 1.0, (N, 3)),
        actuators=rng.choice(['', *names], N).tolist(),
    )


def moved(steering: SteeringParams, angles: np.ndarray) -> list[tuple[Rotation, np.ndarray]]:
    """Return rotation and shift of each actuator's link, by scipy."""
    found = []
    for nearest in steering.actuators:
        turn, shift, joint = Rotation.identity(), np.zeros(3), nearest
        while joint:
            i = steering.joints.index(joint)
            axis, pivot = steering.axis[i], steering.pivot[i]
            own = Rotation.from_rotvec(angles[i] * axis / np.linalg.norm(axis))
            turn, shift = own * turn, own.apply(shift - pivot) + pivot
            joint = steering.carried_by[i]
        found.append((turn, shift))
    return found


def carried(params, where):
    """Return a configuration whose actuators are where their links have moved."""
    turns = [turn.as_matrix() for turn, _ in where]
    given = {
        'position': [t @ p + s for t, (_, s), p in zip(
            turns, where, params.position, strict=True)],
        'rotation': [t @ r for t, r in zip(turns, params.rotation, strict=True)],
    }
    given |= {
        key: [t @ d for t, d in zip(turns, getattr(params, key), strict=True)]
        for key in DIRECTIONS if hasattr(params, key)
    }
    return dataclasses.replace(params, **given)


@pytest.mark.parametrize('case', CASES)
def test_a_steered_family_is_the_family_where_its_links_are(case):
    family, values = CASES[case]
    rng = np.random.default_rng(len(case))
    for _ in range(170):
        params, steering = placed(family, values, rng), joints(rng)
        angles = rng.uniform(-4.0, 4.0, N)
        body = BodyState(
            velocity=rng.normal(0.0, 3.0, 3), angular_velocity=rng.normal(0.0, 2.0, 3),
            height=rng.uniform(-0.5, 0.5), up=Rotation.random(random_state=rng).as_matrix()[2],
        )
        given = rng.uniform(0.5, 1.0, N) * (400.0 if FIELD[family] == 'velocity' else 1.4)
        model = steered(REGISTRY[family](params), params, steering)
        model.reset(None, {ANGLE: angles})
        plain = REGISTRY[family](carried(params, moved(steering, angles)))
        field = FIELD[family]
        for tick in range(2):
            whole = Command(**{
                field: np.append(given, [np.nan] * N),
                **({} if field == 'position' else {'position': np.full(2 * N, np.nan)}),
            })
            ours = model.step(whole, body, 0.01, tick)
            theirs = plain.step(Command(**{field: given}), body, 0.01, tick)
        size = 1.0 + np.abs(theirs.wrench).max()
        np.testing.assert_allclose(ours.wrench, theirs.wrench, rtol=0, atol=1e-12 * size)
        np.testing.assert_allclose(ours.thrusts, theirs.thrusts, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(ours.axes, theirs.axes, rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            model.link_wrenches(ours), plain.link_wrenches(theirs), rtol=0, atol=1e-12 * size
        )
        np.testing.assert_array_equal(ours.position[-N:], angles)
        if hasattr(plain, 'allocation_matrix'):
            np.testing.assert_allclose(
                model.allocation_matrix, plain.allocation_matrix, rtol=0, atol=1e-12
            )
