"""What loops publish, as a table with one row for each stamp."""
from __future__ import annotations

import csv
import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any

import numpy as np

from propulsion_ros.loops.command_hold import FIELDS
from propulsion_ros.loops.decoders import msg_to_wrench, stamp_to_ns
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.replay.csv_rows import number_text, stamp_text
from propulsion_ros.replay.robot import Published
from propulsion_ros.replay.table_columns import TANK_PARTS

_OPEN_NS = 1_000_000_000
"""A row so far behind the newest stamp gets nothing more, where its nodes are not known."""
_MOST_OPEN = 10_000
"""Rows that wait for a node; more are written without it, so that memory stays bounded."""


class TableWriter:
    """Writes what loops publish into a CSV file, all of it at the end.

    Parameters
    ----------
    path : Path
        The file.
    is_prefixed : bool
        Whether columns begin with the name of their node.
    columns : mapping of str to sequence of str
        Columns of each node that has any, where they are known; else they are found.

    Attributes
    ----------
    count : int
        Rows written.
    """

    def __init__(
        self, path: Path, is_prefixed: bool, columns: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._path, self._is_prefixed = path, is_prefixed
        known = columns or {}
        names = [self._prefix(node) + name for node in known for name in known[node]]
        self._columns = {name: i for i, name in enumerate(names)}
        self._is_known = bool(names)
        self._readers = {**_READERS, **(_DERIVED if names else {})}
        self._passed: dict[str, float] = dict.fromkeys(known, -math.inf)
        self._open: dict[int, dict[int, float]] = {}
        self._stamps: list[int] = []
        self._newest: dict[str, int] = {}
        # Which columns there are may be known at the end only.
        self._body = TemporaryFile('w+', encoding='utf-8', newline='')  # noqa: SIM115  closed on exit
        self._rows = csv.writer(self._body)
        self.count = 0

    def _prefix(self, node: str) -> str:
        return f'{node}/' if self._is_prefixed else ''

    def write(self, published: Published) -> None:
        """Take what a loop published; what is no number of a stamp is left out."""
        *above, name = published.topic.split('/')
        is_tank = above[-1] == 'tanks'
        node, read = (above[-2], _tank) if is_tank else (above[-1], self._readers.get(name))
        if read is None:
            return
        message, topic = published.message, published.topic
        stamp_ns = stamp_to_ns(message.header.stamp)
        if stamp_ns < self._newest.get(topic, stamp_ns):
            # Time has begun anew: what is open is of before.
            self._write_until(math.inf)
            self._newest.clear()
        self._newest[topic] = stamp_ns
        self._fill(stamp_ns, self._prefix(node), read(name, message))
        self._write_until(self._complete_before(node, stamp_ns))

    def _fill(self, stamp_ns: int, prefix: str, numbers: Iterator[tuple[str, float]]) -> None:
        row = self._open.get(stamp_ns)
        if row is None:
            row = self._open[stamp_ns] = {}
            heapq.heappush(self._stamps, stamp_ns)
        columns = self._columns
        for name, number in numbers:
            if math.isnan(number):
                continue
            column = columns.get(prefix + name)
            if column is None:
                if self._is_known:
                    continue
                column = columns[prefix + name] = len(columns)
            row[column] = number

    def _complete_before(self, node: str, stamp_ns: int) -> float:
        """Return the stamp before which nothing is added to a row any more."""
        if not self._is_known:
            return stamp_ns - _OPEN_NS
        if len(self._open) > _MOST_OPEN:
            return math.inf
        self._passed[node] = max(self._passed[node], stamp_ns)
        return min(self._passed.values())

    def _write_until(self, stamp_ns: float) -> None:
        stamps = self._stamps
        while stamps and stamps[0] < stamp_ns:
            due_ns = heapq.heappop(stamps)
            row = self._open.pop(due_ns)
            cells = (row.get(i, math.nan) for i in range(len(self._columns)))
            self._rows.writerow([stamp_text(due_ns), *map(number_text, cells)])
            self.count += 1

    def __enter__(self) -> TableWriter:
        # What was there stays until all rows are written, and what cannot be is said at once.
        self._unfinished = self._path.with_name(f'{self._path.name}.unfinished')
        self._file = self._unfinished.open('w', encoding='utf-8', newline='')
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with self._body, self._file:
                if error is None:
                    self._finish()
            if error is None:
                self._unfinished.replace(self._path)
        finally:
            self._unfinished.unlink(missing_ok=True)

    def _finish(self) -> None:
        self._write_until(math.inf)
        self._body.seek(0)
        csv.writer(self._file).writerow(['stamp', *self._columns])
        for line in self._body:
            # Rows of before a column was known end early.
            missing = len(self._columns) - line.count(',')
            self._file.write(line.rstrip('\r\n') + ',' * missing + '\r\n')


def _state(name: str, message: Any) -> Iterator[tuple[str, float]]:
    for field in FIELDS:
        values = getattr(message, field)
        for i in range(len(values)):
            yield f'{message.name[i]}.{field}', values[i]


def _wrench(name: str, message: Any) -> Iterator[tuple[str, float]]:
    return _parts(name, msg_to_wrench(message).tolist())


def _parts(name: str, values: Sequence[float]) -> Iterator[tuple[str, float]]:
    return zip((f'{name}.{part}' for part in WRENCH_NAMES), values, strict=True)


def _covariance(name: str, message: Any) -> Iterator[tuple[str, float]]:
    deviations = np.sqrt(np.diagonal(message.effort.reshape(6, 6)))
    return _parts('wrench_std', deviations.tolist())


def _tank(name: str, message: Any) -> Iterator[tuple[str, float]]:
    inertia = message.inertia
    values = (inertia.m, inertia.ixx, inertia.iyy, inertia.izz)
    return zip((f'{name}.{part}' for part in TANK_PARTS), values, strict=True)



_Reader = Callable[[str, Any], Iterator[tuple[str, float]]]
_READERS: Mapping[str, _Reader] = {
    'state': _state, 'fit': _state, 'wrench': _wrench, 'residual': _wrench,
}
_DERIVED: Mapping[str, _Reader] = {'covariance': _covariance}
"""What is read for columns that are known alone."""
