# SPDX-License-Identifier: Apache-2.0
"""20,000 random legal bodies in air and on rails: finite, and no power from nothing."""
import numpy as np
import pytest

from parts import amount
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, density

pytestmark = pytest.mark.filterwarnings('error::RuntimeWarning')
SETS, COUNT = amount('rest', 3, 80), amount('rest', 50, 250)
FULL = 1.0 + 1e-9
SUBSTEPS = (1.0, 30.0, 1000.0)
"""A body divides a step into at most 1000, to follow the drag that it has at the start."""


def air_of(rng, most_rate, mass, speed):
    """Return settings of the air, whose drag slows a body at a speed by at most a rate [1/s]."""
    count = int(rng.integers(1, 6))
    mach = np.cumsum(10.0 ** rng.uniform(-6.0, 1.0, count))
    factors = rng.choice([0.0, 1e-3, 1.0, 1e3], count) * rng.random(count)
    altitude, warmer = rng.uniform(-1e3, 86e3), rng.choice([-150.0, 0.0, 150.0, 17.0])
    most = float(density(altitude, warmer)) * speed * max(1.0, factors.max()) / mass
    area = min(1e6, most_rate / most) * 10.0 ** rng.uniform(-6.0, 0.0, 3)
    return {
        'drag_area': area, 'site_altitude': altitude, 'temperature_offset': warmer, 'ground': False,
        'drag_over_mach': ' '.join(
            f'{m!r} {c!r}' for m, c in zip(mach.tolist(), factors.tolist(), strict=True)
        ) if rng.random() < 0.8 else '',
    }


def mass_of(rng, com):
    mass = 10.0 ** rng.uniform(-2.0, 4.0)
    return MassProperties(mass, com, mass * 10.0 ** rng.uniform(0.0, 2.0) * np.eye(3))


def assert_finite(body):
    motion = body.motion
    for array in (motion.position, motion.velocity, motion.quaternion, motion.angular_velocity,
                  body.specific_force):
        assert np.all(np.isfinite(array))


@pytest.mark.parametrize('seed', range(SETS))
def test_bodies_in_moving_air(seed):
    """Seen from the air, a body never becomes faster by it."""
    rng = np.random.default_rng(seed)
    for _ in range(COUNT // 2):
        dt, mass = float(10.0 ** rng.uniform(-4.0, 0.0)), mass_of(rng, np.zeros(3))
        current, velocity = (10.0 ** rng.uniform(-2.0, 3.0) * rng.uniform(-1, 1, 3)
                             for _ in range(2))
        speed = max(float(np.linalg.norm(velocity - current)), 1e-6)
        most_rate = float(rng.choice(SUBSTEPS, p=[0.5, 0.46, 0.04])) / dt
        body = RigidBody(BodyParams(
            gravity=0.0, start_velocity=velocity, current=current,
            start_rpy=rng.uniform(-3.0, 3.0, 3), **air_of(rng, most_rate, mass.mass, speed),
        ))
        for _ in range(3):
            body.step(np.zeros(6), mass, mass, dt)
            assert_finite(body)
            now = float(np.linalg.norm(body.velocity - current))
            assert now <= speed * FULL + 1e-12 * np.linalg.norm(current)
            speed = now


@pytest.mark.parametrize('seed', range(SETS))
def test_bodies_on_rails(seed):
    """A body on a rail has at most what thrust and weight gave along it, and keeps its line."""
    rng = np.random.default_rng((seed, 1))
    for _ in range(COUNT // 2):
        dt, mass = float(10.0 ** rng.uniform(-4.0, 0.0)), mass_of(rng, rng.uniform(-2, 2, 3))
        push = 10.0 ** rng.uniform(-3.0, 3.0) * mass.mass
        axis = rng.normal(size=3)
        axis[2] = abs(axis[2])
        axis /= np.linalg.norm(axis)
        speed = 3.0 * dt * (push / mass.mass + STANDARD_GRAVITY)
        foot, length = rng.uniform(-100.0, 100.0, 3), 10.0 ** rng.uniform(-3.0, 4.0)
        body = RigidBody(BodyParams(
            start_position=foot, rail_length=length, rail_axis=axis,
            **air_of(rng, 1.0 / dt, mass.mass, speed),
        ))
        wrench = np.r_[push * axis, rng.normal(size=3) * push]
        for _ in range(3):
            body.step(wrench, mass, mass, dt)
            assert_finite(body)
            way = body.motion.position - foot
            np.testing.assert_allclose(way, (way @ axis) * axis, atol=1e-9 * (1.0 + way @ way))
            assert way @ axis >= 0.0
            assert not np.any(body.motion.angular_velocity)
            gained = 0.5 * mass.mass * float(body.velocity @ body.velocity)
            given = push * (way @ axis) - mass.mass * STANDARD_GRAVITY * way[2]
            assert gained <= given * FULL + 1e-9 * mass.mass
            if way @ axis >= length:
                break
