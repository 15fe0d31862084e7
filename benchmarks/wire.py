# SPDX-License-Identifier: Apache-2.0
"""CDR that differs only where the content does, of messages of rclpy too.

What rclpy serialises has bytes between and behind the fields that nobody has set.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from rosbags.interfaces import Nodetype

from propulsion_ros.replay import plain


class Wire(plain.Wire):
    """Writes messages of rclpy as well as those that it reads."""

    def __init__(self) -> None:
        super().__init__()
        self._odd: dict[str, dict[str, Callable[[Any], Any]]] = {}

    def write(self, message: Any, kind: str) -> bytes:
        """Return a message of rclpy, or of `read`, as CDR; what pads it is 0."""
        return bytes(self.types.serialize_cdr(self._plain(message, kind), kind))

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
            repeats = node in (Nodetype.ARRAY, Nodetype.SEQUENCE)
            inner, what = detail[0] if repeats else (node, detail)
            if inner is Nodetype.NAME:
                if self._odd_fields(what):
                    change = functools.partial(self._plain, kind=what)
                    odd[name] = functools.partial(_each, change) if repeats else change
            elif node is Nodetype.SEQUENCE and what[0] != 'string':
                odd[name] = np.asarray
            elif what[0] in ('byte', 'octet'):
                odd[name] = _number
        self._odd[kind] = odd
        return odd


def _number(byte: bytes | int) -> int:
    return byte if isinstance(byte, int) else byte[0]


def _each(change: Callable[[Any], Any], messages: Any) -> list[Any]:
    return [change(message) for message in messages]
