# SPDX-License-Identifier: Apache-2.0
"""The cubesat's pilot against what must be: momentum, signs, a limit of the rate."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.demos.cubesat import (
    BANDWIDTH,
    INERTIA,
    MAX_RATE,
    PULSE_PERIOD,
    CubesatTarget,
    attitude_error,
    torque_of,
)
from propulsion_ros.models.common.motion import Motion


def motion(rate=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    return Motion(
        np.zeros(3), Rotation.from_rotvec(turn).as_quat(), np.zeros(3), np.asarray(rate, float)
    )


def test_torque_takes_the_momentum_in_one_period():
    rate = np.array([0.001, -0.002, 0.003])
    torque = torque_of(CubesatTarget(0.0), motion(rate))
    np.testing.assert_allclose(INERTIA * rate + PULSE_PERIOD * torque, 0.0, atol=1e-15)


@pytest.mark.parametrize('axis', range(3))
def test_it_turns_back_to_its_target(axis):
    turn = np.zeros(3)
    turn[axis] = 0.01
    target = CubesatTarget(0.0, (0.0, 0.0, 0.0))
    torque = torque_of(target, motion(turn=turn))
    expected = -BANDWIDTH * turn * INERTIA / PULSE_PERIOD
    np.testing.assert_allclose(torque, expected, atol=1e-15)


def test_torque_is_limited_to_what_the_couples_give():
    torque = torque_of(CubesatTarget(0.0), motion((0.3, -0.3, 0.0)))
    assert torque.tolist() == [-0.0113, 0.017, 0.0]


def test_rate_is_limited():
    target = CubesatTarget(0.0, (0.0, 0.0, 3.0))
    held = torque_of(target, motion(rate=(0.0, 0.0, MAX_RATE)))
    np.testing.assert_allclose(held, 0.0, atol=1e-12)


def test_error_is_in_the_axes_of_the_body():
    """It lies on its side: a turn about the world's z is one about its own y."""
    quaternion = Rotation.from_euler('x', np.pi / 2).as_quat()
    wanted = Rotation.from_rotvec([0.0, 0.0, 0.2]) * Rotation.from_quat(quaternion)
    error = attitude_error(tuple(wanted.as_euler('xyz')), quaternion)
    np.testing.assert_allclose(error, [0.0, 0.2, 0.0], atol=1e-12)
