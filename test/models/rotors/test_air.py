# SPDX-License-Identifier: Apache-2.0
"""What motion, ground and inertia do to rotors, against other implementations and closed forms."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams

RNG = np.random.default_rng(8)
K, ARM = 5.57e-6, 0.17 * np.sqrt(0.5)
HUMMINGBIRD = {
    'names': ['a', 'b', 'c', 'd'], 'max_thrust': 20.0, 'motor_constant': K,
    'moment_constant': 1.36e-7 / K, 'direction': [-1, 1, -1, 1],
    'position': [[ARM, ARM, 0], [ARM, -ARM, 0], [-ARM, -ARM, 0], [-ARM, ARM, 0]],
    'command_interface': 'velocity',
}
EFFECTS = {
    'drag': {'rotor_drag_coefficient': 1.19e-4}, 'roll': {'rolling_moment_coefficient': 1e-6},
    'flap': {'flapping_moment_coefficient': 3e-6}, 'inflow': {'inflow_coefficient': 2.32e-4},
    'lift': {'translational_lift_coefficient': 3.39e-3}, 'ground': {'rotor_radius': 0.1},
    'inertia': {'rotor_inertia': 2e-5},
}
ALL = {name: value for effect in EFFECTS.values() for name, value in effect.items()}
LOW = {'height': np.array(0.15), 'up': np.array([0.0, 0.6, 0.8])}
MOVING = BodyState(velocity=[3.0, -4.0, 1.5], angular_velocity=[0.5, -1.0, 2.0], **LOW)
SPEEDS = np.array([700.0, 500.0, 900.0, 650.0])


def flown(body, speeds=SPEEDS, **values):
    """Return what turns steadily, and the output of a step."""
    model = Rotors(RotorsParams(**{
        **HUMMINGBIRD, 'initial_rotor_speed': speeds, **values
    }))
    return model, model.step(Command(velocity=speeds), body, 0.01, 0)


# Rotor speeds, velocity, rates of turn, and the wrench that RotorPy 3.0.0 has for its Hummingbird
# without drag of the frame, and with k_flap 3e-6.
ROTORPY = [
    ([1185.5, 1188.7, 866.9, 614.4], [-7.14, -1.87, -1.46], [-2.73, -2.71, 3.0],
     [3.2648909407924127, 0.819646227110071, 23.94834705185211, -0.2038540344660677,
      -1.2148838967316093, 0.060057434109517326]),
    ([1017.6, 558.0, 778.4, 1371.6], [6.36, 5.51, -1.72], [-0.04, 1.06, -2.64],
     [-2.8594416678092234, -2.4645306463822356, 23.789521007370624, 1.333775553707381,
      0.8556303965254198, 0.0999134914880074]),
    ([911.2, 598.6, 1267.6, 370.6], [2.87, 5.92, -4.36], [2.37, 2.23, -2.89],
     [-1.05097688476115, -2.223011196900528, 20.140581983019, -0.8077062753918258,
      0.40686046742427756, 0.28220339179634235]),
    ([1078.2, 301.3, 853.7, 780.3], [-4.75, -2.8, 4.9], [-1.1, -2.11, 1.19],
     [1.7153563279304784, 1.0084304711738548, 11.455318989037824, 0.5738859439176065,
      -0.002042053839880799, 0.09173941136245496]),
    ([793.4, 1178.8, 559.1, 651.8], [4.8, 0.11, 0.1], [-1.58, -2.91, 2.6],
     [-1.8290729362048732, -0.06998135500536375, 15.520351066969559, -0.41807866474572275,
      -0.7764114736925533, -0.1683954903916196]),
    ([394.4, 1229.4, 704.7, 1346.1], [-1.61, 6.98, 0.9], [-1.56, 1.45, 1.05],
     [0.7011087403171448, -3.0457827082883306, 22.047169347628397, -0.08633261599799175,
      0.3881915100929282, -0.32946648003527623]),
]


@pytest.mark.parametrize(('speeds', 'velocity', 'rate', 'wrench'), ROTORPY)
def test_the_wrench_is_that_of_rotorpy(speeds, velocity, rate, wrench):
    settings = {**EFFECTS['drag'], **EFFECTS['flap'], **EFFECTS['inflow'], **EFFECTS['lift']}
    body = BodyState(velocity=velocity, angular_velocity=rate)
    _, output = flown(body, np.array(speeds), **settings)
    # RotorPy's coordinates of the rotors have eleven digits.
    np.testing.assert_allclose(output.wrench, wrench, rtol=1e-9, atol=1e-9)


def test_the_wrench_is_that_of_gz_sim():
    """MulticopterMotorModel: force and torque on links that point anywhere."""
    axes = Rotation.random(4, random_state=2).as_matrix()[..., 2]
    points, drag, roll = RNG.uniform(-1.0, 1.0, (4, 3)), 8.06428e-5, 1e-6
    body = BodyState(velocity=[5.0, 2.0, -3.0], angular_velocity=[0.4, -0.7, 1.1])
    _, output = flown(
        body, axis=axes, position=points, direction=[1, -1, 1, -1], moment_constant=0.016,
        rotor_drag_coefficient=drag, rolling_moment_coefficient=roll,
    )
    total = np.zeros(6)
    for axis, point, hand, speed in zip(axes, points, [1, -1, 1, -1], SPEEDS, strict=True):
        thrust = K * speed**2
        moved = body.velocity + np.cross(body.angular_velocity, point)
        across = moved - (moved @ axis) * axis
        force = thrust * axis - abs(speed) * drag * across
        torque = -hand * thrust * 0.016 * axis - abs(speed) * roll * across
        total += [*force, *(torque + np.cross(point, force))]
    np.testing.assert_allclose(output.wrench, total, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(('height', 'gain'), [
    (1e6, 1.0), (0.4, 1.0 / (1.0 - (0.1 / 1.6) ** 2)), (0.1, 16.0 / 15.0), (0.05, 4.0 / 3.0),
    (0.01, 4.0 / 3.0), (-1.0, 4.0 / 3.0),
])
def test_thrust_near_the_ground_is_that_of_cheeseman_and_bennett(height, gain):
    body = BodyState(height=np.array(height + 12.0), up=[0.0, 0.0, 1.0])
    _, output = flown(body, rotor_radius=0.1, ground_height=12.0)
    np.testing.assert_allclose(output.applied, gain * K * SPEEDS**2, rtol=1e-9)
    # What it pushes beside the reaction of the rotors, which turn as before.
    assert output.wrench[2] == pytest.approx(output.applied.sum())
    assert output.wrench[5] == pytest.approx(
        np.sum([1, -1, 1, -1] * SPEEDS**2) * 1.36e-7, abs=1e-12
    )


def test_a_tilted_rotor_is_farther_from_the_ground_along_its_wake():
    tilt = 0.5
    up = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    _, output = flown(BodyState(height=np.array(0.2), up=up), rotor_radius=[0.1, 0.1, 0.0, 0.1])
    height = 0.2 + np.array(HUMMINGBIRD['position']) @ up
    gain = 1.0 / (1.0 - (0.1 * np.cos(tilt) / (4.0 * height)) ** 2)
    gain[2] = 1.0
    np.testing.assert_allclose(output.applied, gain * K * SPEEDS**2, rtol=1e-12)


@pytest.mark.parametrize('up', [[0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
def test_a_rotor_that_blows_upwards_does_not_feel_the_ground(up):
    _, output = flown(BodyState(height=np.array(0.0), up=up), rotor_radius=0.1)
    np.testing.assert_allclose(output.applied, K * SPEEDS**2, rtol=1e-14)


def test_speeding_up_gives_the_momentum_to_the_body():
    model = Rotors(RotorsParams(**{
        **HUMMINGBIRD, 'moment_constant': 0.0, 'time_constant_up': 0.05,
        'time_constant_down': 0.02, 'rotor_inertia': 2e-5, 'initial_rotor_speed': 300.0,
    }))
    given = sum(
        model.step(Command(velocity=SPEEDS), BodyState(), 0.007, i).wrench[5] * 0.007
        for i in range(40)
    )
    gained = np.array([-1, 1, -1, 1]) @ (model.rotor_speed - 300.0) * 2e-5
    assert given == pytest.approx(-gained, rel=1e-12)


def test_turning_the_axis_keeps_the_momentum():
    """The torque is -rate x L: perpendicular to both, and of no power."""
    _, output = flown(MOVING, moment_constant=0.0, rotor_inertia=2e-5)
    spin = 2e-5 * np.array([-1, 1, -1, 1]) @ SPEEDS
    torque = output.wrench[3:] - np.cross(HUMMINGBIRD['position'], output.forces).sum(axis=0)
    np.testing.assert_allclose(
        torque, -np.cross(MOVING.angular_velocity, [0.0, 0.0, spin]), atol=1e-14
    )


@pytest.mark.parametrize('step_value', ['mean', 'end'])
def test_the_speed_of_a_step_is_its_mean_or_its_end(step_value):
    model = Rotors(RotorsParams(**{
        **HUMMINGBIRD, 'time_constant_up': 0.05, 'rotor_drag_coefficient': 1e-4,
        'step_value': step_value,
    }))
    model.step(Command(velocity=SPEEDS), MOVING, 0.02, 0)
    before = model.rotor_speed
    body = BodyState(velocity=[2.0, 0.0, 0.0])
    output = model.step(Command(velocity=SPEEDS), body, 0.02, 1)
    speed = output.velocity if step_value == 'end' else 0.5 * (before + output.velocity)
    assert output.wrench[0] == pytest.approx(-2e-4 * speed.sum(), rel=1e-12)


def test_a_blade_that_is_lost_makes_neither_thrust_nor_drag():
    _, output = flown(MOVING, **{**ALL, 'rotor_inertia': 0.0}, efficiency=0.0)
    np.testing.assert_array_equal(output.wrench, 0.0)
    _, half = flown(MOVING, **EFFECTS['drag'], efficiency=0.5)
    _, whole = flown(MOVING, **EFFECTS['drag'])
    np.testing.assert_allclose(half.wrench, 0.5 * whole.wrench, rtol=1e-12)
