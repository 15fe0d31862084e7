# SPDX-License-Identifier: Apache-2.0
"""CSV files as rows with their places, and cells as numbers and back."""
from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import LONGEST_LINE, TABLE_LIMIT, printable, read_lines
from propulsion_ros.settings.hints import number_hint

LATEST = 9e9
"""No stamp is later [s]: nanoseconds must fit 64 bits."""

KEPT_LIMIT = 128 * 1024**2
"""Bytes of a table whose rows are kept in memory, where they take ten times as much."""
_MOST_COLUMNS = 5000


def read_rows(path: Path, limit: int = TABLE_LIMIT) -> Iterator[tuple[str, list[str]]]:
    """Yield ``file:line`` and the cells of every row that is not empty, in constant memory.

    Parameters
    ----------
    path : Path
        The file.
    limit : int
        Bytes that it may have; `KEPT_LIMIT` for who keeps all rows.

    Raises
    ------
    SourceError
        Naming the file or line of what cannot be read.
    """
    name, lines, empty = printable(path), _Lines(path, limit), 0
    rows = csv.reader(lines, strict=True)
    while True:
        lines.place = place = f'{name}:{rows.line_num + 1}'
        lines.taken = 0
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise SourceError(place, f'expected comma-separated values: {error}') from error
        if row is None:
            return
        if any(cell.strip() for cell in row):
            empty = max(0, empty - lines.taken)
            yield place, row
            continue
        # A small archive may hold any number of them.
        empty += lines.taken
        if empty > LONGEST_LINE:
            raise SourceError(place, f'has more than {LONGEST_LINE} characters of empty rows')


class _Lines:
    """Lines of a file; a row that goes on over many of them, inside quotes, has an end too."""

    def __init__(self, path: Path, limit: int) -> None:
        self._lines = read_lines(path, limit)
        self.place, self.taken = '', 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.taken += len(line)
        if self.taken > LONGEST_LINE:
            raise SourceError(self.place, f'is a row of more than {LONGEST_LINE} characters')
        return line


def check_columns(place: str, names: Sequence[str]) -> None:
    """Refuse a header of too many columns, or with a name that two of them have."""
    if len(names) > _MOST_COLUMNS:
        raise SourceError(place, f'expected at most {_MOST_COLUMNS} columns, got {len(names)}')
    name, count = next(iter(Counter(names).most_common(1)), ('', 0))
    if count > 1:
        raise SourceError(place, f'expected one column {name!r}, got {count}')


def read_number(place: str, name: str, cell: str) -> float:
    """Return the number of a cell, NaN for an empty one.

    Raises `SourceError` naming the place and the column of what is none.
    """
    text = cell.strip()
    try:
        return float(text) if text else math.nan
    except ValueError:
        raise SourceError(
            place, f'{name}: expected a number, got {text!r}{number_hint(text)}'
        ) from None


def stamp_text(stamp_ns: int) -> str:
    """Return a stamp in seconds with all its digits."""
    seconds, nanoseconds = divmod(stamp_ns, 1_000_000_000)
    return f'{seconds}.{nanoseconds:09d}'
