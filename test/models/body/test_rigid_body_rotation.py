# SPDX-License-Identifier: Apache-2.0
"""How a rigid body turns, and what its parts weigh together."""
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from bodies import DT, G, body, floating, part, run
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import RigidBody
from propulsion_ros.models.common.wrench import move_wrench


def rotation(model: RigidBody) -> np.ndarray:
    return Rotation.from_quat(model.motion.quaternion).as_matrix()


def com_of(model: RigidBody, mass: MassProperties) -> np.ndarray:
    return model.motion.position + rotation(model) @ mass.com


# Rotation.


def spin_up(model: RigidBody, rate, inertia) -> None:
    """Bring a resting body to about a rate [rad/s] by a couple of one short step."""
    run(model, 1, [0, 0, 0, *(np.array(rate) * inertia / 1e-6)], part(inertia=inertia), dt=1e-6)


@pytest.mark.parametrize('rate', [(1.0, 2.0, -0.5), (0.01, 3.0, 0.01)], ids=['any', 'unstable'])
def test_free_tumbling_keeps_angular_momentum_and_energy(rate):
    inertia = np.array([1.0, 2.0, 2.5])
    model = floating(drag_area=0.0)
    spin_up(model, rate, inertia)
    momentum = rotation(model) @ (inertia * model.motion.angular_velocity)
    energy = inertia @ model.motion.angular_velocity**2
    for _ in range(10):
        motion = run(model, 100, mass=part(inertia=inertia))
        now = rotation(model) @ (inertia * motion.angular_velocity)
        np.testing.assert_allclose(now, momentum, atol=1e-6)
        assert inertia @ motion.angular_velocity**2 == pytest.approx(energy, rel=1e-7)
    assert np.linalg.norm(motion.quaternion) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize(('values', 'left'), [
    pytest.param({'fluid_density': 1000.0, 'angular_drag': [0.0, 0.0, 0.001]},
                 lambda start: 1.0 / (1.0 + start * 1.0 / 2.5 * 3.0), id='drag'),
    pytest.param({'angular_damping': [0.0, 0.0, 2.0]},
                 lambda start: np.exp(-2.0 / 2.5 * 3.0), id='damping'),
])
def test_a_spin_slows_down_by_the_closed_form(values, left):
    model = floating(**values)
    spin_up(model, (0.0, 0.0, 4.0), np.array([1.0, 2.0, 2.5]))
    start = model.motion.angular_velocity[2]
    assert run(model, 300).angular_velocity[2] == pytest.approx(start * left(start), rel=1e-7)


def test_a_step_follows_a_damping_that_is_faster_than_it():
    model = floating(angular_damping=5e3)
    spin_up(model, (0.0, 0.0, 4.0), np.array([1.0, 2.0, 2.5]))
    assert abs(run(model, 1).angular_velocity[2]) < 1e-6


def test_the_mean_of_both_ends_of_a_step_acts():
    # The centre of mass passes through the line of thrust; the moment of inertia grows 1 to 3.
    before, after = part(com=(0.0, 0.1, 0.0)), part(com=(0.0, -0.1, 0.0))
    model = floating()
    model.step(np.array([0, 0, 5.0, 0, 0, 0]), before, after, DT)
    np.testing.assert_allclose(model.motion.angular_velocity, np.zeros(3), atol=1e-15)
    model = floating()
    before, after = part(inertia=(1.0, 1.0, 1.0)), part(inertia=(3.0, 3.0, 3.0))
    model.step(np.array([0, 0, 0, 0.5, 0, 0]), before, after, DT)
    assert model.motion.angular_velocity[0] == pytest.approx(0.5 / 2.0 * DT, rel=1e-12)


def test_where_the_origin_of_the_body_lies_changes_nothing():
    shift, wrench = np.array([0.4, -0.3, 0.7]), np.array([3.0, 4.0, 12.0, 0.3, -0.2, 0.1])
    paths = []
    for origin in (np.zeros(3), shift):
        mass = part(com=np.array([0.1, 0.0, 0.2]) - origin)
        model = body(
            ground=False, fluid_density=2.0, drag_area=[0.1, 0.2, 0.3], displaced_volume=0.5,
            centre_of_pressure=np.array([0.0, 0.1, -0.3]) - origin,
            centre_of_buoyancy=np.array([0.1, 0.2, 0.5]) - origin,
            start_position=np.array([0.0, 0.0, 50.0]) + origin,
        )
        moved = move_wrench(wrench, -origin)
        run(model, 200, moved, mass, drag=(0.5, np.array([0.0, 0.0, 0.8]) - origin))
        motion = model.motion
        paths.append([*com_of(model, mass), *motion.quaternion, *motion.angular_velocity])
    np.testing.assert_allclose(paths[1], paths[0], rtol=0, atol=1e-9)
    assert np.linalg.norm(paths[0][7:]) > 0.1


def test_a_swing_below_a_parachute_decays_as_linear_theory_has_it():
    # Sideways the canopy takes b (v + arm w), b = weight / fall; 2 kg and 2 kg m^2.
    small, arm, height = 1e-4, 1.5, 1e4
    fall = np.sqrt(2.0 * G / (0.5 * 1.2 * 0.9))
    b = 2.0 * G / fall
    matrix = np.array([
        [-b / 2.0, 0.0, -b * arm / 2.0],
        [0.0, 0.0, 1.0],
        [-b * arm / 2.0, -G * arm, -b * arm**2 / 2.0],
    ])
    model = body(
        height=height, fluid_density=1.2, start_rpy=[0.0, small, 0.0],
        start_velocity=[0.0, 0.0, -fall],
    )
    for k in range(1, 9):
        run(model, 50, drag=(0.9, np.array([0.0, 0.0, arm])))
        _, tilt, _ = expm(matrix * 0.5 * k) @ [0.0, small, 0.0]
        pitch = Rotation.from_quat(model.motion.quaternion).as_euler('xyz')[1]
        assert pitch == pytest.approx(tilt, abs=2e-3 * small)


def test_a_neutral_body_swings_like_a_pendulum():
    # Buoyancy 0.1 m above the centre of mass: w^2 = m g d / I.
    small = 1e-3
    model = body(
        height=-5.0, ground=False, fluid_density=1000.0, displaced_volume=0.002,
        centre_of_buoyancy=[0.0, 0.0, 0.1], start_rpy=[small, 0.0, 0.0],
    )
    frequency = np.sqrt(2.0 * G * 0.1 / 1.0)
    for k in range(1, 11):
        roll = Rotation.from_quat(run(model, 100).quaternion).as_euler('xyz')[0]
        assert roll == pytest.approx(small * np.cos(frequency * k), abs=1e-5 * small)


# Mass.


def test_parts_add_up_by_the_parallel_axis_theorem():
    point = np.zeros(3)
    whole = MassProperties.total([
        part(1.0, (1.0, 0.0, 0.0), point), part(1.0, (-1.0, 0.0, 0.0), point),
        part(2.0, (0.0, 0.0, 2.0), (0.1, 0.2, 0.3)),
    ])
    assert whole.mass == 4.0
    np.testing.assert_allclose(whole.com, [0, 0, 1.0])
    # 2 kg 1 m below, 2 kg 1 m above; 1 kg at 1 m to either side.
    np.testing.assert_allclose(whole.inertia, np.diag([4.1, 6.2, 2.3]), atol=1e-15)


@pytest.mark.parametrize('parts', [[], [part(0.0)]], ids=['nothing', 'an empty tank'])
def test_nothing_weighs_nothing(parts):
    whole = MassProperties.total(parts)
    assert whole.mass == 0.0
    np.testing.assert_array_equal(whole.inertia, np.zeros((3, 3)))


@pytest.mark.parametrize(('mass', 'is_possible', 'is_solid'), [
    pytest.param(part(), True, True, id='body'),
    pytest.param(part(inertia=(0.0, 0.0, 0.0)), True, False, id='point'),
    pytest.param(part(mass=0.0), True, False, id='nothing'),
    pytest.param(part(mass=-1.0), False, False, id='negative'),
    pytest.param(part(inertia=(1.0, -1.0, 1.0)), False, False, id='negative moment'),
    pytest.param(part(com=(np.nan, 0.0, 0.0)), False, False, id='NaN'),
    pytest.param(part(mass=1e13), False, False, id='a planet'),
])
def test_what_can_be_a_mass(mass, is_possible, is_solid):
    assert (mass.is_possible, mass.is_solid) == (is_possible, is_solid)


@pytest.mark.parametrize('seed', range(5))
def test_no_principal_moment_is_below_the_least(seed):
    turned = np.random.default_rng(seed).normal(size=(3, 3))
    inertia = turned @ turned.T + seed * np.eye(3)
    mass = MassProperties(1.0, np.zeros(3), inertia)
    assert mass.least_moment <= np.linalg.eigvalsh(inertia)[0]
    assert mass.moments == tuple(np.diag(inertia))
    np.testing.assert_allclose(mass.inverse @ inertia, np.eye(3), atol=1e-9)
