"""Messages to numbers and back; pure functions, no node."""
from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    InertiaStamped,
    TransformStamped,
    TwistStamped,
    Wrench,
    WrenchStamped,
)
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation

from propulsion_ros.loops.actuator_loop import Motion
from propulsion_ros.loops.command_hold import CommandUpdate
from propulsion_ros.loops.command_reader import first_marked
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray

_SECOND = 1_000_000_000
_FASTEST = 1e5
_FARTHEST = 1e3
_STRONGEST = 1e9
ODOMETRY_NUMBERS = 85
"""How many numbers odometry has beside its stamp."""
_SHORTEST = 1e-6
_LATEST_S = 2_140_000_000
"""Stamps end 2^31 s after 0, in 2038, and before it; some room is left for what is due later."""


def stamp_to_ns(stamp: Time) -> int:
    """Return a message stamp in nanoseconds."""
    return int(stamp.sec) * _SECOND + int(stamp.nanosec)


def checked_stamp(stamp: Time) -> int:
    """Return a message stamp in nanoseconds.

    Raises
    ------
    CommandError
        For a time near the ends of what a stamp can say.
    """
    stamp_ns = stamp_to_ns(stamp)
    if abs(stamp_ns) > _LATEST_S * _SECOND:
        raise CommandError(f'stamp {stamp_ns * 1e-9:.3f} s is beyond {_LATEST_S} s')
    return stamp_ns


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


def vector(message: Any) -> FloatArray:
    """Return x, y, z of a Vector3 or Point, (3,)."""
    return np.array([message.x, message.y, message.z])


def msg_to_motion(message: Odometry, frame: str) -> Motion:
    """Return how ``frame`` moves.

    Raises
    ------
    CommandError
        For the twist of another frame, or values that are no motion.
    """
    if message.child_frame_id not in ('', frame):
        raise CommandError(f'expected the twist of {frame!r}, got {message.child_frame_id!r}')
    q = message.pose.pose.orientation
    linear, angular = vector(message.twist.twist.linear), vector(message.twist.twist.angular)
    length = math.hypot(q.x, q.y, q.z, q.w)
    if not math.isfinite(length):
        raise CommandError('the orientation is not finite')
    _check_speed('velocity', linear, 'm/s')
    _check_speed('angular velocity', angular, 'rad/s')
    if not _SHORTEST <= length <= 1.0 / _SHORTEST:
        raise CommandError(f'the orientation is no rotation: its quaternion is {length:g} long')
    return Motion(linear, angular, Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix())


def set_odometry(message: Odometry, values: FloatArray) -> None:
    """Write `ODOMETRY_NUMBERS` into a message: pose, its covariance, twist, its covariance."""
    pose, twist = message.pose.pose, message.twist.twist
    point, turn, linear, angular = pose.position, pose.orientation, twist.linear, twist.angular
    point.x, point.y, point.z, turn.x, turn.y, turn.z, turn.w = values[:7].tolist()
    message.pose.covariance = values[7:43]
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = values[43:49].tolist()
    message.twist.covariance = values[49:]


def odometry_to_transform(message: Odometry) -> TransformStamped:
    """Return the pose of an odometry as the transform that TF knows it by."""
    pose = message.pose.pose
    transform = TransformStamped(header=message.header, child_frame_id=message.child_frame_id)
    shift = transform.transform.translation
    shift.x, shift.y, shift.z = pose.position.x, pose.position.y, pose.position.z
    transform.transform.rotation = pose.orientation
    return transform


def msg_to_current(message: TwistStamped, world_frame: str) -> FloatArray:
    """Return the velocity of the fluid in the world [m/s], (3,).

    Raises
    ------
    CommandError
        For another frame than ``world_frame`` (either may be ''), or values that are no speed.
    """
    if message.header.frame_id not in ('', world_frame) and world_frame:
        raise CommandError(f'expected the frame {world_frame!r}, got {message.header.frame_id!r}')
    current = vector(message.twist.linear)
    _check_speed('current', current, 'm/s')
    return current


def _check_speed(name: str, values: FloatArray, unit: str) -> None:
    """Raise `CommandError` for what is no speed of any vehicle, NaN and infinity included."""
    if not (np.abs(values) <= _FASTEST).all():
        raise CommandError(f'{name} {values.tolist()} is beyond {_FASTEST:g} {unit}')


class WrenchReader:
    """Turns demanded wrenches into updates for a family that is commanded by one.

    Parameters
    ----------
    frame : str
        Frame that the demand must be in.
    """

    names = WRENCH_NAMES

    def __init__(self, frame: str) -> None:
        self._frame = frame
        self._columns = np.arange(6)

    def read(self, message: WrenchStamped) -> CommandUpdate:
        """Return the update that a demand asks for.

        Raises
        ------
        CommandError
            For another frame, or a value that is not finite.
        """
        return CommandUpdate(self._columns, checked_wrench(message, self._frame))


def checked_wrench(message: WrenchStamped, frame: str) -> FloatArray:
    """Return the wrench (6,) of a message, force first.

    Raises
    ------
    CommandError
        For another frame than ``frame`` ('' is taken for it), or a value that is no wrench.
    """
    if message.header.frame_id not in ('', frame):
        raise CommandError(f'expected the frame {frame!r}, got {message.header.frame_id!r}')
    wrench = msg_to_wrench(message)
    wrong = ~(np.abs(wrench) <= _STRONGEST)
    if wrong.any():
        unknown = ~np.isfinite(wrench)
        if unknown.any():
            raise CommandError(f'{first_marked(WRENCH_NAMES, unknown)} is not finite')
        name = first_marked(WRENCH_NAMES, wrong)
        raise CommandError(f'{name} {wrench[wrong][0]:g} is beyond {_STRONGEST:g} in SI units')
    return wrench


def msg_to_com(message: InertiaStamped, frame: str) -> FloatArray:
    """Return the centre of mass [m], (3,), of a message.

    Raises
    ------
    CommandError
        For another frame than ``frame`` ('' is taken for it), or what is no place in a vehicle.
    """
    if message.header.frame_id not in ('', frame):
        raise CommandError(f'expected the frame {frame!r}, got {message.header.frame_id!r}')
    com = vector(message.inertia.com)
    if not (np.abs(com) <= _FARTHEST).all():
        raise CommandError(f'centre of mass {com.tolist()} is beyond {_FARTHEST:g} m')
    return com


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


def msg_to_wrench(message: WrenchStamped) -> FloatArray:
    """Return the wrench (6,) of a message, force first."""
    force, torque = message.wrench.force, message.wrench.torque
    return np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])


def inertia_to_msg(
    stamp_ns: int, frame: str, mass: float, com: FloatArray, tensor: FloatArray
) -> InertiaStamped:
    """Return mass [kg], centre of mass [m] and inertia about it [kg m^2] in ``frame``."""
    message = InertiaStamped()
    message.header.stamp = ns_to_stamp(stamp_ns)
    message.header.frame_id = frame
    inertia = message.inertia
    inertia.m = float(mass)
    inertia.com.x, inertia.com.y, inertia.com.z = com.tolist()
    (inertia.ixx, inertia.ixy, inertia.ixz), (_, inertia.iyy, inertia.iyz), (_, _, inertia.izz) = (
        tensor.tolist()
    )
    return message


def msg_to_inertia(message: InertiaStamped) -> tuple[float, FloatArray, FloatArray]:
    """Return mass [kg], centre of mass [m] and inertia about it [kg m^2] of a message."""
    i = message.inertia
    tensor = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
    return float(i.m), vector(i.com), tensor
