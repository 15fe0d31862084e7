# SPDX-License-Identifier: Apache-2.0
"""Messages, and their bytes, in which only stamp and numbers change: written and read.

rclpy takes and gives bytes as well as messages. Conversion between them is the largest part of the
cost of a small message, most of it for names that are the same each time.
"""
from __future__ import annotations

import functools
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import FluidPressure, Imu, JointState

from propulsion_ros.models.common.family import FIELDS
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray

_SECOND = 1_000_000_000  # [ns]
ODOMETRY_NUMBERS, INERTIA_NUMBERS = 85, 10
"""Numbers of values of an odometry, and of an inertia, without the stamp."""
_STAMP = struct.Struct('=iI')
_MARK_NS = 0x5A3C_69A5 * _SECOND + 0x2D4B_78E1  # stamp that marks its place in bytes [ns]
_COUNT = 4  # size of the count of a sequence [bytes]


def ns_to_stamp(stamp_ns: int) -> Time:
    """Return nanoseconds as a message stamp."""
    sec, nanosec = divmod(int(stamp_ns), _SECOND)
    return Time(sec=sec, nanosec=nanosec)


def set_stamp(stamp: Time, stamp_ns: int) -> None:
    """Write nanoseconds into a message's stamp."""
    stamp.sec, stamp.nanosec = divmod(int(stamp_ns), _SECOND)


def doubles(values: Any) -> array[float]:
    """Return an array of the type that messages accept without a copy of each element."""
    out = array('d')
    out.frombytes(np.ascontiguousarray(values, dtype=float).tobytes())
    return out


def set_wrench(message: WrenchStamped, wrench: FloatArray) -> None:
    """Write a wrench (6,), force first, into a message."""
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()


def inertia_numbers(mass: float, com: FloatArray, tensor: FloatArray) -> list[float]:
    """Return mass [kg], centre of mass [m], inertia about it [kg m^2] in a message's order."""
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = tensor.tolist()
    return [float(mass), *com.tolist(), ixx, ixy, ixz, iyy, iyz, izz]


def set_inertia(message: InertiaStamped, values: FloatArray) -> None:
    """Write `INERTIA_NUMBERS` into a message; see `inertia_numbers`."""
    inertia = message.inertia
    com = inertia.com
    (
        inertia.m, com.x, com.y, com.z, inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy,
        inertia.iyz, inertia.izz,
    ) = values.tolist()


def set_odometry(message: Odometry, values: FloatArray) -> None:
    """Write `ODOMETRY_NUMBERS` into a message: pose, its covariance, twist, its covariance."""
    pose, twist = message.pose.pose, message.twist.twist
    point, turn, linear, angular = pose.position, pose.orientation, twist.linear, twist.angular
    point.x, point.y, point.z, turn.x, turn.y, turn.z, turn.w = values[:7].tolist()
    message.pose.covariance = values[7:43]
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = values[43:49].tolist()
    message.twist.covariance = values[49:]


def _set_imu(message: Imu, rate: FloatArray, force: FloatArray) -> None:
    # -1 means that there is no orientation.
    message.orientation_covariance[0] = -1.0
    for vector, values in (
        (message.angular_velocity, rate), (message.linear_acceleration, force),
    ):
        vector.x, vector.y, vector.z = values.tolist()


def _set_pressure(message: FluidPressure, values: FloatArray) -> None:
    message.fluid_pressure, message.variance = values.tolist()


def _marks(count: int) -> FloatArray:
    """Return numbers whose bytes occur nowhere else in a message."""
    return np.linspace(-3.7e-113, -9.1e-113, count)


class Slots:
    """Serialised messages that differ in their stamp and some numbers.

    Their places are found by serialising a message with marks instead of them, so the only
    assumption on the format is that numbers have the same bytes as in memory.

    Parameters
    ----------
    message : stamped message
        Message with the parts that stay the same.
    marked : sequence of FloatArray
        Marks that were written into it, each array into fields that follow one another.
    behind : int
        Bytes of the message behind the last marks; further bytes are padding.

    Attributes
    ----------
    parts : tuple of slice
        Place of each array in the bytes.
    """

    def __init__(self, message: Any, marked: Sequence[FloatArray], behind: int = 0) -> None:
        set_stamp(message.header.stamp, _MARK_NS)
        data = bytes(serialize_message(message))
        self._message, self._marked = message, [values.tobytes() for values in marked]
        self._stamp_at = data.index(_STAMP.pack(*divmod(_MARK_NS, _SECOND)))
        starts = [data.index(values) for values in self._marked]
        self.parts = tuple(
            slice(start, start + len(values))
            for start, values in zip(starts, self._marked, strict=True)
        )
        if self.parts:
            data = data[:self.parts[-1].stop + behind]
        self._buffer = bytearray(data)
        self._numbers = [
            np.frombuffer(self._buffer, float, values.size, start)
            for values, start in zip(marked, starts, strict=True)
        ]
        ends = (0, self._stamp_at + _STAMP.size, *(part.stop for part in self.parts))
        begins = (self._stamp_at, *starts, len(data))
        self._between = [slice(*pair) for pair in zip(ends, begins, strict=True)]
        self._known: list[bytes] = []

    def fill(self, stamp_ns: int, values: Sequence[FloatArray | Sequence[float]]) -> bytes:
        """Return the message with a stamp and the numbers in place of the marks."""
        _STAMP.pack_into(self._buffer, self._stamp_at, *divmod(stamp_ns, _SECOND))
        for numbers, value in zip(self._numbers, values, strict=True):
            numbers[:] = value
        return bytes(self._buffer)

    def fit(self, data: bytes) -> bool:
        """Return whether bytes differ in stamp and numbers only from those that `try_on` took."""
        return (
            len(data) >= len(self._buffer)
            and [data[part] for part in self._between] == self._known
        )

    def try_on(self, data: bytes) -> bool:
        """Return whether foreign bytes are such a message; `fit` then recognises the next one."""
        if self.fit(data):
            return True
        # The encoding comes before the stamp.
        head = self._between[0]
        if len(data) < len(self._buffer) or data[head] != self._buffer[head]:
            return False
        # Padding may hold anything, so bytes are accepted if marks in them are read as such.
        probe = bytearray(data)
        _STAMP.pack_into(probe, self._stamp_at, *divmod(_MARK_NS, _SECOND))
        for part, values in zip(self.parts, self._marked, strict=True):
            probe[part] = values
        try:
            read = deserialize_message(bytes(probe), type(self._message))
        except RuntimeError:
            return False
        if read != self._message:
            return False
        self._known = [data[part] for part in self._between]
        return True

    def stamp(self, data: bytes) -> tuple[int, int]:
        """Return seconds and nanoseconds of the stamp of bytes that fit."""
        sec, nanosec = _STAMP.unpack_from(data, self._stamp_at)
        return sec, nanosec


def joint_state_slots(frame: str, names: tuple[str, ...], counts: tuple[int, ...]) -> Slots:
    """Return the slots of joint states, by the number of values in each field."""
    message, marked = JointState(name=list(names)), np.split(_marks(sum(counts)), np.cumsum(counts))
    message.header.frame_id = frame
    for field, values in zip(FIELDS, marked, strict=False):
        setattr(message, field, doubles(values))
    # Behind the last numbers are the counts of the fields that have none.
    given = [i for i, count in enumerate(counts) if count]
    behind = _COUNT * (len(FIELDS) - 1 - given[-1]) if given else 0
    return Slots(message, [marked[i] for i in given], behind)


class Form(NamedTuple):
    """Messages of one kind that differ in their stamp and some numbers."""

    kind: type[Any]
    counts: tuple[int, ...]
    """Class of the messages, and number of values in each array of numbers."""
    write: Callable[..., None]
    """``write(message, *numbers)`` puts each array into fields that follow one another."""
    behind: int = 0
    """As of `Slots`."""

    def slots(self, frame: str, child_frame: str = '') -> Slots:
        """Return the slots of messages in one frame."""
        message, ends = self.kind(), np.cumsum(self.counts)
        message.header.frame_id = frame
        if child_frame:
            message.child_frame_id = child_frame
        marked = np.split(_marks(ends[-1]), ends[:-1])
        self.write(message, *marked)
        return Slots(message, marked, self.behind)


WRENCH = Form(WrenchStamped, (6,), set_wrench)
INERTIA = Form(InertiaStamped, (INERTIA_NUMBERS,), set_inertia)
ODOMETRY = Form(Odometry, (ODOMETRY_NUMBERS,), set_odometry)
PRESSURE = Form(FluidPressure, (2,), _set_pressure)
IMU = Form(Imu, (3, 3), _set_imu, Imu().linear_acceleration_covariance.nbytes)
"""Rate and specific force of one without an orientation."""


SHORTEST = 12
"""Size of the shortest stamped message, its encoding and its stamp [bytes]."""
_LARGEST = 65_536  # size of the largest message that is kept, to bound memory [bytes]
_Found = tuple[Slots, Callable[[Any, Sequence[bytes]], None]]
"""Slots of messages like one, and a function that writes their numbers into a message."""
# Publishers fill slots of their own, readers share them.
_joint_slots = functools.lru_cache(maxsize=16)(joint_state_slots)
_form_slots = functools.lru_cache(maxsize=48)(Form.slots)


def _of_joints(message: JointState) -> _Found | None:
    counts = tuple(len(getattr(message, field)) for field in FIELDS)
    fields = [field for field, count in zip(FIELDS, counts, strict=True) if count]

    def write(kept: Any, numbers: Sequence[bytes]) -> None:
        for field, values in zip(fields, numbers, strict=True):
            setattr(kept, field, array('d', values))

    return (
        _joint_slots(message.header.frame_id, tuple(message.name), counts), write
    ) if fields else None


def _of_form(form: Form, message: Any) -> _Found:
    slots = _form_slots(form, message.header.frame_id, getattr(message, 'child_frame_id', ''))
    return slots, lambda kept, numbers: form.write(kept, np.frombuffer(numbers[0]))


KINDS: Mapping[type[Any], Callable[[Any], _Found | None]] = {
    JointState: _of_joints,
    **{form.kind: functools.partial(_of_form, form) for form in (INERTIA, ODOMETRY, WRENCH)},
}
"""Functions from a message of each kind to its slots; these return None without numbers."""


def plain(message: Any) -> Any:
    """Return a message as a plain object with the same fields, nested messages too."""
    if not hasattr(message, 'get_fields_and_field_types'):
        return message
    return SimpleNamespace(**{
        field: plain(getattr(message, field)) for field in message.get_fields_and_field_types()
    })


class MessageReader:
    """Deserialises stamped messages of one of `KINDS`.

    If only stamp and numbers differ from the message before, they are written into a plain object
    with the fields of that message, which is returned again: the caller must copy what it keeps.
    A plain object is faster, as each field of a message of rclpy is a property.
    """

    def __init__(self, kind: type[Any]) -> None:
        self._kind, self._message = kind, None
        self._found: _Found | None = None

    def read(self, data: bytes) -> Any:
        """Return a message; raise `CommandError` if the bytes are no such message."""
        if self._found is None or not self._found[0].fit(data):
            return self._read_anew(data)
        message: Any = self._message
        slots, write = self._found
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = slots.stamp(data)
        write(message, [data[part] for part in slots.parts])
        return message

    def _read_anew(self, data: bytes) -> Any:
        """Deserialise a message, and keep its slots for the next one."""
        self._found = None
        wrong = f'these {len(data)} bytes are no {self._kind.__name__}'
        # Fast CDR would read beyond the end of shorter data, and might crash.
        if len(data) < SHORTEST:
            raise CommandError(wrong)
        try:
            message = deserialize_message(data, self._kind)
        except RuntimeError as error:
            raise CommandError(wrong) from error
        found = KINDS[self._kind](message) if len(data) <= _LARGEST else None
        if found is None or not found[0].try_on(data):
            return message
        self._found, self._message = found, plain(message)
        return self._message
