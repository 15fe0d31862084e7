# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can cause, each one line that names the wrong value, and their collectors.

The first fault of an input ends its reading, or all of them are collected.
"""
from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_LONGEST = 1000
"""Most characters of an error; most of a longer one would be the content of a file."""
_TAIL = 200


class ConfigError(ValueError):
    """A parameter, plugin tag or file that cannot be used; it stops the start.

    Parameters
    ----------
    key : str
        The wrong value: a parameter, such as ``tanks.capacity``, or a path into a file.
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
    """Add a place, such as a file and a node of it, to an error that names no source."""
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


def warn(text: str) -> None:
    """Warn at the line of the program, the first one outside of the package."""
    frame, level = sys._getframe(), 1
    # Code that is executed alone has no name.
    while frame.f_back and frame.f_globals.get('__name__', '').split('.')[0] == 'propulsion_ros':
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def one_line(text: str) -> str:
    """Return a text for a terminal and a log: one line, shortened.

    Characters that cannot be printed are escaped: those of a file could move the cursor.
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
    """Receives the faults of an input; the first one ends the reading.

    That is enough for a node, which starts only from an input without faults.
    """

    def add(self, error: ConfigError) -> None:
        """Raise a fault."""
        raise error

    def warn(self, path: str, text: str) -> None:
        """Take a likely mistake and its place; reading continues."""

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Take the fault that ends the reading of a part of the input."""
        try:
            yield
        except ConfigError as error:
            self.add(error)


MOST_FAULTS = 50
"""Most faults reported of one file: for each, its place and what was meant take time to find."""

FIRST = Faults()
"""Default of readers."""


class FollowingError(ConfigError):
    """A fault that follows from an earlier one, so that it is not reported."""


class FullError(Exception):
    """A `FaultList` is full."""


class FaultList(Faults):
    """Collects every fault and every warning, so that a user can fix all of them at once.

    After `MOST_FAULTS` it raises `FullError`.
    """

    def __init__(self) -> None:
        self.errors: list[ConfigError] = []
        self.warnings: list[tuple[str, str]] = []

    def add(self, error: ConfigError) -> None:
        """Keep a fault if it is new."""
        known = [str(other) for other in self.errors]
        if not isinstance(error, FollowingError) and str(error) not in known:
            self.errors.append(error)
        if len(self.errors) == MOST_FAULTS:
            self.errors.append(SourceError('more', f'{MOST_FAULTS} faults are shown, fix them'))
            raise FullError

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Take the faults of a whole input, up to `MOST_FAULTS`."""
        with suppress(FullError), self.kept():
            yield

    def warn(self, path: str, text: str) -> None:
        """Keep a warning if it is new."""
        if (path, text) not in self.warnings:
            self.warnings.append((path, text))
