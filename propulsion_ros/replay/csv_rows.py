"""CSV files as rows with their places, and cells as numbers and back."""
from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from propulsion_ros.settings.errors import SourceError

LATEST = 9e9
"""No stamp is later [s]: nanoseconds must fit 64 bits."""


def read_rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield ``file:line`` and the cells of every row that is not empty.

    Raises
    ------
    SourceError
        Naming the file or line of what cannot be read.
    """
    try:
        with path.open(encoding='utf-8-sig', newline='') as file:
            yield from _rows(path, file)
    except OSError as error:
        raise SourceError(str(path), f'cannot be read: {error.strerror}') from error
    except UnicodeDecodeError as error:
        raise SourceError(
            str(path), f'expected UTF-8 text, got byte 0x{error.object[error.start]:02x} '
            f'at offset {error.start}'
        ) from error


def _rows(path: Path, file: TextIO) -> Iterator[tuple[str, list[str]]]:
    rows = csv.reader(file, strict=True)
    while True:
        place = f'{path}:{rows.line_num + 1}'
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise SourceError(place, f'expected comma-separated values: {error}') from error
        if row is None:
            return
        if any(cell.strip() for cell in row):
            yield place, row


def read_number(place: str, name: str, cell: str) -> float:
    """Return the number of a cell, NaN for an empty one.

    Raises
    ------
    SourceError
        Naming the place and the column of what is none.
    """
    text = cell.strip()
    try:
        return float(text) if text else math.nan
    except ValueError:
        raise SourceError(place, f'{name}: expected a number, got {text!r}') from None


def stamp_text(stamp_ns: int) -> str:
    """Return a stamp in seconds with all its digits."""
    seconds, nanoseconds = divmod(stamp_ns, 1_000_000_000)
    return f'{seconds}.{nanoseconds:09d}'


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the same number, '' for NaN."""
    return '' if math.isnan(value) else repr(float(value))
