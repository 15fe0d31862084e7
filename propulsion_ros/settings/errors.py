# SPDX-License-Identifier: Apache-2.0
"""The two errors that a user can cause; both carry one line that names the thing."""
from __future__ import annotations

_LONGEST = 1000
"""Characters of an error; most of a longer one is what a file has in it."""
_TAIL = 200


class ConfigError(ValueError):
    """A parameter, plugin tag or file that cannot be used; it stops the start.

    Parameters
    ----------
    key : str
        What is wrong: a parameter, ``tanks.capacity``, or a path into a file.
    problem : str
        What was found and what was expected.
    index : int, optional
        Element of an array parameter.
    """

    def __init__(self, key: str, problem: str, index: int | None = None) -> None:
        self.key = key
        self.problem = problem
        self.index = index
        super().__init__(key, problem, index)

    def __str__(self) -> str:
        element = '' if self.index is None else f'[{self.index}]'
        return one_line(f"parameter '{self.key}{element}': {self.problem}")

    def under(self, group: str) -> ConfigError:
        """Return the same error with its key inside the parameter group ``group``."""
        return type(self)(f'{group}.{self.key}', self.problem, self.index)


class SourceError(ConfigError):
    """A `ConfigError` whose key is a path into a file, such as an XML path."""

    def __str__(self) -> str:
        return one_line(f'{self.key}: {self.problem}')


class CommandError(ValueError):
    """A command message that is refused as a whole."""

    def __str__(self) -> str:
        return one_line(super().__str__())


def one_line(text: str) -> str:
    """Return a text as a terminal and a log can take it: one line, not for ever.

    What cannot be printed is escaped: a foreign file may hold what moves a cursor.
    """
    text = _cut(text)
    if text.isprintable():
        return text
    return _cut(''.join(c if c.isprintable() else ascii(c)[1:-1] for c in text))


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f'{text[:_LONGEST - _TAIL]} ... {text[-_TAIL:]}'
