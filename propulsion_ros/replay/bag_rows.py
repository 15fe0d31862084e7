"""What nodes publish, as a table with one row for each stamp."""
from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any

from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.nodes.conversions import stamp_to_ns
from propulsion_ros.replay.bags import Recorded
from propulsion_ros.replay.cdr import Wire
from propulsion_ros.replay.csv_rows import number_text, stamp_text
from propulsion_ros.settings.files import replacing

_OPEN_NS = 1_000_000_000
"""A row so far behind the newest stamp gets nothing more."""
_FIELDS = ('position', 'velocity', 'effort')


class RowWriter:
    """Writes messages of nodes into a CSV file, all of it at the end.

    Parameters
    ----------
    path : Path
        The file.
    wire : Wire
        Reads messages.
    is_prefixed : bool
        Whether columns begin with the name of their node.

    Attributes
    ----------
    count : int
        Rows written.
    """

    def __init__(self, path: Path, wire: Wire, is_prefixed: bool) -> None:
        self._path, self._wire, self._is_prefixed = path, wire, is_prefixed
        self._columns: dict[str, int] = {}
        self._open: dict[int, dict[int, float]] = {}
        self._newest: dict[str, int] = {}
        # Which columns there are is known at the end only.
        self._body = TemporaryFile('w+', encoding='utf-8', newline='')  # noqa: SIM115  closed on exit
        self._rows = csv.writer(self._body)
        self._stack = ExitStack()
        self.count = 0

    def write(self, message: Recorded) -> None:
        """Take what a node published; what is no number of a stamp is left out."""
        *_, parent, name = message.topic.split('/')
        node = message.topic.split('/')[-3] if parent == 'tanks' else parent
        if parent != 'tanks' and name not in _READERS:
            return
        content = self._wire.read(message.data, message.type)
        read = _tank if parent == 'tanks' else _READERS[name]
        prefix = f'{node}/' if self._is_prefixed else ''
        stamp_ns = stamp_to_ns(content.header.stamp)
        if stamp_ns < self._newest.get(message.topic, stamp_ns):
            # Time has begun anew: what is open is of before.
            self._write_until(math.inf)
            self._newest.clear()
        self._newest[message.topic] = stamp_ns
        row = self._open.setdefault(stamp_ns, {})
        for column, number in read(name, content):
            if not math.isnan(number):
                row[self._columns.setdefault(prefix + column, len(self._columns))] = number
        self._write_until(stamp_ns - _OPEN_NS)

    def _write_until(self, stamp_ns: float) -> None:
        for due_ns in sorted(due for due in self._open if due < stamp_ns):
            row = self._open.pop(due_ns)
            cells = (row.get(i, math.nan) for i in range(len(self._columns)))
            self._rows.writerow([stamp_text(due_ns), *map(number_text, cells)])
            self.count += 1

    def __enter__(self) -> RowWriter:
        # What was there stays until all rows are written, and what cannot be is said at once.
        self._file = self._stack.enter_context(replacing(self._path))
        self._stack.enter_context(self._body)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            self._finish()

    def _finish(self) -> None:
        self._write_until(math.inf)
        self._body.seek(0)
        csv.writer(self._file).writerow(['stamp', *self._columns])
        for line in self._body:
            # Rows of before a column was known end early.
            missing = len(self._columns) - line.count(',')
            self._file.write(line.rstrip('\r\n') + ',' * missing + '\r\n')


def _state(name: str, message: Any) -> Iterator[tuple[str, float]]:
    for field in _FIELDS:
        for i, value in enumerate(getattr(message, field)):
            yield f'{message.name[i]}.{field}', value


def _wrench(name: str, message: Any) -> Iterator[tuple[str, float]]:
    force, torque = message.wrench.force, message.wrench.torque
    values = (force.x, force.y, force.z, torque.x, torque.y, torque.z)
    return zip((f'{name}.{part}' for part in WRENCH_NAMES), values, strict=True)


def _tank(name: str, message: Any) -> Iterator[tuple[str, float]]:
    inertia = message.inertia
    values = (inertia.m, inertia.ixx, inertia.iyy, inertia.izz)
    return zip((f'{name}.{part}' for part in ('mass', 'ixx', 'iyy', 'izz')), values, strict=True)


_READERS = {'state': _state, 'fit': _state, 'wrench': _wrench, 'residual': _wrench}
