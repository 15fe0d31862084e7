# SPDX-License-Identifier: Apache-2.0
"""JSON with comments, and values of a document that know their path, so that errors can name it.

A text with comments and trailing commas takes linear time; other syntax of JSON5 is read only in
small texts. A key of an object is a `Parameter`, as those of configurations are: a name, a
specification of its value, a default.
"""
from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import json5
import yaml

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import DEEPEST
from propulsion_ros.settings.flat import Parameter, suggestion
from propulsion_ros.settings.hints import number_hint
from propulsion_ros.settings.quantity import Quantity, out_of_bounds
from propulsion_ros.settings.ros_yaml import FAST_LOADER

JSON5_LIMIT = 32 * 1024
"""Most characters of a text for json5, which takes up to 60 us for each."""

_LONGEST_NUMBER = 1000
# A string or comment without an end extends to the end of the text, or the time is quadratic.
_STRING = r'"(?:[^"\\]|\\.)*(?:"|\Z)'
_COMMENT = re.compile(rf'({_STRING})|//[^\n\r\u2028\u2029]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(rf'({_STRING})|,(?=\s*[\]}}])', re.DOTALL)
_STEP = re.compile(r'\.?([^.\[\]]+)|\[(\d+)\]')
_LINE = re.compile(r'line (\d+)')
_PLACE = re.compile(r'^<string>:(\d+) (.*) at column')
_HINTS = {
    **{f'Unexpected "{sign}"': '; is a comma missing before it?' for sign in '"{['},
    **{f'Unexpected "{sign}"': '; is a comma too many before it?' for sign in ', '},
    'Unexpected "}"': '; is a bracket before it not closed, or a value missing?',
    'Duplicate key': '; remove one',
}
"""Advice, by words in the errors of the parsers."""
_NO_VALUE = ('', '[', '{', ',', ':')
_HEXADECIMAL = re.compile(rf'0[xX][0-9a-fA-F]{{{_LONGEST_NUMBER}}}')


def parse_jsonc(text: str, deepest: int = DEEPEST) -> Any:
    """Return the value of a text.

    Raises `SourceError` with line and column if it is no JSON, a key is given twice, or lists and
    objects are nested deeper than ``deepest``.
    """
    try:
        value = _parsed(text)
        if _depth(value) <= deepest:
            return value
    except RecursionError:
        pass
    raise SourceError('document', f'is nested too deeply, more than {deepest} levels')


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            without_comments(text), object_pairs_hook=_once, parse_int=_integer
        )
    except ValueError as error:
        if len(text) > JSON5_LIMIT:
            raise _no_json(error) from error
    return _json5(text)


def _depth(value: Any) -> int:
    """Return how deeply lists and objects are nested, 0 for neither."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def line_of(text: str, path: str) -> int:
    """Return the line of a value by its path, such as ``Events[1].action``, 0 if not known.

    For an absent value it is the line of the object or list that should contain it.
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
    """Return the line in the error of a text that is no JSON, 0 if it has none."""
    found = _LINE.search(error.problem)
    return int(found[1]) if found else 0


def without_comments(text: str) -> str:
    """Return a text with blanks for comments and trailing commas; lines and columns stay."""
    return _COMMA.sub(_comma, _COMMENT.sub(_blank, text))


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
    """Parse other syntax of JSON5, by a slow parser."""
    if _HEXADECIMAL.search(text):
        raise SourceError('document', f'is not JSON: a number of over {_LONGEST_NUMBER} digits')
    try:
        return json5.loads(text, allow_duplicate_keys=False)
    except ValueError as error:
        raise _no_json(error) from error


def _no_json(error: ValueError) -> SourceError:
    text = _PLACE.sub(r'\2 at line \1 column', ' '.join(str(error).split()))
    hint = next((hint for words, hint in _HINTS.items() if words in text), '')
    return SourceError('document', f'is not JSON: {text}{hint}')


def _blank(found: re.Match[str]) -> str:
    """Return a string or a comment without an end unchanged, any other comment as blanks."""
    if found[1] or (found[0].startswith('/*') and not found[0][2:].endswith('*/')):
        return found[0]
    return re.sub(r'[^\n\r]', ' ', found[0])


def _comma(found: re.Match[str]) -> str:
    """Return a string unchanged, and a blank for a comma that follows a value."""
    if found[1]:
        return found[1]
    at = found.start() - 1
    while at >= 0 and found.string[at].isspace():
        at -= 1
    return ',' if found.string[max(at, 0):at + 1] in _NO_VALUE else ' '


_WORDS = {dict: 'an object', list: 'a list', str: 'a string', bool: 'true or false'}


class JsonNode:
    """One value with its path; every method that reads it raises `SourceError` with that path."""

    def __init__(self, value: Any, path: str = '') -> None:
        self.value = value
        self.path = path

    def error(self, problem: str) -> SourceError:
        """Return an error at this path."""
        return SourceError(self.path or 'document', problem)

    def has(self, key: str) -> bool:
        """Return whether this is an object with a value for the key."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def __getitem__(self, key: str) -> JsonNode:
        path = f'{self.path}.{key}' if self.path else key
        if not isinstance(self.value, dict):
            raise self._expected('an object')
        if key not in self.value:
            raise SourceError(path, 'is missing')
        return JsonNode(self.value[key], path)

    def get(self, key: str, default: Any) -> JsonNode:
        """Return the value of a key, or the default at its path."""
        if self.has(key):
            return self[key]
        return JsonNode(default, f'{self.path}.{key}' if self.path else key)

    def check_keys(self, known: Iterable[str]) -> None:
        """Refuse every key that is not known, with a suggestion."""
        self._typed(dict)
        allowed = list(known)
        for key in self.value:
            if key not in allowed:
                hint = suggestion(key, allowed) or f', expected {", ".join(allowed)}'
                path = f'{self.path}.{key}' if self.path else key
                raise SourceError(path, f'unknown key{hint}')

    def items(self) -> list[JsonNode]:
        """Return the elements of a list."""
        values: list[Any] = self._typed(list)
        return [JsonNode(value, f'{self.path}[{i}]') for i, value in enumerate(values)]

    def text(self, choices: Sequence[str] = ()) -> str:
        """Return a string, which must be one of the choices if there are any."""
        value: str = self._typed(str)
        if choices and value not in choices:
            hint = suggestion(value, choices) or f', expected {" or ".join(choices)}'
            raise self.error(f"unknown '{value}'{hint}")
        return value

    def flag(self) -> bool:
        """Return true or false."""
        value: bool = self._typed(bool)
        return value

    def number(
        self,
        lo: float = -math.inf,
        above: float = -math.inf,
        unit: str = '',
        hi: float = math.inf,
    ) -> float:
        """Return a finite number from ``lo`` to ``hi`` that is greater than ``above``."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._expected('a number', number_hint(value))
        if not abs(value) <= 1e300:
            raise self.error('expected a finite number')
        problem = out_of_bounds(value, lo, hi, above, unit)
        if problem:
            raise self.error(problem)
        return float(value)

    def integer(self, allowed: Sequence[int]) -> int:
        """Return a whole number that is one of those allowed, such as a range."""
        value = self.value
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not is_whole:
            raise self._expected('an integer')
        if int(value) not in allowed:
            raise self.error(f'expected {_span(allowed)}, got {int(value)}')
        return int(value)

    def _typed(self, kind: type) -> Any:
        if not isinstance(self.value, kind):
            raise self._expected(_WORDS[kind])
        return self.value

    def _expected(self, what: str, hint: str = '') -> SourceError:
        text = repr(self.value)
        return self.error(
            f'expected {what}, got {text if len(text) < 40 else text[:36] + " ..."}{hint}'
        )


def _span(allowed: Sequence[int]) -> str:
    if not allowed:
        return 'nothing, there is none'
    # A range of 64 bits has no len().
    if isinstance(allowed, range) and allowed[2:]:
        return f'{allowed[0]} to {allowed[-1]}'
    return ' or '.join(str(value) for value in allowed)


class Switch(int):
    """Kind of a key: 0 or 1, which may be written as false or true."""


def key(
    name: str,
    doc: str,
    kind: type = float,
    default: Any = dataclasses.MISSING,
    unit: str = '',
    **limits: Any,
) -> Parameter:
    """Return one key of an object, with the limits of a `Quantity`.

    Parameters
    ----------
    name, doc : str
        The key as written, and its meaning in one phrase.
    kind : type
        float, int, bool, str, `Switch`, or JsonNode for a value that the caller reads.
    default : object, optional
        None for a key that may be absent; a key without a default is required.
    """
    return Parameter(name, Quantity(kind, unit, doc, **limits), default)


def read_key(node: JsonNode, declared: Parameter) -> Any:
    """Return the checked value of a key of an object; None if it is absent and may be."""
    if declared.required:
        value = node[declared.key]
    elif declared.default is None and not node.has(declared.key):
        return None
    else:
        value = node.get(declared.key, declared.default)
    return _read(value, declared.spec)


def read_keys(node: JsonNode, *groups: Iterable[Parameter]) -> dict[str, Any]:
    """Return the values of all keys of an object by name; unknown keys are refused."""
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
