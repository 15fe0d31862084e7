# SPDX-License-Identifier: Apache-2.0
"""Messages read out of their bytes where only stamp and numbers differ from the one before."""
from __future__ import annotations

import functools
from array import array
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from propulsion_ros.loops.command_hold import FIELDS
from propulsion_ros.messages.fields import (
    Slots,
    inertia_slots,
    joint_state_slots,
    odometry_slots,
    set_inertia,
    set_odometry,
    set_wrench,
    wrench_slots,
)
from propulsion_ros.settings.errors import CommandError

SHORTEST = 12
"""No stamped message is shorter: its encoding and its stamp."""
_LARGEST = 65_536
"""Nothing is kept of longer messages, so that they cannot fill the memory."""
# Publishers fill slots of their own, readers share them.
_known_inertia_slots = functools.lru_cache(maxsize=16)(inertia_slots)
_known_joint_state_slots = functools.lru_cache(maxsize=16)(joint_state_slots)
_known_odometry_slots = functools.lru_cache(maxsize=16)(odometry_slots)
_known_wrench_slots = functools.lru_cache(maxsize=16)(wrench_slots)


def plain(message: Any) -> Any:
    """Return a message as an object with the same fields, the messages in it too."""
    if not hasattr(message, 'get_fields_and_field_types'):
        return message
    return SimpleNamespace(**{
        field: plain(getattr(message, field)) for field in message.get_fields_and_field_types()
    })


class MessageReader:
    """Deserialises stamped messages of one kind.

    What differs from the message before in its stamp and numbers only is written into a plain
    object with the fields of that message, which is returned again: its reader keeps what it needs,
    not the object. Each field of a message of rclpy is a property, a call to read and one to write.
    """

    kind: type[Any]
    """Of the messages."""

    def __init__(self) -> None:
        self._message: Any = None
        self._slots: Slots | None = None

    def read(self, data: bytes) -> Any:
        """Return a message; raise `CommandError` where the bytes are none."""
        slots = self._slots
        if slots is None or not slots.fit(data):
            return self._read_anew(data)
        message = self._message
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = slots.stamp(data)
        self._write([data[part] for part in slots.parts])
        return message

    def _read_anew(self, data: bytes) -> Any:
        """Deserialise a message, and keep where the next one may differ from it."""
        self._slots = None
        wrong = f'these {len(data)} bytes are no {self.kind.__name__}'
        # Of an encoding alone, Fast CDR reads what lies behind it in memory, and may crash.
        if len(data) < SHORTEST:
            raise CommandError(wrong)
        try:
            message = deserialize_message(data, self.kind)
        except RuntimeError as error:
            raise CommandError(wrong) from error
        slots = self._find_slots(message) if len(data) <= _LARGEST else None
        if slots is None or not slots.try_on(data):
            return message
        self._slots, self._message = slots, plain(message)
        return self._message

    def _find_slots(self, message: Any) -> Slots | None:
        """Return where numbers lie in messages like this one, None where it has none."""
        raise NotImplementedError

    def _write(self, numbers: Sequence[bytes]) -> None:
        """Write what is in these places into the present message."""
        raise NotImplementedError


class JointStateReader(MessageReader):
    """Deserialises joint states; see `MessageReader`."""

    kind = JointState

    def _find_slots(self, message: Any) -> Slots | None:
        counts = tuple(len(getattr(message, field)) for field in FIELDS)
        self._fields = [field for field, count in zip(FIELDS, counts, strict=True) if count]
        if not self._fields:
            return None
        return _known_joint_state_slots(message.header.frame_id, tuple(message.name), counts)

    def _write(self, numbers: Sequence[bytes]) -> None:
        for field, values in zip(self._fields, numbers, strict=True):
            setattr(self._message, field, array('d', values))


class WrenchStampedReader(MessageReader):
    """Deserialises wrenches; see `MessageReader`."""

    kind = WrenchStamped

    def _find_slots(self, message: Any) -> Slots:
        return _known_wrench_slots(message.header.frame_id)

    def _write(self, numbers: Sequence[bytes]) -> None:
        set_wrench(self._message.wrench, np.frombuffer(numbers[0]))


class InertiaStampedReader(MessageReader):
    """Deserialises inertias; see `MessageReader`."""

    kind = InertiaStamped

    def _find_slots(self, message: Any) -> Slots:
        return _known_inertia_slots(message.header.frame_id)

    def _write(self, numbers: Sequence[bytes]) -> None:
        set_inertia(self._message.inertia, np.frombuffer(numbers[0]).tolist())


class OdometryReader(MessageReader):
    """Deserialises odometry; see `MessageReader`."""

    kind = Odometry

    def _find_slots(self, message: Any) -> Slots:
        return _known_odometry_slots(message.header.frame_id, message.child_frame_id)

    def _write(self, numbers: Sequence[bytes]) -> None:
        set_odometry(self._message, np.frombuffer(numbers[0]))


READERS: Mapping[type[Any], type[MessageReader]] = {
    reader.kind: reader for reader in (
        InertiaStampedReader, JointStateReader, OdometryReader, WrenchStampedReader,
    )
}
"""Of each kind of message that can be read out of its bytes."""
