# SPDX-License-Identifier: Apache-2.0
"""Keys of JSON documents: declared in the words of `quantity`, read with the path for errors.

A key is a `Parameter`, as those of configurations are: a name, what its value may be, a default.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.settings.quantity import Quantity


class Switch(int):
    """0 or 1, which may be written as false or true: the kind of a key."""


def key(
    name: str,
    doc: str,
    kind: type = float,
    default: Any = dataclasses.MISSING,
    unit: str = '',
    *,
    lo: float = -np.inf,
    hi: float = np.inf,
    above: float = -np.inf,
    choices: Sequence[Any] = (),
) -> Parameter:
    """Return one key of an object.

    Parameters
    ----------
    name, doc : str
        As written, and one phrase.
    kind : type
        float, int, bool, str, `Switch`, or JsonNode for what is read further on.
    default : object, optional
        None for a key that may be absent; without one it is required.
    unit, lo, hi, above
        Of a number, as in `quantity`.
    choices : sequence
        Allowed texts or integers.
    """
    return Parameter(name, Quantity(kind, unit, doc, lo, hi, above, (), choices, ''), default)


def read_key(node: JsonNode, declared: Parameter) -> Any:
    """Return the value of a key of an object, checked; None where it is absent and may be."""
    if declared.required:
        value = node[declared.key]
    elif declared.default is None and not node.has(declared.key):
        return None
    else:
        value = node.get(declared.key, declared.default)
    return _read(value, declared.spec)


def read_keys(node: JsonNode, *groups: Iterable[Parameter]) -> dict[str, Any]:
    """Return all keys of an object by name; one that is not known is refused."""
    declared = [one for group in groups for one in group]
    node.check_keys([one.key for one in declared])
    return {one.key: read_key(node, one) for one in declared}


def _read(node: JsonNode, spec: Quantity) -> Any:
    if spec.kind is float:
        return node.number(spec.lo, spec.above, spec.unit, spec.hi)
    if spec.kind is Switch:
        return int(node.value) if isinstance(node.value, bool) else node.integer((0, 1))
    if spec.kind is int:
        return node.integer(spec.choices)
    if spec.kind is bool:
        return node.flag()
    if spec.kind is str:
        return node.text(spec.choices)
    return node
