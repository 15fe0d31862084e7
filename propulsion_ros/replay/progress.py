# SPDX-License-Identifier: Apache-2.0
"""A line on a terminal that says how far a long run is."""
from __future__ import annotations

import sys
import time
from pathlib import Path
from types import TracebackType

from propulsion_ros.settings.files import TABLE_LIMIT, opened

_EVERY = 0.2
"""How often the line is drawn anew [s]."""
_WIDTH = 30
_PART = 1024 * 1024


def count_lines(path: Path) -> int:
    """Return how many lines a file has.

    Raises
    ------
    SourceError
        Where it cannot be read.
    """
    with opened(path, TABLE_LIMIT) as file:
        return sum(part.count(b'\n') for part in iter(lambda: file.read(_PART), b''))


class Progress:
    """Draws a bar on standard error where that is a terminal, else nothing.

    Parameters
    ----------
    what : str
        What is being done.
    total : int
        How many steps it takes; 0 where that is not known.

    Attributes
    ----------
    done : int
        Steps that are done.
    """

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._is_shown = sys.stderr.isatty() and total > 0
        self._drawn = 0.0
        self.done = 0

    def __enter__(self) -> Progress:
        return self

    def step(self) -> None:
        """Say that one more step is done."""
        self.at(self.done + 1)

    def at(self, done: int) -> None:
        """Say how many steps are done."""
        self.done = done
        if not self._is_shown:
            return
        now = time.monotonic()
        if now - self._drawn > _EVERY:
            self._drawn = now
            self._draw(done / self._total)

    def _draw(self, share: float) -> None:
        done = round(_WIDTH * min(share, 1.0))
        bar = '#' * done + '-' * (_WIDTH - done)
        print(f'\r{self._what} [{bar}] {share:4.0%}', end='', file=sys.stderr, flush=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_shown and self._drawn:
            print('\r\033[K', end='', file=sys.stderr, flush=True)
