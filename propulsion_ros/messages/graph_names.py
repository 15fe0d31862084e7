# SPDX-License-Identifier: Apache-2.0
"""Names as the graph has them: of message types, and of the nodes of endpoints."""
from __future__ import annotations

import functools
import importlib
from typing import Any


@functools.cache
def class_of(kind: str) -> Any:
    """Return the message or service class of a name such as 'std_msgs/msg/String'.

    Raises `LookupError` where it is not installed.
    """
    package, folder, name = kind.split('/')
    try:
        return getattr(importlib.import_module(f'{package}.{folder}'), name)
    except (ImportError, AttributeError):
        raise LookupError(f'{kind} is not installed') from None


def is_installed(kind: str) -> bool:
    """Return whether there is a class of this name."""
    try:
        class_of(kind)
    except LookupError:
        return False
    return True


def type_name(kind: Any) -> str:
    """Return the name of a message or service class, such as 'std_msgs/msg/String'."""
    package, folder = kind.__module__.split('.')[:2]
    return f'{package}/{folder}/{kind.__name__}'


def full_name(end: Any) -> str:
    """Return namespace and name of the node of an endpoint, such as '/robot/rotors'."""
    return f'{end.node_namespace.rstrip("/")}/{end.node_name}'
