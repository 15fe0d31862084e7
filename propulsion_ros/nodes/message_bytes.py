"""Messages as bytes, for topics whose messages differ in their stamp and numbers only.

rclpy takes and gives bytes as well as messages. Between them lies the largest part of what a small
message costs, most of it for names that are the same each time.
"""
from __future__ import annotations

import functools
import struct
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from propulsion_ros.command_hold import FIELDS
from propulsion_ros.errors import CommandError
from propulsion_ros.nodes.conversions import doubles, set_stamp
from propulsion_ros.quantity import FloatArray

_STAMP = struct.Struct('=iI')
_SECOND = 1_000_000_000
_MARK_NS = 0x5A3C_69A5 * _SECOND + 0x2D4B_78E1
_LARGEST = 65_536
"""Nothing is kept of longer messages, so that nobody fills memory with them."""
_STAMP_AT, _STAMP_END = 4, 12
"""Every stamped message begins with its encoding and its stamp."""


def marks(shape: tuple[int, ...]) -> FloatArray:
    """Return numbers that nothing else in a message looks like."""
    return np.linspace(-3.7e-113, -9.1e-113, int(np.prod(shape))).reshape(shape)


class Slots:
    """Serialised messages that differ in their stamp and some numbers.

    Where these lie is found by serialising a message with `marks` in their place, so nothing of
    the format is assumed but that numbers look as they do in memory.

    Parameters
    ----------
    message : stamped message
        What stays.
    marked : sequence of FloatArray
        The marks that were written into it, each into fields that follow one another.

    Attributes
    ----------
    starts : list of int
        Where each of them lies in the bytes.
    """

    def __init__(self, message: Any, marked: Sequence[FloatArray]) -> None:
        set_stamp(message.header.stamp, _MARK_NS)
        data = serialize_message(message)
        self._buffer = bytearray(data)
        self._stamp_at = data.index(_STAMP.pack(*divmod(_MARK_NS, _SECOND)))
        self.starts = [data.index(values.tobytes()) for values in marked]
        self._numbers = [
            np.frombuffer(self._buffer, float, values.size, start)
            for values, start in zip(marked, self.starts, strict=True)
        ]

    def fill(self, stamp_ns: int, values: Sequence[FloatArray]) -> bytes:
        """Return the message with a stamp and the numbers in place of the marks."""
        _STAMP.pack_into(self._buffer, self._stamp_at, *divmod(stamp_ns, _SECOND))
        for numbers, value in zip(self._numbers, values, strict=True):
            numbers[:] = value
        return bytes(self._buffer)


class JointStateReader:
    """Deserialises joint states.

    What has the names and the one field of the message before is written into that message, which
    is returned again: its reader keeps what it needs, not the message.
    """

    def __init__(self) -> None:
        self._message = JointState()
        self._field, self._numbers = '', slice(0)
        self._before = self._behind = b''

    def read(self, data: bytes) -> JointState:
        """Return a message.

        Raises
        ------
        CommandError
            Where the bytes are none.
        """
        message, numbers, behind = self._message, self._numbers, self._behind
        if (
            not self._field
            or len(data) < numbers.stop
            or data[_STAMP_END:numbers.start] != self._before
            or data[numbers.stop:numbers.stop + len(behind)] != behind
        ):
            try:
                self._message = deserialize_message(data, JointState)
            except RuntimeError as error:
                self._field = ''
                raise CommandError(f'these {len(data)} bytes are no joint state') from error
            self._learn(data)
            return self._message
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = _STAMP.unpack_from(data, _STAMP_AT)
        values = array('d')
        values.frombytes(data[numbers])
        setattr(message, self._field, values)
        return message

    def _learn(self, data: bytes) -> None:
        """Keep what of a message's bytes says that the next one differs in numbers only."""
        message = self._message
        given = [field for field in FIELDS if len(getattr(message, field))]
        self._field = ''
        if len(given) != 1 or len(data) > _LARGEST:
            return
        field, = given
        values = getattr(message, field)
        start = _start(message.header.frame_id, tuple(message.name), field, len(values))
        numbers = slice(start, start + 8 * len(values))
        # Another encoding than our own is read in full each time.
        if data[numbers] == values.tobytes():
            self._field, self._numbers = field, numbers
            self._before = data[_STAMP_END:start]
            # The counts of the fields that follow and are empty.
            self._behind = bytes(4 * (len(FIELDS) - 1 - FIELDS.index(field)))


@functools.lru_cache(maxsize=16)
def _start(frame: str, names: tuple[str, ...], field: str, count: int) -> int:
    """Return where the numbers of a joint state lie in its bytes."""
    message, marked = JointState(name=names), marks((count,))
    message.header.frame_id = frame
    setattr(message, field, doubles(marked))
    return Slots(message, [marked]).starts[0]
