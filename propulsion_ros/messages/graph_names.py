# SPDX-License-Identifier: Apache-2.0
"""Names as the graph has them: of message types, and of the nodes of endpoints."""
from __future__ import annotations

import functools
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_TYPE_NAME = re.compile(r'([a-z][a-z0-9_]{0,99})/(msg|srv)/([A-Z][A-Za-z0-9]{0,99})')
_SHOWN = 80


@functools.cache
def class_of(kind: str) -> Any:
    """Return the message or service class of a name such as 'std_msgs/msg/String'.

    Raises `LookupError` where its package is not installed, or has no such type.
    """
    parts = _TYPE_NAME.fullmatch(kind)
    if parts is None:
        raise LookupError(f'{kind[:_SHOWN]!r} is no name of a message type')
    package, folder, name = parts.groups()
    try:
        # A bag may name any package: only one with messages is imported, which runs its code.
        spec = find_spec(package)
        places = (spec.submodule_search_locations if spec else None) or ()
        if not any(Path(place, folder).is_dir() for place in places):
            raise ImportError(f'{package} has no {folder}')
        return getattr(import_module(f'{package}.{folder}'), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise LookupError(f'message type {kind} is not installed') from error


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
