# SPDX-License-Identifier: Apache-2.0
"""Numbers into the fields of messages; pure functions, no node."""
from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Inertia, TransformStamped, Wrench, WrenchStamped
from nav_msgs.msg import Odometry

from propulsion_ros.loops.payloads import OdometryRow
from propulsion_ros.settings.quantity import FloatArray

_SECOND = 1_000_000_000
ODOMETRY_NUMBERS, INERTIA_NUMBERS = 85, 10
"""How many numbers odometry, and an inertia, have beside their stamp."""


def ns_to_stamp(stamp_ns: int) -> Time:
    """Return nanoseconds as a message stamp."""
    sec, nanosec = divmod(int(stamp_ns), _SECOND)
    return Time(sec=sec, nanosec=nanosec)


def set_stamp(stamp: Time, stamp_ns: int) -> None:
    """Write nanoseconds into a message's stamp."""
    stamp.sec, stamp.nanosec = divmod(int(stamp_ns), _SECOND)


def doubles(values: Any) -> array[float]:
    """Return an array in the type that messages take without copying element by element."""
    out = array('d')
    out.frombytes(np.ascontiguousarray(values, dtype=float).tobytes())
    return out


def wrench_to_msg(stamp_ns: int, frame: str, wrench: FloatArray) -> WrenchStamped:
    """Return a wrench (6,), force first; its axes and its point are ``frame``."""
    message = WrenchStamped()
    message.header.frame_id = frame
    set_stamp(message.header.stamp, stamp_ns)
    set_wrench(message.wrench, wrench)
    return message


def set_wrench(message: Wrench, wrench: FloatArray) -> None:
    """Write a wrench (6,), force first, into a message."""
    force, torque = message.force, message.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()


def inertia_numbers(mass: float, com: FloatArray, tensor: FloatArray) -> list[float]:
    """Return mass [kg], centre of mass [m], inertia about it [kg m^2] as a message has them."""
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = tensor.tolist()
    return [float(mass), *com.tolist(), ixx, ixy, ixz, iyy, iyz, izz]


def set_inertia(inertia: Inertia, values: Sequence[float]) -> None:
    """Write `INERTIA_NUMBERS` into a message; see `inertia_numbers`."""
    com = inertia.com
    (
        inertia.m, com.x, com.y, com.z, inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy,
        inertia.iyz, inertia.izz,
    ) = values


def set_odometry(message: Odometry, values: FloatArray) -> None:
    """Write `ODOMETRY_NUMBERS` into a message: pose, its covariance, twist, its covariance."""
    pose, twist = message.pose.pose, message.twist.twist
    point, turn, linear, angular = pose.position, pose.orientation, twist.linear, twist.angular
    point.x, point.y, point.z, turn.x, turn.y, turn.z, turn.w = values[:7].tolist()
    message.pose.covariance = values[7:43]
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = values[43:49].tolist()
    message.twist.covariance = values[49:]


def odometry_to_transform(stamp_ns: int, frame: str, row: OdometryRow) -> TransformStamped:
    """Return the pose of an odometry in ``frame`` as the transform that TF knows it by."""
    transform = TransformStamped(child_frame_id=row.child_frame)
    transform.header.stamp, transform.header.frame_id = ns_to_stamp(stamp_ns), frame
    shift, turn = transform.transform.translation, transform.transform.rotation
    shift.x, shift.y, shift.z = map(float, row.position)
    turn.x, turn.y, turn.z, turn.w = map(float, row.quaternion)
    return transform
