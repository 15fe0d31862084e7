"""Keys of the language as data: what is read, what is checked and what is documented."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from propulsion_ros.settings.json_node import JsonNode

_WORDS = {'flag': 'true or false', 'text': 'text', 'switch': '`0` or `1`'}
REQUIRED = object()
"""Default of a key that must be there."""


@dataclass(frozen=True)
class Key:
    """One key of an object.

    Attributes
    ----------
    name, doc : str
        As written, and one phrase.
    kind : str
        'number', 'integer', 'flag', 'text', 'switch' for 0, 1, true or false, or 'node' for what
        is read further on.
    default : object
        `REQUIRED` for none; None for a key that may be absent.
    unit : str
        Of a number.
    lo, hi, above : float
        Bounds of a number; ``above`` is not allowed itself.
    choices : sequence
        Allowed texts or integers.
    """

    name: str
    doc: str
    kind: str = 'number'
    default: Any = REQUIRED
    unit: str = ''
    lo: float = -math.inf
    hi: float = math.inf
    above: float = -math.inf
    choices: Sequence[Any] = ()

    def read(self, node: JsonNode) -> Any:
        """Return the value of this key in an object, checked."""
        if self.default is not REQUIRED:
            if not node.has(self.name) and self.default is None:
                return None
            node = node.get(self.name, self.default)
        else:
            node = node[self.name]
        if self.kind == 'number':
            return node.number(self.lo, self.above, self.unit, self.hi)
        if self.kind == 'switch':
            return int(node.value) if isinstance(node.value, bool) else node.integer((0, 1))
        if self.kind == 'integer':
            return node.integer(self.choices)
        if self.kind == 'flag':
            return node.flag()
        if self.kind == 'text':
            return node.text(self.choices)
        return node

    @property
    def constraint(self) -> str:
        """Unit, bounds and choices in words."""
        words = [self.unit] if self.unit else []
        if math.isfinite(self.above):
            words.append(f'above {self.above:g}')
        if math.isfinite(self.lo):
            words.append(f'at least {self.lo:g}')
        if math.isfinite(self.hi):
            words.append(f'at most {self.hi:g}')
        if isinstance(self.choices, range) and len(self.choices) > 2:
            words.append(f'{self.choices[0]} to {self.choices[-1]}')
        elif self.choices:
            words.append(' or '.join(f'`{choice}`' for choice in self.choices))
        return ', '.join(words) or _WORDS.get(self.kind, '')


def read_keys(node: JsonNode, *groups: Iterable[Key]) -> dict[str, Any]:
    """Return all keys of an object by name; one that is not known is refused."""
    keys = [key for group in groups for key in group]
    node.check_keys([key.name for key in keys])
    return {key.name: key.read(node) for key in keys}


BYTE = range(256)
ADDRESS = (
    Key('address', 'node of the flown network', 'integer', choices=BYTE),
    Key('destination_service', 'service at that node', 'integer', choices=BYTE),
)
CHANNEL = (Key('channel', 'local channel', 'integer', choices=range(4)),)


def identity(kind: str) -> tuple[Key, Key]:
    """Return the keys that every element of a list of devices has."""
    return (
        Key('id', 'its place in the list, from 0', 'node'),
        Key('name', f'for people and messages; `{kind}_<id>` by default', 'text', None),
    )


def read_place(node: JsonNode, place: int, *, is_optional: bool = False) -> int:
    """Return the place of an element, which its id must repeat."""
    if is_optional and not node.has('id'):
        return place
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
