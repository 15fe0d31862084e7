# SPDX-License-Identifier: Apache-2.0
"""What a target of fuzzing is, and what it may do with any bytes."""
from __future__ import annotations

import atexit
import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzz.mutation import Format, mutated
from propulsion_ros.settings.errors import ConfigError

REPOSITORY = Path(__file__).resolve().parent.parent
LONGEST_ERROR = 1100
"""Characters; a refusal is a line, however much came."""


class UnsoundError(Exception):
    """A reader returned what is of no use, or refused with an unreadable text."""


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes
    ----------
    name : str
        Of the reader.
    run : callable
        ``run(data)`` reads some bytes; it returns where they are sound, or raises.
    seeds : callable
        Returns sound inputs to start from.
    errors : tuple of type
        What `run` may raise; anything else is a fault of the package.
    words : tuple of str
        Parts of the language that chance would not find.
    form : Format, optional
        Of what it reads, so that damage can keep it.
    """

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    errors: tuple[type[Exception], ...] = (ConfigError,)
    words: tuple[str, ...] = ()
    form: Format | None = None

    def case(self, seed: int) -> bytes:
        """Return the damaged input of a number, the same in every run."""
        return mutated(self.name, seed, self.seeds(), self.form, self.words)


def outcome(target: Target, data: bytes) -> str:
    """Return the refusal of some bytes, '' where they are sound.

    Raises
    ------
    Exception
        Whatever the target may not raise; `UnsoundError` for a refusal that is no line.
    """
    try:
        target.run(data)
    except target.errors as error:
        text = str(error)
        if not (text.strip() and text.isprintable() and len(text) <= LONGEST_ERROR):
            raise UnsoundError(f'no line that one could read: {text[:LONGEST_ERROR]!r}') from error
        return text
    return ''


def require(condition: bool, what: str) -> None:
    """Raise `UnsoundError` where something that must be so is not."""
    if not condition:
        raise UnsoundError(what)


@functools.cache
def scratch() -> Path:
    """Return a folder of this process for readers of files, removed at its end."""
    folder = tempfile.TemporaryDirectory(prefix='propulsion_ros_fuzz_')
    atexit.register(folder.cleanup)
    return Path(folder.name)


def written(name: str, data: bytes) -> Path:
    """Return a file with these bytes; the next one of its name replaces it."""
    path = scratch() / name
    path.write_bytes(data)
    return path


def shipped(*patterns: str) -> list[bytes]:
    """Return the contents of files of this repository, by patterns of their paths."""
    paths = [path for pattern in patterns for path in sorted(REPOSITORY.glob(pattern))]
    require(bool(paths), f'no file fits {", ".join(patterns)}')
    return [path.read_bytes() for path in paths]


def text_of(data: bytes) -> str:
    """Return bytes as the text that a careless sender could make of them."""
    return data.decode('utf-8', errors='replace')
