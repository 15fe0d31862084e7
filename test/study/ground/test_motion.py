# SPDX-License-Identifier: Apache-2.0
"""True motions: their rows belong together, and forces are what carries them."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY as G
from propulsion_ros.study.ground.motion import STEP, Rocket, carried, fly, gusts, rattle, rest

ROCKET = Rocket(((0.0, 1.0, 80.0),), drag=0.0, lean=0.0, drogue=np.inf)


def rng():
    return np.random.default_rng(4)


def test_what_rests_feels_its_weight():
    motion = rest(3.0, tilt=0.7)
    np.testing.assert_allclose(np.linalg.norm(motion.force, axis=1), G)
    assert not motion.rate.any()
    assert not motion.is_aloft.any()
    assert motion.rested(2.0) == pytest.approx(2.0, abs=0.02)


def test_what_is_carried_is_pushed_as_its_speed_changes():
    motion = carried([(2.0, 4.0), (5.0, 4.0), (2.0, 0.0)], [(0.0, 0.0), (4.0, 1.0)])
    assert motion.height[-1] == pytest.approx(28.0, abs=0.1)
    up = np.gradient(motion.speed, STEP)
    np.testing.assert_allclose(np.linalg.norm(motion.force, axis=1), G + up)
    assert motion.rate[100, 0] == pytest.approx(0.25)


def test_a_flight_is_that_of_a_throw():
    flight = fly(ROCKET, rng())
    speed = 80.0 - G
    assert flight.apogee == pytest.approx(1.0 + speed / G, abs=0.05)
    assert flight.motion.height.max() == pytest.approx(0.5 * speed + speed**2 / (2 * G), rel=0.01)
    coast = flight.motion.force[200:700]
    assert np.abs(coast).max() < 1e-9


def test_a_drogue_ends_a_fall_and_carries_a_g():
    flight = fly(Rocket(((0.0, 2.0, 100.0),), drogue=1.0, main_height=-np.inf, swing=0.0), rng())
    row = flight.motion.at(flight.apogee + 15.0)
    assert flight.motion.speed[row] == pytest.approx(-20.0, abs=1.5)
    assert np.linalg.norm(flight.motion.force[row]) == pytest.approx(G, abs=0.3)


def test_a_landing_on_a_hill_rests_there():
    flight = fly(Rocket(((0.0, 2.0, 100.0),), ground=200.0), rng())
    motion = flight.motion.then(rest(5.0))
    assert motion.height[-1] == pytest.approx(200.0, abs=0.5)
    assert motion.rested(motion.end) == pytest.approx(5.05, abs=0.03)
    np.testing.assert_allclose(np.diff(motion.time), STEP)


def test_spin_shows_at_a_sensor_off_the_axis():
    flight = fly(Rocket(((0.0, 1.0, 80.0),), spin=5.0, offset=0.01), rng())
    row = flight.motion.at(3.0)
    assert np.hypot(*flight.motion.force[row, :2]) == pytest.approx(9.87, rel=0.1)


def test_gusts_have_the_size_and_length_of_their_spectrum():
    time = np.arange(0.0, 3600.0, 0.05)
    error = gusts(rng(), time, 10.0, 0.2, 1.0)
    # To first order the pressure varies by u times its deviation.
    assert error.std() == pytest.approx(10.0 * 2.0 / G, rel=0.2)
    error = error - error.mean()
    later = round(2.3 / 0.05)  # 23 m of gusts at 10 m/s
    alike = (error[later:] * error[:-later]).mean() / error.var()
    assert alike == pytest.approx(np.exp(-1.0), abs=0.1)


def test_a_rattle_comes_in_bursts():
    force = rattle(rng(), np.arange(0.0, 100.0, STEP), 3.0, 0.5)
    quiet = (np.abs(force).max(axis=1) == 0.0).mean()
    assert 0.3 < quiet < 0.7
