"""Tables of commands: what their columns mean."""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Protocol

import numpy as np

from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.replay.csv_rows import LATEST, check_columns, read_number, read_rows
from propulsion_ros.replay.offline import Inputs
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.flat import suggestion

STAMP = 'stamp'
_FIELDS = ('position', 'velocity', 'effort')
_VECTORS = ('com', 'body.velocity', 'body.angular_velocity')
_LONGEST_GAP_NS = 3600 * 1_000_000_000
"""A silence that is longer is taken for a mistake: each step of it would be run."""


def read_header(path: Path) -> tuple[str, list[str], Iterator[tuple[str, list[str]]]]:
    """Return the place of the header, its cells, and the rows that follow with their places.

    Raises
    ------
    SourceError
        Where the file cannot be read or has no line.
    """
    rows = read_rows(path)
    place, header = next(rows, (f'{printable(path)}:1', []))
    if not header:
        raise SourceError(place, f'expected a header {STAMP},..., got no lines')
    return place, header, rows


class Commanded(Protocol):
    """What takes commands.

    Attributes
    ----------
    names : sequence of str
        What can be commanded.
    """

    @property
    def names(self) -> Sequence[str]: ...  # noqa: D102


class Columns:
    """What the columns of a file mean.

    Parameters
    ----------
    place : str
        Of the header, for errors.
    header : sequence of str
        Names of the columns.
    stages : mapping of Commanded
        What they may command.

    Raises
    ------
    SourceError
        For an unknown column, here or of `read` for a wrong cell.
    """

    def __init__(
        self, place: str, header: Sequence[str], stages: Mapping[str, Commanded]
    ) -> None:
        names = [name.strip() for name in header]
        if names[0] != STAMP:
            raise SourceError(place, f'expected {STAMP!r} as the first column, got {names[0]!r}')
        check_columns(place, names)
        known = {
            f'{name}.{field}' for stage in stages.values() for name in stage.names
            for field in _FIELDS if name not in WRENCH_NAMES
        }
        vectors = {f'{vector}.{axis}' for vector in _VECTORS for axis in 'xyz'}
        wrench = {f'wrench.{part}' for part in WRENCH_NAMES}
        known |= vectors | wrench
        for name in names[1:]:
            if name not in known:
                near = suggestion(name, known)
                raise SourceError(place, f'unknown column {name!r}{near}')
        self._names = names
        self._last_ns: int | None = None

    def read(self, place: str, row: Sequence[str]) -> tuple[int, Inputs]:
        """Return the stamp and the inputs of a row."""
        if len(row) != len(self._names):
            raise SourceError(place, f'expected {len(self._names)} cells, got {len(row)}')
        stamp_ns = _stamp(place, row[0])
        if self._last_ns is not None and stamp_ns < self._last_ns:
            raise SourceError(
                place, f'{STAMP}: expected none before {self._last_ns * 1e-9:.9f} s, got {row[0]}'
            )
        if self._last_ns is not None and stamp_ns - self._last_ns > _LONGEST_GAP_NS:
            raise SourceError(
                place, f'{STAMP}: expected a gap of at most {_LONGEST_GAP_NS * 1e-9:g} s, got '
                f'{(stamp_ns - self._last_ns) * 1e-9:g} s'
            )
        self._last_ns = stamp_ns
        inputs = Inputs()
        vectors: dict[str, list[float]] = {}
        for name, cell in zip(self._names[1:], row[1:], strict=True):
            if not cell.strip():
                continue
            value = read_number(place, name, cell)
            owner, _, last = name.rpartition('.')
            if owner in _VECTORS:
                vectors.setdefault(owner, [math.nan] * 3)['xyz'.index(last)] = value
            elif name.startswith('wrench.'):
                inputs.wrench[name.removeprefix('wrench.'), 'effort'] = value
            else:
                inputs.commands[owner, last] = value
        for name, values in vectors.items():
            if not np.isfinite(values).all():
                raise SourceError(place, f'{name}: expected x, y and z, got {values}')
            setattr(inputs, name.removeprefix('body.'), np.array(values))
        return stamp_ns, inputs


def _stamp(place: str, text: str) -> int:
    try:
        seconds = Decimal(text.strip())
    except InvalidOperation:
        seconds = Decimal('nan')
    if not (seconds.is_finite() and 0 <= seconds < LATEST):
        raise SourceError(place, f'{STAMP}: expected seconds, got {text!r}')
    return round(seconds * 1_000_000_000)
