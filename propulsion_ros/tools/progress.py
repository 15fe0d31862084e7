"""A line on a terminal that says how far a long run is."""
from __future__ import annotations

import sys
import time
from pathlib import Path
from types import TracebackType

_EVERY = 0.2
"""How often the line is drawn anew [s]."""
_WIDTH = 30


class Progress:
    """Draws a bar on standard error where that is a terminal, else nothing.

    Parameters
    ----------
    path : Path
        File that is read.
    what : str
        What is being done.
    """

    def __init__(self, path: Path, what: str) -> None:
        self._what = what
        # A pipe can be read once only.
        self._is_shown = sys.stderr.isatty() and path.is_file()
        self._lines = 0
        self._drawn = 0.0
        if self._is_shown:
            with path.open('rb') as file:
                self._lines = sum(1 for _ in file)

    def __enter__(self) -> Progress:
        return self

    def at(self, place: str) -> None:
        """Say that a line, ``file:number``, is done."""
        now = time.monotonic()
        if self._is_shown and now - self._drawn > _EVERY:
            self._drawn = now
            self._draw(int(place.rpartition(':')[2]) / max(self._lines, 1))

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
