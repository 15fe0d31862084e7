# SPDX-License-Identifier: Apache-2.0
"""JSON with comments and commas at the end, in linear time; small texts of JSON5 beside it."""
from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import json5
import yaml

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.ros_yaml import FAST_LOADER

JSON5_LIMIT = 32 * 1024
"""Characters; json5 takes up to 60 us for each."""

_LONGEST_NUMBER = 1000
# A string or comment without an end goes to the end of the text, or finding that takes its square.
_STRING = r'"(?:[^"\\]|\\.)*(?:"|\Z)'
_COMMENT = re.compile(rf'({_STRING})|//[^\n\r\u2028\u2029]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(rf'({_STRING})|,(?=\s*[\]}}])', re.DOTALL)
_STEP = re.compile(r'\.?([^.\[\]]+)|\[(\d+)\]')
_LINE = re.compile(r'(?:<string>:|line )(\d+)')
_HINTS = {
    'Unexpected """': '; is a comma missing before it?',
    'Unexpected "}"': '; is a bracket before it not closed, or a value missing?',
    'Duplicate key': '; remove one',
}
"""What to do, by the words of the parsers."""
_NO_VALUE = ('', '[', '{', ',', ':')
_HEXADECIMAL = re.compile(rf'0[xX][0-9a-fA-F]{{{_LONGEST_NUMBER}}}')


def parse_jsonc(text: str) -> Any:
    """Return the value of a text.

    Raises `SourceError` with line and column, where it is no JSON, or a key is given twice.
    """
    try:
        return _loads(text)
    except ValueError:
        pass
    try:
        return _loads(without_comments(text))
    except ValueError as error:
        if len(text) > JSON5_LIMIT:
            raise _no_json(error) from error
    return _json5(text)


def line_of(text: str, path: str) -> int:
    """Return the line of a value by its path, such as ``Events[1].action``, 0 where not known.

    A value that is absent has the line of what it should be in.
    """
    try:
        # JSON without comments is YAML, whose parser keeps the lines.
        node = yaml.compose(without_comments(text), FAST_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):
        return 0
    line = 0
    for step in _STEP.finditer(path):
        found = _inside(node, step[1], step[2])
        if found is None:
            break
        line, node = found
    return line


def _inside(node: Any, key: str | None, index: str | None) -> tuple[int, Any] | None:
    """Return line and node of a member of an object, or of an element of a list."""
    if key is not None and isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == key:
                return name.start_mark.line + 1, value
    if index is not None and isinstance(node, yaml.SequenceNode) and int(index) < len(node.value):
        value = node.value[int(index)]
        return value.start_mark.line + 1, value
    return None


def line_in(error: SourceError) -> int:
    """Return the line that the error of a text that is no JSON names, 0 where it names none."""
    found = _LINE.search(error.problem)
    return int(found[1]) if found else 0


def without_comments(text: str) -> str:
    """Return a text with blanks for comments and for commas at an end; lines and columns stay."""
    return _COMMA.sub(_comma, _COMMENT.sub(_blank, text))


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once, parse_int=_integer)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f'Duplicate key "{twice}" found in object')
    return value


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError(f'a number of {len(digits)} characters')
    return int(digits)


def _json5(text: str) -> Any:
    """Parse what is more than comments and commas; this parser is slow."""
    if _HEXADECIMAL.search(text):
        raise SourceError('document', f'is not JSON: a number of over {_LONGEST_NUMBER} digits')
    try:
        return json5.loads(text, allow_duplicate_keys=False)
    except ValueError as error:
        raise _no_json(error) from error
    except RecursionError as error:
        raise SourceError('document', 'is nested too deeply') from error


def _no_json(error: ValueError) -> SourceError:
    text = ' '.join(str(error).split())
    hint = next((hint for words, hint in _HINTS.items() if words in text), '')
    return SourceError('document', f'is not JSON: {text}{hint}')


def _blank(found: re.Match[str]) -> str:
    """Return a string, or a comment without an end, as it is, another comment as blanks."""
    if found[1] or (found[0].startswith('/*') and not found[0][2:].endswith('*/')):
        return found[0]
    return re.sub(r'[^\n\r]', ' ', found[0])


def _comma(found: re.Match[str]) -> str:
    """Return a string as it is, and a blank for a comma that follows a value."""
    if found[1]:
        return found[1]
    at = found.start() - 1
    while at >= 0 and found.string[at].isspace():
        at -= 1
    return ',' if found.string[max(at, 0):at + 1] in _NO_VALUE else ' '
