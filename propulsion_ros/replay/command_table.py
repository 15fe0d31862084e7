# SPDX-License-Identifier: Apache-2.0
"""Tables of commands: rows with their places, cells as numbers, and the meaning of columns."""
from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from propulsion_ros.loops.command_reader import CommandRows
from propulsion_ros.models.common.family import FIELDS, WRENCH_NAMES
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import LONGEST_LINE, TABLE_LIMIT, printable, read_lines
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.hints import header_hint, number_hint
from propulsion_ros.settings.quantity import FloatArray

LATEST = 9e9
"""Bound of stamps, as nanoseconds must fit 64 bits [s]."""

KEPT_LIMIT = 128 * 1024**2
"""Largest table whose rows are kept in memory, where they take ten times as much [bytes]."""
_MOST_COLUMNS = 5000  # of a table
STAMP = 'stamp'
_VECTORS = ('com', 'body.velocity', 'body.angular_velocity')
_LONGEST_GAP_NS = 3600 * 1_000_000_000
"""Longest time between rows, in which each step is run; a longer one is an error [ns]."""


def read_rows(path: Path, limit: int = TABLE_LIMIT) -> Iterator[tuple[str, list[str]]]:
    """Yield ``file:line`` and the cells of every row that is not empty, in constant memory.

    Raises `SourceError` naming the file or line of what cannot be read.

    Parameters
    ----------
    limit : int
        Largest size of the file [bytes]; `KEPT_LIMIT` if all rows are kept.
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
        # A small packed file may hold any number of empty rows.
        empty += lines.taken
        if empty > LONGEST_LINE:
            raise SourceError(place, f'has more than {LONGEST_LINE} characters of empty rows')


class _Lines:
    """Lines of a file, with a limit on a row that continues over several lines in quotes."""

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
    """Refuse a header with too many columns, or two of one name."""
    if len(names) > _MOST_COLUMNS:
        raise SourceError(place, f'expected at most {_MOST_COLUMNS} columns, got {len(names)}')
    name, count = next(iter(Counter(names).most_common(1)), ('', 0))
    if count > 1:
        raise SourceError(place, f'expected one column {name!r}, got {count}')


def read_number(place: str, name: str, cell: str) -> float:
    """Return the number of a cell, NaN for an empty one.

    Raises `SourceError` with place and column if it is no number.
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


@dataclass
class Row:
    """Content of one row of a table."""

    commands: dict[tuple[str, str], float] = field(default_factory=dict)
    """Values by name and field."""
    wrench: dict[str, float] = field(default_factory=dict)
    """Parts of a demanded wrench by their names."""
    com: FloatArray | None = None
    velocity: FloatArray | None = None
    angular_velocity: FloatArray | None = None
    """Centre of mass [m] and motion of base_link through the fluid in its axes."""


class Columns:
    """Meaning of the columns of a file.

    Raises `SourceError` for an unknown column; `read` raises it for a wrong cell.

    Parameters
    ----------
    place : str
        Place of the header, for errors.
    names : collection of str
        Names that columns may command.

    Attributes
    ----------
    last_ns : int or None
        Stamp of the last row that was read [ns], None before the first.
    """

    def __init__(self, place: str, header: Sequence[str], names: Collection[str]) -> None:
        columns = [column.strip() for column in header]
        if columns[0] != STAMP:
            parts = [f'expected {STAMP!r} as the first column, got {columns[0]!r}']
            raise SourceError(place, '; '.join([*parts, *filter(None, [header_hint(columns[0])])]))
        check_columns(place, columns)
        commands = {f'{name}.{field}' for name in names for field in FIELDS}
        wrench = {f'wrench.{part}' for part in WRENCH_NAMES}
        vectors = {f'{vector}.{axis}' for vector in _VECTORS for axis in 'xyz'}
        known = commands | wrench | vectors
        for column in columns[1:]:
            if column not in known:
                near = suggestion(column, known) or (
                    f', expected ACTUATOR.{" or .".join(FIELDS)}; actuators: '
                    f'{", ".join(sorted(names))}'
                )
                raise SourceError(place, f'unknown column {column!r}{near}')
        self._columns = columns
        self._targets = [(column, *_target(column)) for column in columns[1:]]
        self.last_ns: int | None = None

    def read(self, place: str, cells: Sequence[str]) -> tuple[int, Row]:
        """Return the stamp of a row [ns] and its content."""
        stamp_ns = self._read_stamp(place, cells)
        row = Row()
        vectors: dict[str, list[float]] = {}
        for (column, kind, owner, key), cell in zip(self._targets, cells[1:], strict=True):
            try:
                value = float(cell)
            except ValueError:
                if not cell.strip():
                    continue
                value = read_number(place, column, cell)
            if kind == 'command':
                row.commands[key] = value
            elif kind == 'wrench':
                row.wrench[owner] = value
            else:
                vectors.setdefault(owner, [math.nan] * 3)['xyz'.index(key[1])] = value
        for name, values in vectors.items():
            if not np.isfinite(values).all():
                raise SourceError(place, f'{name}: expected x, y and z, got {values}')
            setattr(row, name.removeprefix('body.'), np.array(values))
        return stamp_ns, row

    def read_commands(self, rows: Sequence[Sequence[str]]) -> CommandRows | None:
        """Return the commands of rows, of which the first one has been read already.

        Return None unless each cell is the number of a command.
        """
        if any(kind != 'command' for _, kind, _, _ in self._targets) or len(self._columns) < 2:
            return None
        last_ns = self.last_ns
        try:
            stamps = [self._read_stamp('', cells) for cells in rows]
            values = np.array([[float(cell) for cell in cells[1:]] for cells in rows])
        except (SourceError, ValueError):
            return None
        finally:
            self.last_ns = last_ns
        names = list(dict.fromkeys(owner for _, _, owner, _ in self._targets))
        fields: dict[str, FloatArray] = {}
        for (_, _, owner, (_, name)), column in zip(self._targets, values.T, strict=True):
            field = fields.setdefault(name, np.full((len(rows), len(names)), np.nan))
            field[:, names.index(owner)] = column
        return CommandRows(
            np.array(stamps, np.int64), names,
            {name: fields[name] for name in FIELDS if name in fields},
        )

    def _read_stamp(self, place: str, cells: Sequence[str]) -> int:
        if len(cells) != len(self._columns):
            raise SourceError(place, f'expected {len(self._columns)} cells, got {len(cells)}')
        stamp_ns = _stamp(place, cells[0])
        if self.last_ns is not None and stamp_ns < self.last_ns:
            raise SourceError(
                place, f'{STAMP}: expected none before {self.last_ns * 1e-9:.9f} s, got {cells[0]}'
            )
        if self.last_ns is not None and stamp_ns - self.last_ns > _LONGEST_GAP_NS:
            raise SourceError(
                place, f'{STAMP}: expected a gap of at most {_LONGEST_GAP_NS * 1e-9:g} s, got '
                f'{(stamp_ns - self.last_ns) * 1e-9:g} s; stamps are in seconds'
            )
        self.last_ns = stamp_ns
        return stamp_ns


def _target(column: str) -> tuple[str, str, tuple[str, str]]:
    """Return kind and owner of a column, and the pair of its owner and part."""
    owner, _, part = column.rpartition('.')
    if owner in _VECTORS:
        return 'vector', owner, (owner, part)
    if column.startswith('wrench.'):
        return 'wrench', column.removeprefix('wrench.'), (owner, part)
    return 'command', owner, (owner, part)


def _stamp(place: str, text: str) -> int:
    try:
        seconds = Decimal(text.strip())
    except InvalidOperation:
        seconds = Decimal('nan')
    if not (seconds.is_finite() and 0 <= seconds < LATEST):
        raise SourceError(place, f'{STAMP}: expected seconds, got {text!r}')
    return round(seconds * 1_000_000_000)
