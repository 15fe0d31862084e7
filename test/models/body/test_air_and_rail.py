# SPDX-License-Identifier: Apache-2.0
"""Drag over the Mach number, warm days, currents and launch rails against closed forms."""
import numpy as np
import pytest
import whole_flight
from scipy.integrate import solve_ivp

from benchmarks.timing import cpu_medians
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.common.atmosphere import (
    EARTH_RADIUS,
    GAS_CONSTANT_AIR,
    STANDARD_GRAVITY,
    density,
    speed_of_sound,
    temperature_and_pressure,
)
from propulsion_ros.models.common.rotation import matrix_of_rpy

MASS = MassProperties(2.0, np.array([0.0, 0.0, 0.3]), np.diag([0.2, 0.3, 0.1]))
POINT = MassProperties(2.0, np.zeros(3), np.diag([0.2, 0.3, 0.1]))
TABLE = '0 0.5 0.8 0.5 1.2 1.1 3 0.7'
HEIGHT, OFFSETS = 2000.0, [-30.0, 25.0]


def drag_of(mach, warmer=0.0, current=0.0, **values):
    """Return what a body at a Mach number has of drag, over half of its speed squared."""
    standard = temperature_and_pressure(HEIGHT)[0]
    speed = mach * float(speed_of_sound(HEIGHT)) * np.sqrt(1.0 + warmer / standard)
    body = RigidBody(BodyParams(
        gravity=0.0, ground=False, drag_area=0.02, site_altitude=HEIGHT - 500.0,
        start_position=[0, 0, 500.0], start_velocity=[0, 0, speed + current],
        temperature_offset=warmer, current=[0, 0, current], **values,
    ))
    body.step(np.zeros(6), POINT, POINT, 1e-4)
    return 2.0 * POINT.mass * (speed + current - body.velocity[2]) / 1e-4 / speed**2


@pytest.mark.parametrize(('mach', 'factor'), [
    (0.3, 0.5), (0.8, 0.5), (1.0, 0.8), (1.2, 1.1), (2.1, 0.9), (5.0, 0.7),
])
@pytest.mark.parametrize('values', [{}, {'current': -70.0}, {'warmer': 25.0}])
def test_drag_follows_its_table(mach, factor, values):
    drag = drag_of(mach, drag_over_mach=TABLE, **values)
    wanted = 0.02 * factor * float(density(HEIGHT, values.get('warmer', 0.0)))
    assert drag == pytest.approx(wanted, rel=2e-3)


@pytest.mark.parametrize('warmer', OFFSETS)
def test_drag_is_that_of_the_day(warmer):
    wanted = 0.02 * float(density(HEIGHT, warmer))
    assert drag_of(0.5, warmer=warmer) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize('warmer', OFFSETS)
def test_warm_air_bears_its_own_weight(warmer):
    heights = np.array([1.0, 3e3, 10.9e3, 15e3, 25e3, 40e3, 49e3, 60e3, 80e3])

    def fall(height, pressure):
        temperature = temperature_and_pressure(height)[0] + warmer
        gravity = STANDARD_GRAVITY * (EARTH_RADIUS / (EARTH_RADIUS + height)) ** 2
        return -pressure * gravity / (GAS_CONSTANT_AIR * temperature)

    solved = solve_ivp(
        fall, (0.0, 80e3), [101_325.0], t_eval=heights, rtol=1e-9, atol=1e-9, max_step=500.0
    )
    temperature, pressure = temperature_and_pressure(heights, warmer)
    np.testing.assert_allclose(pressure, solved.y[0], rtol=1e-6)
    np.testing.assert_allclose(temperature, temperature_and_pressure(heights)[0] + warmer)
    np.testing.assert_allclose(
        density(heights, warmer), pressure / (GAS_CONSTANT_AIR * temperature), rtol=1e-15
    )


def test_a_body_on_a_rail_neither_turns_nor_leaves_its_line():
    rpy = np.array([0.0, 0.2, 0.0])
    rail = matrix_of_rpy(rpy)[:, 2]
    body = RigidBody(BodyParams(start_rpy=rpy, rail_length=3.0))
    wrench = np.array([5.0, -3.0, 60.0, 0.5, 0.4, 0.1])
    pull = (60.0 - 2.0 * STANDARD_GRAVITY * rail[2]) / 2.0
    time = np.sqrt(2.0 * 3.0 / pull)
    for i in range(int(time / 1e-3)):
        body.step(wrench, MASS, MASS, 1e-3)
        way = 0.5 * pull * (1e-3 * (i + 1)) ** 2
        np.testing.assert_allclose(body.motion.position, way * rail, atol=1e-9)
        assert not np.any(body.motion.angular_velocity)
    # What the rail bears is felt: along it the thrust alone, across it the weight too.
    np.testing.assert_allclose(
        body.specific_force, [STANDARD_GRAVITY * -np.sin(0.2), 0.0, 30.0], atol=1e-9
    )
    for _ in range(200):
        body.step(wrench, MASS, MASS, 1e-3)
    assert np.abs(body.motion.angular_velocity).max() > 0.1
    # A reset puts it back, but for a state that moves.
    body.reset()
    body.step(wrench, MASS, MASS, 1e-3)
    assert not np.any(body.motion.angular_velocity)
    body.reset(state={'velocity': [0.0, 0.0, 1.0]})
    body.step(wrench, MASS, MASS, 1e-3)
    assert np.any(body.motion.angular_velocity)


@pytest.mark.parametrize('height', [0.0, 2.0])
def test_what_is_too_weak_stays_at_the_lower_end(height):
    body = RigidBody(BodyParams(
        start_rpy=[0.3, 0.0, 0.0], start_position=[0, 0, height], rail_length=3.0,
    ))
    assert body.on_ground
    for _ in range(20):
        body.step(np.array([9.0, 0, 10.0, 0, 0, 0]), MASS, MASS, 0.01)
    np.testing.assert_array_equal(body.motion.position, [0, 0, height])
    assert body.on_ground
    # A burn that is too short leads back to it.
    body.step(np.array([0, 0, 80.0, 0, 0, 0]), MASS, MASS, 0.1)
    assert body.motion.position[2] > height
    assert not body.on_ground
    for _ in range(100):
        body.step(np.zeros(6), MASS, MASS, 0.01)
    np.testing.assert_array_equal(body.motion.position, [0, 0, height])
    assert body.on_ground


def test_a_level_rail_on_the_ground_lets_go():
    body = RigidBody(BodyParams(start_rpy=[0.0, np.pi / 2.0, 0.0], rail_length=0.5))
    for _ in range(100):
        body.step(np.array([0, 0, 10.0, 0, 0, 0]), POINT, POINT, 0.01)
    assert body.motion.position[0] == pytest.approx(0.5, abs=0.05)
    assert body.on_ground


def test_the_flight_of_the_page_does_not_depend_on_the_step():
    fine, rough = whole_flight.by_body(0.02), whole_flight.by_body(0.1)
    assert fine[-1, 1] == pytest.approx(rough[-1, 1], rel=2e-3)


FLYING = {'drag_area': 0.02, 'ground': False, 'gravity': 0.0}
EFFECTS = {
    'drag_over_mach': {'drag_over_mach': TABLE}, 'temperature_offset': {'temperature_offset': 20.0},
    'rail': {'rail_length': 1e4}, 'current': {'current': [5.0, 1.0, 0.0]},
}


def stepping(**values):
    body = RigidBody(BodyParams(**FLYING, **values))
    wrench = np.array([0.0, 0.0, 1e-3, 0.0, 0.0, 0.0])
    return lambda: body.step(wrench, POINT, POINT, 1e-3)


@pytest.mark.slow
def test_each_effect_costs_half_a_step_at_most():
    everything = {key: value for values in EFFECTS.values() for key, value in values.items()}
    calls = {name: stepping(**values) for name, values in EFFECTS.items()}
    limits = {**dict.fromkeys(EFFECTS, 1.5), 'all': 4.0}
    for _ in range(3):
        times = cpu_medians({'none': stepping(), 'all': stepping(**everything), **calls})
        ratios = {name: times[name] / times['none'] for name in limits}
        if all(ratios[name] <= limits[name] for name in limits):
            return
    raise AssertionError(ratios)
