# SPDX-License-Identifier: Apache-2.0
"""Reads messages from bytes if only stamp and numbers differ from those of the one before."""
from __future__ import annotations

import functools
from array import array
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from propulsion_ros.messages.fields import (
    INERTIA,
    ODOMETRY,
    WRENCH,
    Form,
    Slots,
    joint_state_slots,
)
from propulsion_ros.models.common.family import FIELDS
from propulsion_ros.settings.errors import CommandError

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
