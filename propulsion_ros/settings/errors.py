# SPDX-License-Identifier: Apache-2.0
"""The errors that a user can cause, one line each that names the thing, and what collects them.

The first fault of an input ends its reading, or all of them are collected.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

_LONGEST = 1000
"""Characters of an error; most of a longer one is what a file has in it."""
_TAIL = 200


class ConfigError(ValueError):
    """A parameter, plugin tag or file that cannot be used; it stops the start.

    Parameters
    ----------
    key : str
        What is wrong: a parameter, ``tanks.capacity``, or a path into a file.
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


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Let an error that names no source name a place, such as a file and a node of it."""
    try:
        yield
    except SourceError:
        raise
    except ConfigError as error:
        raise SourceError(place, str(error)) from error


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


class Faults:
    """Receives what is wrong with an input; the first fault ends the reading.

    A node starts from an input without faults, so the first one is enough for it.
    """

    def add(self, error: ConfigError) -> None:
        """Take a fault: raise it."""
        raise error

    def warn(self, path: str, text: str) -> None:
        """Take what is likely a mistake, and where it is; it stops nothing."""

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Take the fault that ends a part of the input."""
        try:
            yield
        except ConfigError as error:
            self.add(error)


MOST_FAULTS = 50
"""What is reported of one file: each needs time to find its place and what was meant."""

FIRST = Faults()
"""What readers use where no other is given."""


class FollowingError(ConfigError):
    """A fault that an earlier one explains: nothing to fix."""


class FullError(Exception):
    """A `FaultList` has as many faults as it takes."""


class FaultList(Faults):
    """Collects every fault and every warning, so that a user can fix all of them at once.

    After `MOST_FAULTS` it raises `FullError`.
    """

    def __init__(self) -> None:
        self.errors: list[ConfigError] = []
        self.warnings: list[tuple[str, str]] = []

    def add(self, error: ConfigError) -> None:
        """Keep a fault, once."""
        known = [str(other) for other in self.errors]
        if not isinstance(error, FollowingError) and str(error) not in known:
            self.errors.append(error)
        if len(self.errors) == MOST_FAULTS:
            self.errors.append(SourceError('more', f'{MOST_FAULTS} faults are shown, fix them'))
            raise FullError

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Take the faults of a whole input, up to those that are reported."""
        with suppress(FullError), self.kept():
            yield

    def warn(self, path: str, text: str) -> None:
        """Keep a warning, once."""
        if (path, text) not in self.warnings:
            self.warnings.append((path, text))
