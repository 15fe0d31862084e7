# SPDX-License-Identifier: Apache-2.0
"""Converts messages of rclpy or of a file, or anything with the same fields, to numbers.

A number that no vehicle can have is refused with a `CommandError` that names it.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from propulsion_ros.loops.command_hold import CommandUpdate
from propulsion_ros.loops.command_reader import first_marked
from propulsion_ros.loops.ports import Host
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray

_SECOND = 1_000_000_000
_FASTEST = 1e5  # largest speed [m/s], [rad/s]
_FARTHEST = 1e3  # largest coordinate of a centre of mass [m]
_STRONGEST = 1e9  # largest force and torque [N], [N m]
_SHORTEST = 1e-6  # least length of a quaternion, and 1 over the largest
_LATEST_S = 2_140_000_000
"""Latest stamp [s]: they end at 2^31 s, in 2038, and inputs may be due some time after theirs."""
LATEST_NS = _LATEST_S * _SECOND
"""Latest stamp [ns]."""


def stamp_to_ns(stamp: Any) -> int:
    """Return a message stamp in nanoseconds."""
    return int(stamp.sec) * _SECOND + int(stamp.nanosec)


def checked_stamp(stamp: Any) -> int:
    """Return a message stamp in nanoseconds.

    Raises `CommandError` for a time near the ends of what a stamp can hold.
    """
    stamp_ns = stamp_to_ns(stamp)
    if abs(stamp_ns) > LATEST_NS:
        raise CommandError(f'stamp {stamp_ns * 1e-9:.3f} s is beyond {_LATEST_S} s')
    return stamp_ns


def stamp_of(host: Host, source: str, message: Any) -> int | None:
    """Return the stamp of a message [ns]; complain and return None for one out of range."""
    try:
        return checked_stamp(message.header.stamp)
    except CommandError as error:
        host.complain('refused', f'{source} refused: {error}')
        return None


def checked_clock(stamp: Any) -> int:
    """Return the time of a /clock in nanoseconds.

    Raises `CommandError` for a time at which rclpy's own clock fails.
    """
    if stamp.sec < 0:
        raise CommandError(f'{stamp.sec} s is before 0')
    return checked_stamp(stamp)


def vector(message: Any) -> FloatArray:
    """Return x, y, z of a Vector3 or Point, (3,)."""
    return np.array([message.x, message.y, message.z])


def msg_to_parts(message: Any, names: Sequence[str]) -> FloatArray:
    """Return shares from 0 to 1, (n,), from the positions of a JointState; NaN for other names.

    Raises `CommandError` for an unknown or repeated name, another count, or a value outside 0..1.
    """
    given, parts = list(message.name), np.full(len(names), np.nan)
    if len(message.position) != len(given):
        raise CommandError(
            f'position: expected {len(given)} values, one per name, got {len(message.position)}'
        )
    for name, part in zip(given, message.position, strict=True):
        if name not in names:
            raise CommandError(f'unknown name {name!r}, known: {", ".join(names)}')
        i = list(names).index(name)
        if not np.isnan(parts[i]):
            raise CommandError(f'{name!r} is named twice')
        if not 0.0 <= part <= 1.0:
            raise CommandError(f'{name}: position {part:g} is not in 0..1')
        parts[i] = part
    return parts


def msg_to_motion(message: Any, frame: str) -> Motion:
    """Return the motion of ``frame``, from an Odometry.

    Raises `CommandError` for the twist of another frame, or values that no vehicle can have.
    """
    if message.child_frame_id not in ('', frame):
        raise CommandError(f'expected the twist of {frame!r}, got {message.child_frame_id!r}')
    pose = message.pose.pose
    q = pose.orientation
    linear, angular = vector(message.twist.twist.linear), vector(message.twist.twist.angular)
    length = math.hypot(q.x, q.y, q.z, q.w)
    if not math.isfinite(length):
        raise CommandError('the orientation is not finite')
    _check_speed('velocity', linear, 'm/s')
    _check_speed('angular velocity', angular, 'rad/s')
    if not _SHORTEST <= length <= 1.0 / _SHORTEST:
        raise CommandError(f'the orientation is no rotation: its quaternion is {length:g} long')
    return Motion(vector(pose.position), np.array([q.x, q.y, q.z, q.w]), linear, angular)


def msg_to_current(message: Any, world_frame: str) -> FloatArray:
    """Return the velocity of the fluid in the world [m/s], (3,), from a TwistStamped.

    Raises `CommandError` for another frame than ``world_frame`` (either may be ''), or a speed that
    no fluid can have.
    """
    if message.header.frame_id not in ('', world_frame) and world_frame:
        raise CommandError(f'expected the frame {world_frame!r}, got {message.header.frame_id!r}')
    current = vector(message.twist.linear)
    _check_speed('current', current, 'm/s')
    return current


def _check_speed(name: str, values: FloatArray, unit: str) -> None:
    """Raise `CommandError` for a speed that no vehicle can have, NaN and infinity included."""
    if not (np.abs(values) <= _FASTEST).all():
        raise CommandError(f'{name} {values.tolist()} is beyond {_FASTEST:g} {unit}')


_COLUMNS = np.arange(6)


def demand_of(message: Any, frame: str) -> CommandUpdate:
    """Return the update that a WrenchStamped demands; a part that is None is not demanded.

    Raises `CommandError` for another frame than ``frame``, or a value that is not finite.
    """
    parts = _parts(message)
    if None not in parts:
        return CommandUpdate(_COLUMNS, checked_wrench(message, frame))
    columns = [i for i, part in enumerate(parts) if part is not None]
    values = np.array([parts[i] for i in columns], dtype=float)
    _check_strength(values, [WRENCH_NAMES[i] for i in columns])
    return CommandUpdate(_COLUMNS[columns], values)


def checked_wrench(message: Any, frame: str) -> FloatArray:
    """Return the wrench (6,) of a WrenchStamped, force first.

    Raises `CommandError` for another frame than ``frame`` ('' is taken for it), or a value that is
    too large or not finite.
    """
    _check_frame(message, frame)
    wrench = msg_to_wrench(message)
    _check_strength(wrench, WRENCH_NAMES)
    return wrench


def _check_strength(values: FloatArray, names: Sequence[str]) -> None:
    wrong = ~(np.abs(values) <= _STRONGEST)
    if wrong.any():
        unknown = ~np.isfinite(values)
        if unknown.any():
            raise CommandError(f'{first_marked(names, unknown)} is not finite')
        name = first_marked(names, wrong)
        raise CommandError(f'{name} {values[wrong][0]:g} is beyond {_STRONGEST:g} in SI units')


def msg_to_wrench(message: Any) -> FloatArray:
    """Return the wrench (6,) of a WrenchStamped, force first."""
    return np.array(_parts(message))


def _parts(message: Any) -> tuple[Any, ...]:
    force, torque = message.wrench.force, message.wrench.torque
    return force.x, force.y, force.z, torque.x, torque.y, torque.z


def msg_to_com(message: Any, frame: str) -> FloatArray:
    """Return the centre of mass [m], (3,), of an InertiaStamped.

    Raises `CommandError` for another frame than ``frame`` ('' is taken for it), or a place that is
    too far off.
    """
    _check_frame(message, frame)
    com = vector(message.inertia.com)
    if not (np.abs(com) <= _FARTHEST).all():
        raise CommandError(f'centre of mass {com.tolist()} is beyond {_FARTHEST:g} m')
    return com


def msg_to_inertia(message: Any) -> tuple[float, FloatArray, FloatArray]:
    """Return mass [kg], centre of mass [m] and inertia about it [kg m^2] of an InertiaStamped."""
    i = message.inertia
    tensor = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
    return float(i.m), vector(i.com), tensor


def _check_frame(message: Any, frame: str) -> None:
    if message.header.frame_id not in ('', frame):
        raise CommandError(f'expected the frame {frame!r}, got {message.header.frame_id!r}')


def fired_by(message: Any) -> list[str]:
    """Return the deployers that a JointState fires: pyros that are on, servos that were turned."""
    rows = zip_longest(message.name, message.effort, message.position, fillvalue=math.nan)
    return [
        str(name) for name, effort, angle in islice(rows, len(message.name))
        if effort > 0.0 or (math.isnan(effort) and math.isfinite(angle))
    ]
