# SPDX-License-Identifier: Apache-2.0
"""Messages as CDR, the same bytes for the same content, without a ROS installation."""
from __future__ import annotations

from typing import Any

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.optional_packages import how_to_get

MISSING = f'the Python package rosbags reads and writes bags: {how_to_get("rosbags")}'

_SLACK = 64
"""How many bytes rclpy writes behind a message at most."""


class Wire:
    """Reads and writes messages of the types that come with ROS 2; `types` is rosbags' store.

    Raise `SourceError` where the package rosbags is not installed.
    """

    def __init__(self) -> None:
        try:
            # Only those who use bags need it.
            from rosbags.typesys import Stores, get_typestore
        except ImportError as error:
            raise SourceError('rosbags', MISSING) from error
        self.types: Any = get_typestore(Stores.LATEST)

    def read(self, data: bytes, kind: str) -> Any:
        """Return a message with the fields of its type; arrays are those of numpy.

        The bytes are CDR, behind which rclpy may have left some. Raise `SourceError` where they
        are no such message.
        """
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

    def serialise(self, message: Any, kind: str) -> bytes:
        """Return a message whose arrays are those of numpy, as `plain` makes it, as CDR."""
        return bytes(self.types.serialize_cdr(message, kind))


def text_of(error: Exception) -> str:
    """Return the text of an error of a library as one line."""
    return ' '.join(str(error).split()) or type(error).__name__
