"""The command ``replay``: run actuator nodes over a file of commands, exactly and without ROS."""
from __future__ import annotations

import argparse
import csv
import math
import sys
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TextIO

import numpy as np

from propulsion_ros.errors import ConfigError, SourceError
from propulsion_ros.models.family import WRENCH_NAMES
from propulsion_ros.schema import suggestion
from propulsion_ros.share import load_robot_description
from propulsion_ros.tools.csv_rows import read_rows
from propulsion_ros.tools.offline import Inputs, OfflineRun, Stage, Values
from propulsion_ros.tools.offline_config import make_stages
from propulsion_ros.tools.progress import Progress

_STAMP = 'stamp'
_FIELDS = ('position', 'velocity', 'effort')
_VECTORS = ('com', 'body.velocity', 'body.angular_velocity')
_LONGEST_GAP_NS = 3600 * 1_000_000_000
"""A silence that is longer is taken for a mistake: each step of it would be run."""
_LONGEST = Decimal(9_000_000_000)
"""No stamp is later [s]: nanoseconds must fit 64 bits."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'config', type=Path, metavar='CONFIG', help='parameter file of the nodes (YAML)'
    )
    parser.add_argument(
        'input', type=Path, metavar='INPUT',
        help='commands, CSV: stamp, <name>.<field>, wrench.force.x ... wrench.torque.z, com.x, '
        'body.velocity.x, body.angular_velocity.x; an empty cell is no new command',
    )
    parser.add_argument('output', type=Path, metavar='OUTPUT', help='what the nodes say, CSV')
    parser.add_argument('--model', type=Path, help='URDF or xacro with their plugin blocks')
    parser.add_argument(
        '--node', action='append', metavar='NAME',
        help='run only this node of the file (repeat for several)',
    )


def run(args: argparse.Namespace) -> int:
    """Replay a file; return the exit code."""
    try:
        counts = _replay(args)
    except ConfigError as error:
        print(f'propulsion_ros replay: {error}', file=sys.stderr)
        return 1
    except OSError as error:
        reason = error.strerror or error
        print(f'propulsion_ros replay: {args.output}: {reason}', file=sys.stderr)
        return 1
    said = ', '.join(f'{count} {what}' for what, count in counts.items() if count)
    print(f'propulsion_ros replay: {args.output}: {said}', file=sys.stderr)
    return 0


def _replay(args: argparse.Namespace) -> Counter[str]:
    """Run all rows of a file and return what became of them."""
    path: Path = args.input
    description = load_robot_description(args.model) if args.model else ''
    rows = read_rows(path)
    place, header = next(rows, (f'{path}:1', []))
    if not header:
        raise SourceError(place, f'expected a header {_STAMP},..., got no lines')
    has_motion = any(name.strip().startswith('body.') for name in header)
    counts: Counter[str] = Counter(rows=0)
    said: set[str] = set()
    # What was there stays until all rows are run, and may be what is read.
    unfinished = args.output.with_name(f'{args.output.name}.unfinished')
    try:
        with unfinished.open('w', encoding='utf-8', newline='') as file:
            table = Table(file)
            stages = make_stages(
                args.config, description, args.node or (), table.sink, has_motion
            )
            columns = _Columns(place, header, stages)
            table.begin(stages)
            offline = OfflineRun(list(stages.values()), table.complete)
            with Progress(path, 'replay') as progress:
                for place, row in rows:
                    stamp_ns, inputs = columns.read(place, row)
                    for error in offline.row(stamp_ns, inputs):
                        counts['refused'] += 1
                        if str(error) not in said:
                            said.add(str(error))
                            print(f'{place}: refused: {error}', file=sys.stderr)
                    counts['rows'] += 1
                    progress.at(place)
            table.end()
        unfinished.replace(args.output)
    finally:
        unfinished.unlink(missing_ok=True)
    counts['ticks'] = table.count
    for stage in stages.values():
        counts += stage.counts
    return counts


class _Columns:
    """What the columns of a file mean."""

    def __init__(self, place: str, header: Sequence[str], stages: dict[str, Stage]) -> None:
        names = [name.strip() for name in header]
        if names[0] != _STAMP:
            raise SourceError(place, f'expected {_STAMP!r} as the first column, got {names[0]!r}')
        for name in names:
            if names.count(name) > 1:
                raise SourceError(place, f'expected one column {name!r}, got {names.count(name)}')
        known = {
            f'{name}.{field}' for stage in stages.values() for name in stage.names
            for field in _FIELDS if name not in WRENCH_NAMES
        }
        vectors = {f'{vector}.{axis}' for vector in _VECTORS for axis in 'xyz'}
        wrench = {f'wrench.{part}' for part in WRENCH_NAMES}
        for name in names[1:]:
            if name not in known | vectors | wrench:
                near = suggestion(name, known | vectors | wrench)
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
                place, f'{_STAMP}: expected none before {self._last_ns * 1e-9:.9f} s, got {row[0]}'
            )
        if self._last_ns is not None and stamp_ns - self._last_ns > _LONGEST_GAP_NS:
            raise SourceError(
                place, f'{_STAMP}: expected a gap of at most {_LONGEST_GAP_NS * 1e-9:g} s, got '
                f'{(stamp_ns - self._last_ns) * 1e-9:g} s'
            )
        self._last_ns = stamp_ns
        inputs = Inputs()
        vectors: dict[str, list[float]] = {}
        for name, cell in zip(self._names[1:], row[1:], strict=True):
            text = cell.strip()
            if not text:
                continue
            value = _number(place, name, text)
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


class Table:
    """A CSV file with one row for each stamp at which any node says something.

    Parameters
    ----------
    file : TextIO
        Open for writing.
    """

    def __init__(self, file: TextIO) -> None:
        self._writer = csv.writer(file)
        self._rows: dict[int, Values] = {}
        self.count = 0

    def begin(self, stages: dict[str, Stage]) -> None:
        """Write the header."""
        self._prefix = {name: f'{name}/' if len(stages) > 1 else '' for name in stages}
        self._columns = [
            self._prefix[name] + column for name, stage in stages.items()
            for column in stage.columns
        ]
        self._writer.writerow([_STAMP, *self._columns])

    def sink(self, node: str, stamp_ns: int, values: Values) -> None:
        """Take what a node says at a stamp."""
        row = self._rows.setdefault(stamp_ns, {})
        prefix = self._prefix[node]
        row.update({prefix + column: value for column, value in values.items()})

    def complete(self, stamp_ns: int) -> None:
        """Write the rows that nothing can be added to any more: those before a stamp."""
        if not any(stamp < stamp_ns for stamp in self._rows):
            return
        for due_ns in sorted(stamp for stamp in self._rows if stamp < stamp_ns):
            self._write(due_ns, self._rows.pop(due_ns))

    def end(self) -> None:
        """Write what is left."""
        for due_ns in sorted(self._rows):
            self._write(due_ns, self._rows.pop(due_ns))

    def _write(self, stamp_ns: int, row: Values) -> None:
        seconds, nanoseconds = divmod(stamp_ns, 1_000_000_000)
        cells = (row.get(column, math.nan) for column in self._columns)
        self._writer.writerow([
            f'{seconds}.{nanoseconds:09d}',
            # The shortest text that reads back as the same number.
            *('' if math.isnan(cell) else repr(float(cell)) for cell in cells),
        ])
        self.count += 1


def _stamp(place: str, text: str) -> int:
    try:
        seconds = Decimal(text.strip())
    except InvalidOperation:
        seconds = Decimal('nan')
    if not (seconds.is_finite() and 0 <= seconds < _LONGEST):
        raise SourceError(place, f'{_STAMP}: expected seconds, got {text!r}')
    return round(seconds * 1_000_000_000)


def _number(place: str, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SourceError(place, f'{name}: expected a number, got {text!r}') from None


