"""Messages to numbers and back; pure functions, no node."""
from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import InertiaStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

from propulsion_ros.actuator_loop import Motion
from propulsion_ros.command_hold import FIELDS, CommandUpdate
from propulsion_ros.errors import CommandError
from propulsion_ros.models.family import Command, Family, Output
from propulsion_ros.quantity import FloatArray

_SECOND = 1_000_000_000
_FASTEST = 1e5


def stamp_to_ns(stamp: Time) -> int:
    """Return a message stamp in nanoseconds."""
    return int(stamp.sec) * _SECOND + int(stamp.nanosec)


def ns_to_stamp(stamp_ns: int) -> Time:
    """Return nanoseconds as a message stamp."""
    sec, nanosec = divmod(int(stamp_ns), _SECOND)
    return Time(sec=sec, nanosec=nanosec)


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
    quaternion = np.array([q.x, q.y, q.z, q.w])
    linear, angular = vector(message.twist.twist.linear), vector(message.twist.twist.angular)
    length = float(np.linalg.norm(quaternion))
    if not np.isfinite(length):
        raise CommandError('the orientation is not finite')
    _check_speed('velocity', linear, 'm/s')
    _check_speed('angular velocity', angular, 'rad/s')
    if length < 1e-6:
        raise CommandError('the orientation is no rotation: its quaternion is 0')
    return Motion(linear, angular, Rotation.from_quat(quaternion).as_matrix())


def msg_to_current(message: TwistStamped) -> FloatArray:
    """Return the velocity of the fluid [m/s], (3,); raise `CommandError` if it is none."""
    current = vector(message.twist.linear)
    _check_speed('current', current, 'm/s')
    return current


def _check_speed(name: str, values: FloatArray, unit: str) -> None:
    """Raise `CommandError` for what is no speed of any vehicle, NaN and infinity included."""
    if not (np.abs(values) <= _FASTEST).all():
        raise CommandError(f'{name} {values.tolist()} is beyond {_FASTEST:g} {unit}')


class CommandReader:
    """Turns JointState commands into updates for one family.

    Parameters
    ----------
    family : Family
        Whose names and fields are commanded.

    Attributes
    ----------
    names : tuple of str
        What can be commanded.
    """

    def __init__(self, family: Family) -> None:
        self._family = family
        self._columns = {name: i for i, name in enumerate(family.command_names)}
        self._fields = tuple(family.command_fields)
        self.names = tuple(family.command_names)
        self._known = ', '.join(self.names)
        self._last: tuple[tuple[str, ...], Any] = ((), np.empty(0, int))

    def read(self, message: JointState) -> CommandUpdate:
        """Return the update that a message asks for.

        Raises
        ------
        CommandError
            For no names, unknown or repeated ones, arrays of the wrong length, values that are
            missing, not finite, in a field that the name does not take, or refused by the family.
        """
        columns = self._find(message.name)
        given = {field: np.asarray(getattr(message, field), dtype=float) for field in FIELDS}
        for field, values in given.items():
            if len(values) not in (0, len(columns)):
                raise CommandError(
                    f'{field}: expected {len(columns)} values, one per name, got {len(values)}'
                )
            if np.isinf(values).any():
                i = int(np.flatnonzero(np.isinf(values))[0])
                raise CommandError(f'{message.name[i]}: {field} is infinite')
        command = np.full(len(self._fields), np.nan)
        for i, column in enumerate(columns):
            command[column] = self._value(message.name[i], column, given, i)
        self._family.check_command(self._as_command(command))
        return CommandUpdate(columns, command[columns])

    def _find(self, names: Sequence[str]) -> Any:
        key = tuple(names)
        if key == self._last[0] and key:
            return self._last[1]
        if not key:
            raise CommandError(f'no names, expected some of: {self._known}')
        for i, name in enumerate(key):
            if name not in self._columns:
                raise CommandError(f'unknown name {name!r}, known: {self._known}')
            if name in key[:i]:
                raise CommandError(f'{name!r} is named twice')
        self._last = key, np.array([self._columns[name] for name in key], int)
        return self._last[1]

    def _value(self, name: str, column: int, given: dict[str, FloatArray], i: int) -> float:
        own = self._fields[column]
        for field, values in given.items():
            if field != own and len(values) and not np.isnan(values[i]):
                raise CommandError(
                    f'{name}: takes {own}, got {field} {values[i]:g}; '
                    'NaN means that a field is not meant'
                )
        if not len(given[own]):
            raise CommandError(f'{name}: takes {own}, got none')
        value = float(given[own][i])
        if np.isnan(value):
            if not self._family.nan_is_safe[column]:
                raise CommandError(f'{name}: {own} is NaN')
            return float(self._family.safe_command[column])
        return value

    def _as_command(self, values: FloatArray) -> Command:
        own = {
            field: np.where([f == field for f in self._fields], values, np.nan)
            for field in set(self._fields)
        }
        return Command(**own)


def wrench_to_msg(stamp_ns: int, frame: str, wrench: FloatArray) -> WrenchStamped:
    """Return a wrench (6,), force first; its axes and its point are ``frame``."""
    message = WrenchStamped()
    message.header.stamp = ns_to_stamp(stamp_ns)
    message.header.frame_id = frame
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()
    return message


def msg_to_wrench(message: WrenchStamped) -> FloatArray:
    """Return the wrench (6,) of a message, force first."""
    return np.concatenate((vector(message.wrench.force), vector(message.wrench.torque)))


def state_to_msg(stamp_ns: int, frame: str, names: Sequence[str], output: Output) -> JointState:
    """Return the state of a family; NaN where a name has no such field."""
    message = JointState()
    message.header.stamp = ns_to_stamp(stamp_ns)
    message.header.frame_id = frame
    message.name = list(names)
    for field in FIELDS:
        values = getattr(output, field)
        if values is not None:
            setattr(message, field, doubles(values))
    return message


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
