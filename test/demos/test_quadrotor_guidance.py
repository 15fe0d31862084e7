# SPDX-License-Identifier: Apache-2.0
"""The quadrotor's pilot against what must be: weight, signs, a turned frame."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.demos.quadrotor import QuadrotorGuidance, QuadrotorTarget
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.urdf.reader import mass_from_urdf

GUIDANCE = QuadrotorGuidance()
HOVER = QuadrotorTarget(0.0, (1.0, 2.0, 3.0))


def motion(position=(1.0, 2.0, 3.0), rpy=(0.0, 0.0, 0.0), velocity=(0.0,) * 3, rate=(0.0,) * 3):
    """Return a motion; the velocity is the world's."""
    turn = Rotation.from_euler('xyz', rpy)
    return Motion(np.array(position), turn.as_quat(), turn.inv().apply(velocity), np.array(rate))


def test_constants_are_those_of_the_description():
    path = share_directory() / 'urdf' / 'quadrotor.urdf.xacro'
    _, whole = mass_from_urdf(read_description(path).text)
    assert GUIDANCE.mass == pytest.approx(whole.mass)
    assert GUIDANCE.inertia == pytest.approx(np.diag(whole.inertia), rel=1e-6)


@pytest.mark.parametrize('heading', [0.0, 1.0, -3.0])
def test_at_its_target_it_asks_for_its_weight_alone(heading):
    target = QuadrotorTarget(0.0, HOVER.position, heading)
    wrench = GUIDANCE.wrench(target, motion(rpy=(0.0, 0.0, heading)))
    expected = [0.0, 0.0, GUIDANCE.mass * STANDARD_GRAVITY, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(wrench, expected, atol=1e-12)


@pytest.mark.parametrize(('given', 'part', 'sign'), [
    pytest.param({'position': (0.0, 2.0, 3.0)}, 4, 1, id='too far back: nose down'),
    pytest.param({'position': (2.0, 2.0, 3.0)}, 4, -1, id='too far ahead: nose up'),
    pytest.param({'position': (1.0, 1.0, 3.0)}, 3, -1, id='too far right: rolls left'),
    pytest.param({'velocity': (1.0, 0.0, 0.0)}, 4, -1, id='moves ahead: nose up'),
    pytest.param({'rpy': (0.1, 0.0, 0.0)}, 3, -1, id='rolled right: rolls back'),
    pytest.param({'rpy': (0.0, 0.1, 0.0)}, 4, -1, id='nose down: nose up'),
    pytest.param({'rpy': (0.0, 0.0, 0.1)}, 5, -1, id='turned left: turns back'),
    pytest.param({'rate': (0.0, 0.0, 1.0)}, 5, -1, id='turns left: brakes'),
])
def test_torque_acts_against_the_error(given, part, sign):
    wrench = GUIDANCE.wrench(HOVER, motion(**given))
    assert sign * wrench[part] > 0.0


def test_thrust_is_never_negative():
    assert GUIDANCE.wrench(HOVER, motion(rpy=(np.pi, 0.0, 0.0)))[2] == 0.0


def test_a_heading_turns_what_is_asked_with_it():
    behind = motion(position=(0.0, 2.0, 3.0))
    turned = motion(position=(1.0, 1.0, 3.0), rpy=(0.0, 0.0, np.pi / 2))
    target = QuadrotorTarget(0.0, HOVER.position, np.pi / 2)
    np.testing.assert_allclose(
        GUIDANCE.wrench(target, turned), GUIDANCE.wrench(HOVER, behind), atol=1e-12
    )


def test_small_error_of_height_gives_a_second_order_system():
    error, speed = 1e-3, 2e-3
    thrust = GUIDANCE.wrench(
        HOVER, motion(position=(1.0, 2.0, 3.0 - error), velocity=(0.0, 0.0, speed))
    )[2]
    acceleration = thrust / GUIDANCE.mass - STANDARD_GRAVITY
    expected = GUIDANCE.bandwidth**2 * error - 2 * GUIDANCE.damping * GUIDANCE.bandwidth * speed
    assert acceleration == pytest.approx(expected, rel=1e-9)
