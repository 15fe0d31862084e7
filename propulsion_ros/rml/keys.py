# SPDX-License-Identifier: Apache-2.0
"""Keys and names that several blocks of the language have."""
from __future__ import annotations

from collections.abc import Sequence

from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.json_node import JsonNode, key

BYTE = range(256)
ADDRESS = (
    key('address', 'node of the flown network', int, choices=BYTE),
    key('destination_service', 'service at that node', int, choices=BYTE),
)
CHANNEL = (key('channel', 'local channel', int, choices=range(4)),)


def identity(kind: str) -> tuple[Parameter, Parameter]:
    """Return the keys that every element of a list of devices has."""
    return (
        key('id', 'its place in the list, from 0', JsonNode),
        key('name', f'for people and messages; `{kind}_<id>` by default', str, None),
    )


def read_place(node: JsonNode, place: int) -> int:
    """Return the place of an element, which its id must repeat."""
    given = node['id']
    if given.value != place or isinstance(given.value, bool):
        raise given.error(f'expected {place}, its place in the list, got {given.value!r}')
    return place


def check_names(nodes: Sequence[JsonNode], names: Sequence[str]) -> None:
    """Refuse an empty name and one that is given twice."""
    for i, (node, name) in enumerate(zip(nodes, names, strict=True)):
        if not name.strip():
            raise node.get('name', '').error('expected a name, got none')
        if name in names[:i]:
            raise node.get('name', '').error(f"'{name}' is named twice")
