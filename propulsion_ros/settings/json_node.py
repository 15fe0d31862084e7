# SPDX-License-Identifier: Apache-2.0
"""A value of a JSON document that knows its path, so that every error can name it."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.hints import number_hint
from propulsion_ros.settings.quantity import out_of_bounds

_WORDS = {dict: 'an object', list: 'a list', str: 'a string', bool: 'true or false'}


class JsonNode:
    """One value with its path; every reader raises `SourceError` with that path.

    Attributes
    ----------
    path : str
        Such as 'Events[1].condition.operator'; '' for the document.
    value : object
        As parsed.
    """

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
        """Return a string, one of the choices where there are any."""
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
