# SPDX-License-Identifier: Apache-2.0
"""What autopilots send to motors and servos, as parts of what these can do."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.quantity import BoolArray, FloatArray

_LEAST = 1e-7
"""Smaller controls are 0 for PX4."""


def signal_of_thrust(thrust: FloatArray, factor: float) -> FloatArray:
    """Return what PX4 sends to its speed controllers for parts of the largest thrust.

    PX4 takes ``thrust = factor x^2 + (1 - factor) x`` of a signal x (THR_MDL_FAC; its
    FunctionMotors.hpp); a negative thrust is that of the opposite signal.

    Parameters
    ----------
    thrust : FloatArray
        -1 to 1, NaN for motors that are stopped.
    factor : float
        0 to 1.
    """
    if not _LEAST < factor <= 1.0:
        return thrust
    half = (1.0 - factor) / (2.0 * factor)
    signal = np.sqrt(half * half + np.abs(thrust) / factor) - half
    return np.where(np.abs(thrust) > _LEAST, np.copysign(signal, thrust), thrust)


def is_stopped(signal: FloatArray, reversible: BoolArray) -> BoolArray:
    """Return which motors stand still: without a signal, or with one back that they cannot do."""
    return np.isnan(signal) | (~reversible & (signal < -_LEAST))


def reversible_of(flags: int, count: int) -> BoolArray:
    """Return which of so many motors turn both ways, by PX4's bits."""
    return (flags >> np.arange(count) & 1).astype(bool)
