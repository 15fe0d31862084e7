"""Numbers from messages, or from anything with the same attributes; no ROS."""
from __future__ import annotations

from typing import Any

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

_SECOND = 1_000_000_000


def stamp_to_ns(stamp: Any) -> int:
    """Return a message stamp in nanoseconds."""
    return int(stamp.sec) * _SECOND + int(stamp.nanosec)


def vector(message: Any) -> FloatArray:
    """Return x, y, z of a Vector3 or Point, (3,)."""
    return np.array([message.x, message.y, message.z])


def msg_to_wrench(message: Any) -> FloatArray:
    """Return the wrench (6,) of a WrenchStamped, force first."""
    force, torque = message.wrench.force, message.wrench.torque
    return np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])


def msg_to_inertia(message: Any) -> tuple[float, FloatArray, FloatArray]:
    """Return mass [kg], centre of mass [m] and inertia about it [kg m^2] of an InertiaStamped."""
    i = message.inertia
    tensor = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
    return float(i.m), vector(i.com), tensor
