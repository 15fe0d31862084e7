# SPDX-License-Identifier: Apache-2.0
"""The text of a configuration as a tree of values."""
from __future__ import annotations

from typing import Any

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.settings.jsonc import parse_jsonc

LEGACY_NESTING = 10
"""Deepest nesting of lists and objects that the flown parser takes."""
_DEEPEST = 200


def parse(text: str, max_nesting: int = _DEEPEST) -> JsonNode:
    """Return the document of a JSONC text.

    Raises
    ------
    SourceError
        Where it is no JSON, a key is given twice, or it is nested too deeply.
    """
    # The parser recurses, so what is far too deep is refused before it sees it.
    if _brackets(text) > 2 * _DEEPEST:
        raise SourceError('document', 'is nested too deeply')
    value = parse_jsonc(text)
    if _depth(value) > max_nesting:
        raise SourceError('document', f'is nested too deeply, more than {max_nesting} levels')
    return JsonNode(value)


def _brackets(text: str) -> int:
    """Return an upper bound of the nesting."""
    depth = deepest = 0
    for character in text:
        if character in '[{':
            depth += 1
            deepest = max(deepest, depth)
        elif character in ']}':
            depth -= 1
    return deepest


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while True:
        inner = [child for item in level for child in _children(item)]
        if not any(isinstance(item, (dict, list)) for item in level):
            return depth
        level, depth = inner, depth + 1


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return list(item) if isinstance(item, list) else []
