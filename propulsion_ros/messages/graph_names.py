"""Names as the graph has them: of message types, and of the nodes of endpoints."""
from __future__ import annotations

from typing import Any


def type_name(kind: Any) -> str:
    """Return the name of a message or service class, such as 'std_msgs/msg/String'."""
    package, folder = kind.__module__.split('.')[:2]
    return f'{package}/{folder}/{kind.__name__}'


def full_name(end: Any) -> str:
    """Return namespace and name of the node of an endpoint, such as '/robot/rotors'."""
    return f'{end.node_namespace.rstrip("/")}/{end.node_name}'
