# SPDX-License-Identifier: Apache-2.0
"""Whether the first fault of an input ends its reading, or all of them are collected."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from propulsion_ros.settings.errors import ConfigError, SourceError


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

    Attributes
    ----------
    errors : list of ConfigError
        In the order in which they were found.
    warnings : list of tuple
        Path and text of each.
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
