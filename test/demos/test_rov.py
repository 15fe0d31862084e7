# SPDX-License-Identifier: Apache-2.0
"""The underwater vehicle's pilot against what must be: signs, sums, what an integral learns."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.demos import rov
from propulsion_ros.demos.rov import RovGuidance, RovTarget
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf

HOLD = RovTarget(0.0, 5.0)
DT = 0.01


def motion(depth=5.0, rpy=(0.0, 0.0, 0.0), velocity=(0.0,) * 3, rate=(0.0,) * 3):
    """Return a motion; the velocity is in the axes of the body."""
    return Motion(
        np.array([0.0, 0.0, -depth]), Rotation.from_euler('xyz', rpy).as_quat(),
        np.array(velocity), np.array(rate),
    )


@pytest.fixture(scope='module')
def description():
    return read_description(share_directory() / 'urdf' / 'rov.urdf.xacro').text


def test_inertia_is_that_of_the_description(description):
    _, whole = mass_from_urdf(description)
    expected = [whole.mass] * 3 + np.diag(whole.inertia).tolist()
    assert pytest.approx(expected, rel=1e-3) == rov.INERTIA


def test_fins_are_those_of_the_description(description):
    fins = {spec.name: spec for spec in actuators_from_urdf(description, loop_params_of)}['fins']
    values = fins.values
    area, slope, density = (
        values[f'two_lines.{key}'][0] for key in ('area', 'lift_slope', 'fluid_density')
    )
    # Half of the density, for two fins.
    assert pytest.approx(density * area * slope) == rov.FIN_FORCE
    assert pytest.approx(-np.reshape(values['position'], (-1, 3))[0, 0]) == rov.FIN_LEVER


def test_at_rest_at_its_target_it_asks_for_nothing():
    wrench, fin = RovGuidance().command(HOLD, motion(), DT)
    np.testing.assert_allclose(wrench, 0.0, atol=1e-12)
    assert fin == 0.0


@pytest.mark.parametrize(('given', 'part', 'sign'), [
    pytest.param({'depth': 6.0}, 2, 1, id='too deep: up'),
    pytest.param({'depth': 4.0}, 2, -1, id='too high: down'),
    pytest.param({'velocity': (0.0, 0.0, 0.1)}, 2, -1, id='rises: down'),
    pytest.param({'velocity': (0.0, 0.1, 0.0)}, 1, -1, id='drifts to port: starboard'),
    pytest.param({'rpy': (0.1, 0.0, 0.0)}, 3, -1, id='rolled: rolls back'),
    pytest.param({'rpy': (0.0, 0.1, 0.0)}, 4, -1, id='nose down: nose up'),
    pytest.param({'rpy': (0.0, 0.0, 0.1)}, 5, -1, id='turned left: turns right'),
    pytest.param({'rpy': (0.0, 0.0, -0.1)}, 5, 1, id='turned right: turns left'),
    pytest.param({'rate': (0.0, 0.0, 0.1)}, 5, -1, id='turns left: brakes'),
])
def test_wrench_acts_against_the_error(given, part, sign):
    wrench, _ = RovGuidance().command(HOLD, motion(**given), DT)
    assert sign * wrench[part] > 0.0
    assert np.argmax(np.abs(wrench / rov.INERTIA)) == part


@pytest.mark.parametrize(('heading', 'yaw', 'sign'), [
    pytest.param(3.0, -3.0, -1, id='right over the back'),
    pytest.param(-3.0, 3.0, 1, id='left over the back'),
])
def test_it_turns_the_short_way(heading, yaw, sign):
    target = RovTarget(0.0, 5.0, heading)
    velocities = RovGuidance().velocities(target, motion(rpy=(0.0, 0.0, yaw)))
    assert sign * velocities[5] > 0.0


@pytest.mark.parametrize('error', [0.3, 50.0])
def test_velocities_are_limited(error):
    velocities = RovGuidance().velocities(HOLD, motion(depth=5.0 + error, rpy=(0.0, 0.0, -error)))
    assert velocities[2] == pytest.approx(min(rov.DEPTH_GAIN * error, rov.MAX_HEAVE))
    assert np.abs(velocities[3:]).max() <= rov.MAX_TURN


def test_integral_learns_a_constant_load():
    guidance, speed, load = RovGuidance(), 0.0, 2.0
    for _ in range(1000):
        wrench, _ = guidance.command(HOLD, motion(velocity=(0.0, 0.0, speed)), DT)
        speed += DT * (wrench[2] + load) / rov.INERTIA[2]
    assert wrench[2] == pytest.approx(-load, rel=1e-3)
    assert speed == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize(('given', 'speed', 'limited'), [
    pytest.param({'rpy': (0.0, 0.02, 0.0)}, 1.0, False, id='small error: the fins do it all'),
    pytest.param({'rpy': (0.0, 0.5, 0.0)}, 0.35, True, id='slow: the thrusters do the rest'),
    pytest.param({'rpy': (0.0, -0.02, 0.0), 'rate': (0.0, 0.05, 0.0)}, 1.0, False,
                 id='with a rate'),
])
def test_fins_and_thrusters_share_the_pitching_moment(monkeypatch, given, speed, limited):
    at = motion(velocity=(speed, 0.0, 0.02), **given)
    wrench, fin = RovGuidance().command(HOLD, at, DT)
    monkeypatch.setattr(rov, 'MIN_FIN_SPEED', np.inf)
    whole, _ = RovGuidance().command(HOLD, at, DT)
    attack = fin + (0.02 + rov.FIN_LEVER * at.angular_velocity[1]) / speed
    lift = -rov.FIN_FORCE * speed**2 * attack
    np.testing.assert_allclose(
        wrench + np.array([0.0, 0.0, lift, 0.0, rov.FIN_LEVER * lift, 0.0]), whole,
        atol=1e-9,
    )
    assert bool(abs(fin) == rov.MAX_FIN) is limited
    assert bool(abs(wrench[4]) > 1e-6) is limited


def test_fins_rest_where_no_water_flows_past_them():
    _, fin = RovGuidance().command(HOLD, motion(rpy=(0.0, 0.2, 0.0)), DT)
    assert fin == 0.0
