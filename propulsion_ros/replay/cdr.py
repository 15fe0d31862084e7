# SPDX-License-Identifier: Apache-2.0
"""Messages as CDR, the same bytes for the same content, without a ROS installation.

What rclpy serialises has bytes between and behind the fields that nobody has set.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from propulsion_ros.settings.errors import SourceError

MISSING = 'the Python package rosbags reads and writes bags: pip install rosbags'

_SLACK = 64
"""How many bytes rclpy leaves behind a message at most."""


class Wire:
    """Reads and writes messages of the types that come with ROS 2.

    Raises
    ------
    SourceError
        Where the package rosbags is not installed.
    """

    def __init__(self) -> None:
        try:
            # Only those who use bags need it.
            from rosbags.interfaces import Nodetype
            from rosbags.typesys import Stores, get_typestore
        except ImportError as error:
            raise SourceError('rosbags', MISSING) from error
        self.types: Any = get_typestore(Stores.LATEST)
        self._nodes = Nodetype
        self._odd: dict[str, dict[str, Callable[[Any], Any]]] = {}

    def read(self, data: bytes, kind: str) -> Any:
        """Return a message with the fields of its type; see `read_cdr`."""
        return read_cdr(self.types, data, kind)

    def write(self, message: Any, kind: str) -> bytes:
        """Return a message of rclpy, or of `read`, as CDR; what pads it is 0."""
        return bytes(self.types.serialize_cdr(self._plain(message, kind), kind))

    def serialise(self, message: Any, kind: str) -> bytes:
        """Return a message whose arrays are those of numpy, as `plain` makes it, as CDR."""
        return bytes(self.types.serialize_cdr(message, kind))

    def canonical(self, data: bytes, kind: str) -> bytes:
        """Return CDR that differs only where the content does."""
        return self.write(self.read(data, kind), kind)

    def _plain(self, message: Any, kind: str) -> Any:
        """Return a message with the field types that rosbags expects."""
        odd = self._odd_fields(kind)
        if not odd:
            return message
        names = (name for name, _ in self.types.fielddefs[kind][1])
        values = {name: getattr(message, name) for name in names}
        values.update({name: change(values[name]) for name, change in odd.items()})
        return self.types.types[kind](**values)

    def _odd_fields(self, kind: str) -> dict[str, Callable[[Any], Any]]:
        """Return how to change those fields of a type for which rclpy has types of its own."""
        if kind in self._odd:
            return self._odd[kind]
        odd: dict[str, Callable[[Any], Any]] = {}
        for name, (node, detail) in self.types.fielddefs[kind][1]:
            repeats = node in (self._nodes.ARRAY, self._nodes.SEQUENCE)
            inner, what = detail[0] if repeats else (node, detail)
            if inner is self._nodes.NAME:
                if self._odd_fields(what):
                    change = functools.partial(self._plain, kind=what)
                    odd[name] = functools.partial(_each, change) if repeats else change
            elif node is self._nodes.SEQUENCE and what[0] != 'string':
                odd[name] = np.asarray
            elif what[0] in ('byte', 'octet'):
                odd[name] = _number
        self._odd[kind] = odd
        return odd


def read_cdr(types: Any, data: bytes, kind: str) -> Any:
    """Return a message with the fields of its type; arrays are those of numpy.

    Parameters
    ----------
    types : rosbags.typesys.store.Typestore
        Knows the type.
    data : bytes
        CDR; rclpy may have left some bytes behind it.
    kind : str
        Name of the type.

    Raises
    ------
    SourceError
        Where the bytes are no such message.
    """
    try:
        definition = types.get_msgdef(kind)
        is_little = data[:2] == b'\x00\x01'
        if not is_little and data[:2] != b'\x00\x00':
            raise ValueError('expected plain CDR')
        read = definition.deserialize_cdr_le if is_little else definition.deserialize_cdr_be
        message, end = read(memoryview(data)[4:], 0, definition.cls, types)
    except Exception as error:
        # Damaged bytes make the generated readers raise whatever comes first.
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise SourceError(kind, f'not such a message: {reason[:200]}') from error
    if len(data) - 4 - end > _SLACK:
        raise SourceError(kind, f'not such a message: {len(data) - 4 - end} bytes too long')
    return message


def _number(byte: bytes | int) -> int:
    return byte if isinstance(byte, int) else byte[0]


def _each(change: Callable[[Any], Any], messages: Any) -> list[Any]:
    return [change(message) for message in messages]
