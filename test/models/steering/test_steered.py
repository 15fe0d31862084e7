# SPDX-License-Identifier: Apache-2.0
"""Steered families against the same families placed where scipy's rotations bring their links."""
import dataclasses
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from parts import amount
from propulsion_ros.drawing.drawn_blocks import layout_of
from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.models.common.family import (
    Allocatable,
    Blockwise,
    BodyState,
    Command,
    Degradable,
    Powered,
    Retunable,
    Weakening,
)
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.steering.steered import ANGLE, LIMIT, steered
from propulsion_ros.models.steering.steering import SteeringParams
from propulsion_ros.settings.errors import ConfigError

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
        'advance_coefficient': -0.3,
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
    for _ in range(amount('rest', 40, 170)):
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
        drawn, own = layout_of(params, model), layout_of(params, REGISTRY[family](params))
        there = layout_of(carried(params, moved(steering, angles)), plain)
        rest = np.zeros(len(own.angle_names))
        for now, then in zip(
            drawn.in_base(np.append(rest, angles)), there.in_base(rest), strict=True
        ):
            np.testing.assert_allclose(now, then, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(drawn.in_links(np.append(rest, angles)), own.in_links(rest))
        if hasattr(plain, 'allocation_matrix'):
            np.testing.assert_allclose(
                model.allocation_matrix, plain.allocation_matrix, rtol=0, atol=1e-12
            )


def tilted(batch=(), params=None, **given):
    """Return one rotor at the end of an arm of 0.5 m, which a joint turns about y."""
    params = RotorsParams(**{
        'names': ['a'], 'position': [0.5, 0.0, 0.0], 'motor_constant': 1e-5, 'max_thrust': 15.0,
        **(params or {}),
    })
    joint = SteeringParams(**{
        'joints': ['tilt'], 'mode': 'servo', 'axis': [0.0, 1.0, 0.0], 'actuators': ['tilt'],
        **given,
    })
    return steered(Rotors(params, batch), params, joint, batch)


def pushed(model, angle, steps=1, body=None, dt=0.01, thrust=8.0):
    for tick in range(steps):
        output = model.step(
            Command(effort=[thrust, np.nan], position=[np.nan, angle]), body or BodyState(), dt,
            tick,
        )
    return output


def test_a_rotor_that_is_tilted_resists_by_its_momentum():
    """The rate of the joint turns its axis: the body gets -rate x L, L = J w along the axis."""
    inertia, rate, dt = 2e-4, 3.0, 0.01
    model = tilted(params={'rotor_inertia': inertia}, rate_limit=rate)
    model.reset(None, {'rotor_speed': [np.sqrt(8.0 / 1e-5)]})
    for step in range(5):
        output = pushed(model, 1.5, dt=dt)
        mean = rate * dt * (step + 0.5)
        turn = Rotation.from_rotvec([0.0, mean, 0.0])
        axis, arm = turn.apply([0.0, 0.0, 1.0]), turn.apply([0.5, 0.0, 0.0])
        momentum = inertia * np.sqrt(8.0 / 1e-5) * axis
        expected = np.cross(arm, 8.0 * axis) - np.cross([0.0, rate, 0.0], momentum)
        np.testing.assert_allclose(output.wrench[3:], expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(output.velocity, [np.sqrt(8.0 / 1e-5), rate], rtol=1e-12)


def test_a_link_that_swings_meets_the_flow_of_its_swing():
    """At 0.5 m from the joint a rotor moves against its own thrust or along it."""
    rate, loss = -4.0, 1e-3
    model = tilted(params={'inflow_coefficient': loss}, rate_limit=abs(rate))
    model.reset(None, {'rotor_speed': [np.sqrt(8.0 / 1e-5)]})
    still = BodyState(velocity=np.zeros(3), angular_velocity=np.zeros(3))
    output = pushed(model, -1.0, body=still)
    # Along the axis of the rotor, (0, 0, 1) at position 0, the hub moves with -rate x arm.
    speed = -0.5 * rate
    np.testing.assert_allclose(
        output.thrusts, 8.0 - loss * np.sqrt(8.0 / 1e-5) * speed, rtol=1e-12
    )


def test_a_servo_follows_its_command_and_keeps_it_without_one():
    model = tilted(time_constant=0.1, upper=0.6)
    output = pushed(model, 0.5, steps=4)
    assert output.position[1] == pytest.approx(0.5 * (1.0 - np.exp(-0.4)), rel=1e-12)
    assert not output.flags[LIMIT].any()
    output = pushed(model, np.nan, steps=4)
    assert output.position[1] == pytest.approx(0.5 * (1.0 - np.exp(-0.8)), rel=1e-12)
    assert pushed(model, 2.0).flags[LIMIT].tolist() == [True]
    model.rest()
    assert pushed(model, np.nan).position[1] == model.angles[0]
    model.reset()
    assert pushed(model, np.nan).position[1] == 0.0


def test_many_steered_robots_are_so_many_alone():
    rng, given = np.random.default_rng(5), {'time_constant': 0.05, 'rate_limit': 4.0}
    params = {'inflow_coefficient': 1e-3, 'rotor_inertia': 1e-4, 'moment_constant': 0.02}
    whole = tilted((4,), params, **given)
    alone = [tilted((), params, **given) for _ in range(4)]
    for tick in range(6):
        angles, efforts = rng.uniform(-1.0, 1.0, 4), rng.uniform(2.0, 9.0, 4)
        velocity, rate, up = rng.normal(0.0, 2.0, (3, 4, 3))
        none = np.full(4, np.nan)
        output = whole.step(
            Command(effort=np.stack((efforts, none), -1), position=np.stack((none, angles), -1)),
            BodyState(velocity=velocity, angular_velocity=rate, up=up, height=np.ones(4)), 0.01,
            tick,
        )
        if tick == 3:
            whole.reset([2])
            alone[2].reset()
        for i, model in enumerate(alone):
            one = model.step(
                Command(effort=[efforts[i], np.nan], position=[np.nan, angles[i]]),
                BodyState(velocity=velocity[i], angular_velocity=rate[i], up=up[i], height=1.0),
                0.01, tick,
            ) if not (tick == 3 and i == 2) else None
            if one is not None:
                np.testing.assert_allclose(output.wrench[i], one.wrench, rtol=1e-12, atol=1e-13)
                np.testing.assert_allclose(output.position[i], one.position, atol=1e-15)
    assert whole.allocation_matrix.shape == (4, 6, 1)


def test_what_is_fixed_is_the_family_itself():
    assert type(tilted(mode='fixed')) is Rotors


@pytest.mark.parametrize(('family', 'protocols'), [
    pytest.param('rotors', (Allocatable, Degradable, Retunable, Weakening, Powered), id='rotors'),
    pytest.param('thrusters', (Allocatable, Degradable, Retunable, Weakening), id='thrusters'),
    pytest.param('fins', (Retunable, Degradable), id='fins'),
])
def test_a_steered_family_is_known_for_all_that_the_family_has(family, protocols):
    rng = np.random.default_rng(1)
    params = placed(family, CASES[family][1], rng)
    plain = REGISTRY[family](params)
    model = steered(plain, params, SteeringParams(
        joints=['j'], mode='joint_states', actuators=['j', '', 'j'],
    ))
    assert all(isinstance(model, each) for each in protocols)
    assert isinstance(model, Allocatable) == isinstance(plain, Allocatable)
    assert not isinstance(model, Blockwise)
    assert model.facts is plain.facts
    assert model.actuator_names == plain.actuator_names


@pytest.mark.parametrize(('given', 'text'), [
    pytest.param({'actuators': ['a']}, "'actuators[0]': unknown joint 'a', known: tilt",
                 id='unknown'),
    pytest.param({'carried_by': ['tilt']}, "'carried_by[0]': 'tilt' carries itself", id='loop'),
    pytest.param({'lower': 1.0, 'upper': -1.0}, "'lower[0]': 1 is above upper -1 rad", id='limits'),
    pytest.param({'mode': 'motor'}, "'mode': expected one of servo, joint_states, fixed",
                 id='mode'),
    pytest.param({'actuators': []}, "'steering.actuators': expected a joint or '' for each of 1",
                 id='none'),
    pytest.param({'joints': ['a'], 'actuators': ['a']},
                 "'steering.joints[0]': 'a' is a name of the group itself", id='name'),
    pytest.param({'axis': [0.0, 0.0, 0.0]}, "'steering.axis[0]': expected a direction", id='axis'),
    pytest.param({
        'joints': ['i', 'j', 'k'], 'carried_by': ['', 'i', 'j'], 'actuators': ['k'],
        'axis': [0.0, 0.0, 1.0],
    }, "expected at most 2 joints that turn a link, got 'i', 'j', 'k'", id='three'),
])
def test_what_cannot_turn_is_refused(given, text):
    with pytest.raises(ConfigError) as error:
        tilted(**given)
    assert text in str(error.value)


class Feeling(Rotors):
    """A family of another package that meets one flow."""

    facts = FamilyFacts(tag='rotor')


def test_a_family_that_meets_one_flow_is_turned_by_one_joint_or_refused():
    params = placed('rotors', ROTORS, np.random.default_rng(3))
    joint = {'joints': ['i', 'j'], 'mode': 'servo', 'axis': [1.0, 0.0, 0.0]}
    model = Feeling(params)
    with pytest.raises(ConfigError, match='give those of another joint a block of their own'):
        steered(model, params, SteeringParams(**joint, actuators=['i', 'i', 'j']))
    whole = steered(model, params, SteeringParams(**joint, actuators=['i', 'i', 'i']))
    plain = steered(Rotors(params), params, SteeringParams(**joint, actuators=['i', 'i', 'i']))
    body = BodyState(velocity=[1.0, 2.0, 3.0], angular_velocity=[0.1, 0.2, 0.3])
    command = Command(effort=[4.0, 5.0, 6.0, *[np.nan] * 2], position=[*[np.nan] * 3, 0.5, 0.0])
    np.testing.assert_array_equal(
        whole.step(command, body, 0.01, 0).wrench, plain.step(command, body, 0.01, 0).wrench
    )


def test_a_family_of_a_newcomer_is_steered_as_it_is(monkeypatch):
    """The model of the tutorial, which knows no joints."""
    page = (Path(__file__).parents[3] / 'docs/add_a_family.md').read_text()
    module = ModuleType('waterjets')
    # A dataclass looks for the module that it is in.
    monkeypatch.setitem(sys.modules, 'waterjets', module)
    exec(page.partition('```python\n')[2].partition('```')[0], vars(module))  # noqa: S102  our own
    params = module.WaterjetsParams(
        names=['left', 'right'], max_thrust=20.0, position=[[-1.0, 0.5, 0.0], [-1.0, -0.5, 0.0]],
    )
    model = steered(module.Waterjets(params), params, SteeringParams(
        joints=['nozzle'], mode='servo', pivot=[-1.0, 0.5, 0.0], actuators=['nozzle', ''],
    ))
    output = model.step(
        Command(effort=[8.0, 6.0, np.nan], position=[np.nan, np.nan, np.pi / 2]), BodyState(),
        0.01, 0,
    )
    np.testing.assert_allclose(output.wrench, [6.0, 8.0, 0, 0, 0, 3.0 - 8.0], atol=1e-12)
    assert isinstance(model, Allocatable)
    np.testing.assert_allclose(model.allocation_matrix[:2], [[0, 1], [1, 0]], atol=1e-12)
