# SPDX-License-Identifier: Apache-2.0
"""Names of ROS: of topics, nodes, message types and endpoints, and the domain."""
from __future__ import annotations

import functools
import os
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from propulsion_ros.settings.errors import SourceError

_WORD = '[A-Za-z_][A-Za-z0-9_]*'
_TYPE_NAME = re.compile(r'([a-z][a-z0-9_]{0,99})/(msg|srv)/([A-Z][A-Za-z0-9]{0,99})')
_SHOWN = 80


def is_name(text: str, before: str = '') -> bool:
    """Return whether ROS allows a text as the name of a topic, after one of ``before`` or none."""
    first = f'[{before}]?' if before else ''
    return re.fullmatch(f'{first}{_WORD}(/{_WORD})*', text) is not None


def check_namespace(text: str) -> None:
    """Raise `SourceError` for a namespace that ROS does not allow."""
    if text.strip('/') and not is_name(text.removesuffix('/'), before='/'):
        raise SourceError('namespace', f"expected names separated by '/', got {text!r}")


def as_word(text: str) -> str:
    """Return the nearest name of a node."""
    word = re.sub('[^A-Za-z0-9_]', '_', text)
    return word if re.fullmatch(_WORD, word) else f'_{word}'


_VARIABLE = 'ROS_DOMAIN_ID'
_LONGEST = 10
_LAST = 232
"""Last domain: the ports of the next one would be above 65535."""


def domain_id() -> int:
    """Return the domain, 0 if none is given; raise `SourceError` that names the variable."""
    text = os.environ.get(_VARIABLE, '') or '0'
    is_number = text.isascii() and text.isdecimal() and len(text) < _LONGEST
    if not is_number or int(text) > _LAST:
        raise SourceError(
            _VARIABLE, f'expected an integer from 0 to {_LAST} in the environment, got {text!r}'
        )
    return int(text)


@functools.cache
def class_of(kind: str) -> Any:
    """Return the message or service class of a name such as 'std_msgs/msg/String'.

    Raises `LookupError` if its package is not installed, or has no such type.
    """
    parts = _TYPE_NAME.fullmatch(kind)
    if parts is None:
        raise LookupError(f'{kind[:_SHOWN]!r} is no name of a message type')
    package, folder, name = parts.groups()
    try:
        # A bag may name any package, and an import runs its code: import only one with messages.
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
