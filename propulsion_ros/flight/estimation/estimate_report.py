# SPDX-License-Identifier: Apache-2.0
"""The estimate of a filter as it is handed on."""
from __future__ import annotations

import math

import numpy as np

from propulsion_ros.flight.estimation.error_state import (
    ATTITUDE,
    FORCE_BIAS,
    GYRO_BIAS,
    POSITION,
    VELOCITY,
    ErrorStateFilter,
)
from propulsion_ros.flight.estimation.state import UNKNOWN, EstimatorState, Mode
from propulsion_ros.models.common.rotation import Vector
from propulsion_ros.settings.quantity import FloatArray

_UNKNOWN_ATTITUDE = (math.nan,) * 4


def estimate_of(
    state: ErrorStateFilter, stamp_ns: int, age: float, rate: Vector | None, *,
    is_aligned: bool, mode: Mode, flags: frozenset[str],
) -> EstimatorState:
    """Return the estimate of a filter, carried on by its velocity.

    Parameters
    ----------
    state : ErrorStateFilter
        Whose estimate it is.
    stamp_ns : int
        For which it is to hold [ns].
    age : float
        That stamp less the time of the filter [s].
    rate : tuple of float or None
        Angular rate as measured, in body axes [rad/s]; None where no inertial sensor works, so
        that neither it nor the acceleration is known.
    is_aligned : bool
        Whether there is an attitude.
    mode, flags : Mode, frozenset of str
        As they are handed on.
    """
    east, north, up = state.velocity
    x, y, z = state.position
    a, b, c = state.gyro_bias
    d, e, f = state.force_bias
    p, q, r = UNKNOWN if rate is None else rate
    pose, twist = _covariances(state.covariance)
    return EstimatorState(
        stamp_ns=stamp_ns,
        position=(x + age * east, y + age * north, z + age * up),
        velocity=(east, north, up),
        acceleration=UNKNOWN if rate is None else state.acceleration,
        attitude=state.attitude if is_aligned else _UNKNOWN_ATTITUDE,
        angular_velocity=(p - a, q - b, r - c),
        gyro_bias=(a, b, c),
        accelerometer_bias=(d, e, f),
        altitude_bias=state.altitude_bias,
        pose_covariance=pose,
        twist_covariance=twist,
        mode=mode,
        flags=flags,
    )


def no_estimate(stamp_ns: int) -> EstimatorState:
    """Return what is known before the first message: nothing."""
    unknown = np.full((6, 6), math.nan)
    return EstimatorState(
        stamp_ns, UNKNOWN, UNKNOWN, UNKNOWN, _UNKNOWN_ATTITUDE, UNKNOWN, UNKNOWN, UNKNOWN,
        math.nan, unknown, unknown, Mode.NO_SENSOR, frozenset({'attitude_unknown'}),
    )


def _covariances(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return those of pose and twist, symmetric to the last bit as receivers may insist."""
    place, velocity = slice(POSITION, VELOCITY), slice(VELOCITY, ATTITUDE)
    attitude, turning = slice(ATTITUDE, GYRO_BIAS), slice(GYRO_BIAS, FORCE_BIAS)
    pose, twist = np.empty((6, 6)), np.zeros((6, 6))
    pose[:3, :3] = covariance[place, place]
    pose[:3, 3:] = covariance[place, attitude]
    pose[3:, :3] = covariance[attitude, place]
    pose[3:, 3:] = covariance[attitude, attitude]
    twist[:3, :3] = covariance[velocity, velocity]
    twist[3:, 3:] = covariance[turning, turning]
    return 0.5 * (pose + pose.T), 0.5 * (twist + twist.T)
