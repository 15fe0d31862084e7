# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from bodies import G, body, floating, part, run, seen
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build

# Forces.


def test_a_throw_is_a_parabola():
    # One second at 3 N along x and twice the weight upwards, then two seconds of flight.
    model = body()
    run(model, 100, [3.0, 0.0, 4.0 * G, 0, 0, 0])
    motion = run(model, 200)
    height = 1000.0 + 0.5 * G + 2.0 * G - 2.0 * G
    np.testing.assert_allclose(motion.position, [0.75 + 3.0, 0.0, height], rtol=1e-12)
    np.testing.assert_allclose(motion.velocity, [1.5, 0.0, -G], rtol=1e-12)


def test_fall_through_air_is_the_closed_form():
    model = body(fluid_density=1.2, drag_area=0.5)
    terminal = np.sqrt(2.0 * 2.0 * G / (1.2 * 0.5))
    for second in range(1, 6):
        motion = run(model, 100)
        speed = terminal * np.tanh(G * second / terminal)
        depth = terminal**2 / G * np.log(np.cosh(G * second / terminal))
        assert motion.velocity[2] == pytest.approx(-speed, rel=1e-8)
        assert motion.position[2] == pytest.approx(1000.0 - depth, rel=1e-8)
    motion = run(model, 1000)
    np.testing.assert_allclose(motion.velocity, [0, 0, -terminal], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(motion.specific_force, [0, 0, G], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize('dt', [0.1, 0.05])
def test_a_rocket_gains_what_tsiolkovsky_says_to_second_order(dt):
    full, rate, velocity, empty = 10.0, 1.0, 500.0, 2.0
    model = floating(height=0.0, ground=False)
    for k in range(round((full - empty) / rate / dt)):
        before, after = part(full - rate * k * dt), part(full - rate * (k + 1) * dt)
        model.step(np.array([0, 0, rate * velocity, 0, 0, 0]), before, after, dt)
    error = seen(model).velocity[2] - velocity * np.log(full / empty)
    # The midpoint rule's error: dt^2 / 24 of the change of the acceleration's slope.
    slope = velocity * rate**2 * (1.0 / empty**2 - 1.0 / full**2)
    assert error == pytest.approx(-(dt**2) / 24.0 * slope, rel=0.01)


def test_a_light_body_rises_by_the_closed_form():
    model = body(height=-50.0, ground=False, fluid_density=1000.0, displaced_volume=0.003)
    assert run(model, 100).velocity[2] == pytest.approx(0.5 * G, rel=1e-12)


# Ground.


def test_it_stands_until_the_thrust_exceeds_the_weight():
    model = body(height=0.0)
    motion = run(model, 100, [0, 0, 0.999 * 2.0 * G, 0, 0, 0])
    assert motion.on_ground
    np.testing.assert_array_equal(motion.position, np.zeros(3))
    np.testing.assert_allclose(motion.specific_force, [0, 0, G], rtol=1e-15)
    lifted = body(height=0.0)
    assert not run(lifted, 1, [0, 0, 1.001 * 2.0 * G, 0, 0, 0]).on_ground
    motion = run(model, 100, [0, 0, 1.5 * 2.0 * G, 0, 0, 0])
    assert not motion.on_ground
    assert motion.position[2] == pytest.approx(0.25 * G, rel=1e-12)
    np.testing.assert_allclose(motion.specific_force, [0, 0, 1.5 * G], rtol=1e-12)


def test_it_lands_and_does_not_sink():
    model = body(height=1.0)
    lowest = min(run(model, 1).position[2] for _ in range(300))
    assert lowest == 0.0
    motion = seen(model)
    assert motion.on_ground
    np.testing.assert_array_equal(motion.velocity, np.zeros(3))
    np.testing.assert_allclose(motion.specific_force, [0, 0, G], rtol=1e-15)


@given(st.floats(-np.pi, np.pi), st.floats(-1.5, 1.5), st.floats(-np.pi, np.pi))
def test_an_accelerometer_at_rest_reads_up_in_any_attitude(roll, pitch, yaw):
    model = body(height=0.0, start_rpy=[roll, pitch, yaw])
    up = Rotation.from_euler('xyz', [roll, pitch, yaw]).inv().apply([0.0, 0.0, G])
    np.testing.assert_allclose(seen(model).specific_force, up, atol=1e-12)
    np.testing.assert_allclose(run(model, 1).specific_force, up, atol=1e-12)


def test_a_start_below_the_ground_is_refused():
    with pytest.raises(ConfigError) as error:
        body(height=-5.0)
    assert str(error.value) == (
        "parameter 'start_position[2]': -5 m is below the ground; expected at least 0 m, or ground "
        'false'
    )


# The rest.


def test_a_motion_that_leaves_the_numbers_says_so():
    model = floating(fluid_density=1.2, drag_area=1e6)
    with np.errstate(all='ignore'), pytest.raises(FloatingPointError, match='left the numbers'):
        run(model, 100, [0, 0, 1e6, 0, 0, 0])
    assert np.all(np.isfinite(np.concatenate([seen(model).position, seen(model).velocity])))


@pytest.mark.parametrize('key', ['start_velocity', 'start_angular_velocity'])
def test_motion_of_a_body_that_stands_at_the_start_is_refused(key):
    with pytest.raises(ConfigError, match=f"'{key}': expected 0 for a body that stands"):
        build(BodyParams, {key: [0.1, 0.0, 0.0]})
    build(BodyParams, {key: [0.1, 0.0, 0.0], 'ground': False})
    build(BodyParams, {key: [0.1, 0.0, 0.0], 'start_position': [0.0, 0.0, 1.0]})
    build(BodyParams, {
        'start_velocity': [0.0, 0.0, 1.0], 'start_angular_velocity': [0.1, 0.0, 0.0],
    })
