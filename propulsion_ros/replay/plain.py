# SPDX-License-Identifier: Apache-2.0
"""Messages without ROS: plain objects with their fields, and CDR, which depends on content only.

Ports take them as they take messages, and `Wire` writes them.
"""
from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from types import SimpleNamespace as Plain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.loops.command_reader import CommandRows
from propulsion_ros.loops.payloads import (
    BatteryRow,
    ImuRow,
    JointRow,
    Kind,
    MassRow,
    OdometryRow,
    PressureRow,
    StatusRow,
)
from propulsion_ros.loops.ports import ERROR, OK, WARN, Outlet
from propulsion_ros.models.common.family import FIELDS
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray

STAMP, STAMP_TYPE = slice(4, 12), np.dtype([('sec', '<i4'), ('nanosec', '<u4')])
"""Bytes and type of the stamp in the CDR of a message that begins with a header."""
SECOND = 1_000_000_000  # [ns]
_BEGIN = 4  # offset of a message in its CDR, to which its parts are aligned [bytes]
_OF_PX4 = 'uint64 timestamp\nuint64 timestamp_sample\n'
_OF_AUTOPILOTS = {
    Kind.PX4_MOTORS: f'{_OF_PX4}uint16 reversible_flags\nfloat32[12] control',
    Kind.PX4_SERVOS: f'{_OF_PX4}float32[8] control',
    f'{Kind.PX4_SERVOS}V1': f'{_OF_PX4}float32[15] control',
    Kind.RC_OUT: 'std_msgs/Header header\nuint16[] channels',
}
"""Fields of types that do not come with ROS 2; servos are 15 from PX4 1.18 on."""
_MORE_SERVOS = 80  # size of a message of 15 servos [bytes]
_COUNT = struct.Struct('<I')
_SLACK = 64  # most bytes that rclpy writes behind a message
_UPPER = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)
_LEVELS = {OK: 0, WARN: 1, ERROR: 2}
_NONE, _NO_CELLS, _ZEROS = np.empty(0), np.empty(0, np.float32), np.zeros(36)
_LEVEL, _UNKNOWN = Plain(x=0.0, y=0.0, z=0.0, w=1.0), np.array([-1.0, *[0.0] * 8])
"""Orientation of an IMU that measures none, which its covariance states."""

Maker = Callable[[Outlet, int, Any], Plain]


class Wire:
    """Reads and writes messages that come with ROS 2, or of autopilots; `types` is their store.

    Raises `SourceError` if the package rosbags is not installed.
    """

    def __init__(self) -> None:
        try:
            # Only users of bags need this package.
            from rosbags.typesys import Stores, get_types_from_msg, get_typestore
        except ImportError as error:
            raise SourceError('rosbags', missing()) from error
        self.types: Any = get_typestore(Stores.LATEST)
        for kind, text in _OF_AUTOPILOTS.items():
            self.types.register(get_types_from_msg(text, kind))

    def read(self, data: bytes, kind: str) -> Any:
        """Return a message with the fields of its type; arrays are those of numpy.

        The bytes are CDR, which rclpy may have padded. Raises `SourceError` if they are no such
        message.
        """
        if kind == Kind.PX4_SERVOS and len(data) >= _MORE_SERVOS:
            kind += 'V1'
        try:
            definition = self.types.get_msgdef(kind)
            is_little = data[:2] == b'\x00\x01'
            if not is_little and data[:2] != b'\x00\x00':
                raise ValueError('expected plain CDR')
            read = definition.deserialize_cdr_le if is_little else definition.deserialize_cdr_be
            message, end = read(memoryview(data)[4:], 0, definition.cls, self.types)
        except Exception as error:
            # The generated readers raise errors of any type for damaged bytes.
            raise SourceError(kind, f'not such a message: {text_of(error)[:200]}') from error
        if len(data) - 4 - end > _SLACK:
            raise SourceError(kind, f'not such a message: {len(data) - 4 - end} bytes too long')
        return message

    def read_commands(self, messages: Sequence[bytes]) -> CommandRows | None:
        """Return the commands of the first JointStates, as many as have the same names and fields.

        Return None if the first one cannot be read.
        """
        data = messages[0]
        try:
            names, parts = self.read(data, Kind.JOINTS).name, joint_parts(data)
        except (SourceError, struct.error):
            return None
        alike = [*takewhile(lambda each: len(each) == len(data), messages)]
        rows = np.frombuffer(b''.join(alike), np.uint8).reshape(len(alike), len(data))
        differs = (rows[:, parts.fixed] != rows[0, parts.fixed]).any(axis=1)
        rows = rows[:int(differs.argmax())] if differs.any() else rows
        stamps = np.ascontiguousarray(rows[:, STAMP]).view(STAMP_TYPE)[:, 0]
        return CommandRows(
            stamps['sec'].astype(np.int64) * SECOND + stamps['nanosec'], names, {
                field: np.ascontiguousarray(rows[:, part]).view('<f8')
                for field, part in zip(FIELDS, parts.numbers, strict=True)
                if part.start < part.stop
            },
        )

    def serialise(self, message: Any, kind: str) -> bytes:
        """Return as CDR a message with arrays of numpy, as those of this module."""
        return bytes(self.types.serialize_cdr(message, kind))


class Parts(NamedTuple):
    """Places of the parts of a serialised JointState."""

    fixed: BoolArray
    """Mask of bytes that are neither stamp, nor number, nor padding."""
    numbers: list[slice]
    """Bytes of position, velocity and effort."""


def joint_parts(data: bytes) -> Parts:
    """Return the parts of a JointState; raise `struct.error` if it is too short."""
    fixed = np.zeros(len(data), bool)
    fixed[:_BEGIN] = True
    at = STAMP.stop

    def count(size: int) -> int:
        """Skip a count, and as many elements of a size; return the count."""
        nonlocal at
        at += -at % 4
        number, = _COUNT.unpack_from(data, at)
        fixed[at:at + 4 + number * size] = True
        at += 4 + number * size
        return int(number)

    def numbers() -> slice:
        nonlocal at
        if n := count(0):
            at += (_BEGIN - at) % 8
        at += 8 * n
        return slice(at - 8 * n, at)

    count(1)
    for _ in range(count(0)):
        count(1)
    return Parts(fixed, [numbers() for _ in FIELDS])


def missing() -> str:
    """Return how to get rosbags; called only if it is missing, as reading metadata is slow."""
    return f'the Python package rosbags reads and writes bags: {how_to_get("rosbags")}'


def text_of(error: Exception) -> str:
    """Return the text of an error of a library as one line."""
    return ' '.join(str(error).split()) or type(error).__name__


def plain_message(outlet: Outlet, stamp_ns: int, payload: Any) -> Plain:
    """Return the message of a payload, which is copied."""
    return _MAKERS[outlet.kind](outlet, stamp_ns, payload)


class TickRows(NamedTuple):
    """Messages of a loop on one topic at many ticks."""

    topic: str
    outlet: Outlet
    stamps: IntArray
    """Stamps of the ticks, (t,) [ns]."""
    payload: Any
    """Payload of one message, with arrays (t, ...) in place of its numbers."""

    def message(self, i: int) -> Any:
        """Return the message of one tick."""
        payload = self.payload
        if isinstance(payload, tuple):
            row: Any = type(payload)
            payload = row(*(each[i] if isinstance(each, np.ndarray) else each for each in payload))
        else:
            payload = payload[i]
        return plain_message(self.outlet, int(self.stamps[i]), payload)

    def numbers(self) -> list[FloatArray]:
        """Return the numbers of the messages, in their order, (t, k) for each group of them."""
        if self.outlet.kind == Kind.JOINTS:
            return [part for part in self.payload[:len(FIELDS)] if part is not None]
        if self.outlet.kind == Kind.INERTIA:
            mass, com, inertia = self.payload
            return [np.column_stack((mass, com, inertia[:, _UPPER[0], _UPPER[1]]))]
        return [self.payload]

    def encode(self, wire: Wire) -> NDArray[np.uint8]:
        """Return the messages as CDR, (t, size)."""
        data = wire.serialise(self.message(0), self.outlet.kind)
        rows: NDArray[np.uint8] = np.tile(np.frombuffer(data, np.uint8), (len(self.stamps), 1))
        stamps = np.empty(len(rows), STAMP_TYPE)
        stamps['sec'], stamps['nanosec'] = np.divmod(self.stamps, SECOND)
        rows[:, STAMP] = stamps[:, None].view(np.uint8)
        numbers = self.numbers()
        parts = (
            joint_parts(data).numbers if self.outlet.kind == Kind.JOINTS
            else [slice(len(data) - 8 * numbers[0].shape[1], len(data))]
        )
        given = [part for part in parts if part.start < part.stop]
        for part, values in zip(given, numbers, strict=True):
            rows[:, part] = np.ascontiguousarray(values, '<f8').view(np.uint8)
        return rows


def clock_message(stamp_ns: int) -> Plain:
    """Return a rosgraph_msgs/Clock."""
    return Plain(clock=_stamp(stamp_ns))


def _stamp(stamp_ns: int) -> Plain:
    """Return nanoseconds as the stamp of a message."""
    sec, nanosec = divmod(int(stamp_ns), SECOND)
    return Plain(sec=sec, nanosec=nanosec)


def _header(outlet: Outlet, stamp_ns: int) -> Plain:
    return Plain(stamp=_stamp(stamp_ns), frame_id=outlet.frame)


def _vector(values: Sequence[Any]) -> Plain:
    x, y, z = values
    return Plain(x=x, y=y, z=z)


def _wrench(outlet: Outlet, stamp_ns: int, wrench: FloatArray | Sequence[float | None]) -> Plain:
    values = wrench.tolist() if isinstance(wrench, np.ndarray) else wrench
    return Plain(
        header=_header(outlet, stamp_ns),
        wrench=Plain(force=_vector(values[:3]), torque=_vector(values[3:])),
    )


def _joint_state(outlet: Outlet, stamp_ns: int, row: JointRow) -> Plain:
    return Plain(
        header=_header(outlet, stamp_ns), name=list(row.names or outlet.names),
        position=_doubles(row.position), velocity=_doubles(row.velocity),
        effort=_doubles(row.effort),
    )


def _doubles(values: FloatArray | Sequence[float] | None) -> FloatArray:
    return _NONE if values is None else np.array(values, dtype=float)


def _inertia(outlet: Outlet, stamp_ns: int, row: MassRow) -> Plain:
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = row.inertia.tolist()
    return Plain(header=_header(outlet, stamp_ns), inertia=Plain(
        m=float(row.mass), com=_vector(row.com.tolist()),
        ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy, iyz=iyz, izz=izz,
    ))


def _battery(outlet: Outlet, stamp_ns: int, row: BatteryRow) -> Plain:
    return Plain(
        header=_header(outlet, stamp_ns), **row.fields, cell_voltage=_NO_CELLS,
        cell_temperature=_NO_CELLS,
    )


def _odometry(outlet: Outlet, stamp_ns: int, row: OdometryRow) -> Plain:
    x, y, z, w = map(float, row.quaternion)
    pose = Plain(
        position=_vector([*map(float, row.position)]), orientation=Plain(x=x, y=y, z=z, w=w)
    )
    twist = Plain(
        linear=_vector([*map(float, row.velocity)]),
        angular=_vector([*map(float, row.angular_velocity)]),
    )
    return Plain(
        header=_header(outlet, stamp_ns), child_frame_id=row.child_frame,
        pose=Plain(pose=pose, covariance=_covariance(row.pose_covariance)),
        twist=Plain(twist=twist, covariance=_covariance(row.twist_covariance)),
    )


def _covariance(values: FloatArray | None) -> FloatArray:
    return np.array(_ZEROS if values is None else values, dtype=float)


def _point(outlet: Outlet, stamp_ns: int, point: Sequence[float]) -> Plain:
    return Plain(header=_header(outlet, stamp_ns), point=_vector([*map(float, point)]))


def _imu(outlet: Outlet, stamp_ns: int, row: ImuRow) -> Plain:
    return Plain(
        header=_header(outlet, stamp_ns), orientation=_LEVEL, orientation_covariance=_UNKNOWN,
        linear_acceleration=_vector(row.specific_force), linear_acceleration_covariance=_ZEROS[:9],
        angular_velocity=_vector(row.angular_velocity), angular_velocity_covariance=_ZEROS[:9],
    )


def _pressure(outlet: Outlet, stamp_ns: int, row: PressureRow) -> Plain:
    return Plain(
        header=_header(outlet, stamp_ns), fluid_pressure=float(row.pressure),
        variance=float(row.variance),
    )


def _twist(outlet: Outlet, stamp_ns: int, velocity: Sequence[float]) -> Plain:
    return Plain(
        header=_header(outlet, stamp_ns),
        twist=Plain(linear=_vector([*map(float, velocity)]), angular=_vector((0.0, 0.0, 0.0))),
    )


def _statuses(outlet: Outlet, stamp_ns: int, rows: Sequence[StatusRow]) -> Plain:
    return Plain(header=_header(outlet, stamp_ns), status=[
        Plain(
            level=_LEVELS[row.level], name=row.name, message=row.message,
            hardware_id=row.hardware_id,
            values=[Plain(key=key, value=value) for key, value in row.values],
        )
        for row in rows
    ])


def _integers(outlet: Outlet, stamp_ns: int, values: Sequence[int]) -> Plain:
    return Plain(layout=Plain(dim=[], data_offset=0), data=np.array(values, dtype=np.int32))


def _data(cast: Callable[[Any], Any]) -> Maker:
    """Return a maker of messages that have one field and no stamp."""
    return lambda outlet, stamp_ns, value: Plain(data=cast(value))


_MAKERS: Mapping[str, Maker] = {
    Kind.BATTERY: _battery,
    Kind.CLOCK: lambda outlet, stamp_ns, payload: clock_message(stamp_ns),
    Kind.IMU: _imu,
    Kind.PRESSURE: _pressure,
    Kind.TWIST: _twist,
    Kind.STATUSES: _statuses,
    Kind.INERTIA: _inertia,
    Kind.POINT: _point,
    Kind.WRENCH: _wrench,
    Kind.ODOMETRY: _odometry,
    Kind.JOINTS: _joint_state,
    Kind.BOOL: _data(bool),
    Kind.FLOAT: _data(float),
    Kind.INTEGERS: _integers,
    Kind.STRING: _data(str),
}
"""Makers of the messages of each kind."""
