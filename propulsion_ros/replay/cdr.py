# SPDX-License-Identifier: Apache-2.0
"""Messages as CDR, the same bytes for the same content, without a ROS installation."""
from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.loops.command_hold import FIELDS
from propulsion_ros.loops.command_reader import CommandRows
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.settings.quantity import BoolArray

MISSING = f'the Python package rosbags reads and writes bags: {how_to_get("rosbags")}'

STAMP, STAMP_TYPE = slice(4, 12), np.dtype([('sec', '<i4'), ('nanosec', '<u4')])
"""Where the stamp of a message is that begins with a header, and what."""
SECOND = 1_000_000_000
_BEGIN = 4
"""Where a message begins, by which its parts are aligned."""
_OF_PX4 = 'uint64 timestamp\nuint64 timestamp_sample\n'
_OF_AUTOPILOTS = {
    Kind.PX4_MOTORS: f'{_OF_PX4}uint16 reversible_flags\nfloat32[12] control',
    Kind.PX4_SERVOS: f'{_OF_PX4}float32[8] control',
    f'{Kind.PX4_SERVOS}V1': f'{_OF_PX4}float32[15] control',
    Kind.RC_OUT: 'std_msgs/Header header\nuint16[] channels',
}
"""Fields of types that do not come with ROS 2; servos are 15 from PX4 1.18 on."""
_MORE_SERVOS = 80
_COUNT = struct.Struct('<I')
_SLACK = 64
"""How many bytes rclpy writes behind a message at most."""


class Wire:
    """Reads and writes messages that come with ROS 2, or of autopilots; `types` is their store.

    Raise `SourceError` where the package rosbags is not installed.
    """

    def __init__(self) -> None:
        try:
            # Only those who use bags need it.
            from rosbags.typesys import Stores, get_types_from_msg, get_typestore
        except ImportError as error:
            raise SourceError('rosbags', MISSING) from error
        self.types: Any = get_typestore(Stores.LATEST)
        for kind, text in _OF_AUTOPILOTS.items():
            self.types.register(get_types_from_msg(text, kind))

    def read(self, data: bytes, kind: str) -> Any:
        """Return a message with the fields of its type; arrays are those of numpy.

        The bytes are CDR, behind which rclpy may have left some. Raise `SourceError` where they
        are no such message.
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
            # Damaged bytes make the generated readers raise whatever comes first.
            raise SourceError(kind, f'not such a message: {text_of(error)[:200]}') from error
        if len(data) - 4 - end > _SLACK:
            raise SourceError(kind, f'not such a message: {len(data) - 4 - end} bytes too long')
        return message

    def read_commands(self, messages: Sequence[bytes]) -> CommandRows | None:
        """Return as many JointStates, from the first on, as have its names and fields.

        Return None where the first one cannot be read.
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
        stamps = _array_of(rows[:, STAMP], STAMP_TYPE)[:, 0]
        return CommandRows(
            stamps['sec'].astype(np.int64) * SECOND + stamps['nanosec'], names, {
                field: _array_of(rows[:, part], np.dtype('<f8'))
                for field, part in zip(FIELDS, parts.numbers, strict=True)
                if part.start < part.stop
            },
        )

    def serialise(self, message: Any, kind: str) -> bytes:
        """Return a message whose arrays are those of numpy, as `plain` makes it, as CDR."""
        return bytes(self.types.serialize_cdr(message, kind))


class Parts(NamedTuple):
    """Where the parts of a serialised JointState lie."""

    fixed: BoolArray
    """Which bytes mean something that is neither stamp nor number; padding means nothing."""
    numbers: list[slice]
    """Those of position, velocity and effort."""


def joint_parts(data: bytes) -> Parts:
    """Return the parts of a JointState; those of other bytes raise `struct.error`."""
    fixed = np.zeros(len(data), bool)
    fixed[:_BEGIN] = True
    at = STAMP.stop

    def count(size: int) -> int:
        """Pass a count, and what so many of a size are."""
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


def _array_of(rows: NDArray[np.uint8], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return what the bytes of rows are, (t, k)."""
    return np.ascontiguousarray(rows).view(kind)


def text_of(error: Exception) -> str:
    """Return the text of an error of a library as one line."""
    return ' '.join(str(error).split()) or type(error).__name__
