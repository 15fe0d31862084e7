# SPDX-License-Identifier: Apache-2.0
"""Writes what loops publish into a table with one row for each stamp."""
from __future__ import annotations

import csv
import heapq
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.decoders import msg_to_wrench, stamp_to_ns
from propulsion_ros.loops.estimate_loop import EstimatePorts
from propulsion_ros.loops.ports import Loop
from propulsion_ros.models.common.family import FIELDS, WRENCH_NAMES, battery_names
from propulsion_ros.replay.command_table import STAMP, stamp_text
from propulsion_ros.replay.plain import TickRows
from propulsion_ros.replay.robot import Published
from propulsion_ros.settings.files import replacing
from propulsion_ros.settings.quantity import FloatArray

TANK_PARTS = ('mass', 'ixx', 'iyy', 'izz')
BATTERY_PARTS = ('voltage', 'current', 'percentage')
_OPEN_NS = 1_000_000_000  # age at which a row is complete, if its nodes are not known [ns]
_MOST_OPEN = 10_000  # rows that wait for a node; more are written without it, to bound memory


def wrench_columns(name: str) -> list[str]:
    """Return the columns of a wrench."""
    return [f'{name}.{part}' for part in WRENCH_NAMES]


def columns_of(loop: Loop) -> list[str]:
    """Return the columns of a loop, name by name; [] if a table has none of it."""
    if isinstance(loop, ActuatorPorts):
        parts = [(loop.family.tank_names, TANK_PARTS), (battery_names(loop.family), BATTERY_PARTS)]
        return [
            *_of_state(loop), *wrench_columns('wrench'),
            *(f'{name}.{part}' for names, own in parts for name in names for part in own),
        ]
    if isinstance(loop, EstimatePorts):
        nozzles = loop.family.actuator_names
        impellers = loop.family.command_names[len(nozzles):]
        return [
            *(f'{name}.position' for name in nozzles), *(f'{name}.effort' for name in nozzles),
            *(f'{name}.velocity' for name in impellers), *wrench_columns('wrench'),
            *wrench_columns('residual'), *wrench_columns('wrench_std'),
        ]
    return []


def _of_state(loop: ActuatorPorts) -> Iterator[str]:
    """Yield a column for each number of the state."""
    states = {field: getattr(loop.core.example, field) for field in FIELDS}
    for i, name in enumerate(loop.family.state_names):
        for field, values in states.items():
            if values is not None and not np.isnan(values[i]):
                yield f'{name}.{field}'


class TableWriter:
    """Writes messages of loops into a CSV file, which is complete only at the end.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        Columns of each node if they are known; else they are found in the messages.
    """

    def __init__(
        self, path: Path, is_prefixed: bool, columns: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._path, self._is_prefixed = path, is_prefixed
        known = columns or {}
        self._columns = dict.fromkeys(
            self._prefix(node) + name for node in known for name in known[node]
        )
        self._is_known = bool(self._columns)
        self._passed: dict[str, float] = dict.fromkeys(known, -math.inf)
        self._topics: dict[str, _Topic | None] = {}
        self._open: dict[int, dict[str, float]] = {}
        self._stamps: list[int] = []
        # The columns may be known only at the end.
        self._body = TemporaryFile('w+', encoding='utf-8', newline='')  # noqa: SIM115  closed on exit
        self._begun_with = 0
        self.count = 0

    def write(self, published: Published) -> None:
        """Take a message of a loop; one without stamped numbers is left out."""
        topic, message = self._topic(published.topic), published.message
        if topic:
            self._take(
                [topic], stamp_to_ns(message.header.stamp), topic.names_of(message),
                topic.form.numbers(message),
            )

    def write_rows(self, rows: Sequence[TickRows]) -> None:
        """Take the messages of the only node at many ticks."""
        given = [(topic, each) for each in rows if (topic := self._topic(each.topic))]
        if not given:
            return
        topics, stamps = [topic for topic, _ in given], rows[0].stamps.tolist()
        names = [name for topic, each in given for name in topic.names_of(each.message(0))]
        numbers = np.hstack([topic.form.columns(each) for topic, each in given])
        self._take(topics, stamps[0], names, numbers[0].tolist())
        new = [i for i, name in enumerate(names) if name not in self._columns]
        done = 1
        # The last row stays open, and rows with a new column are taken one by one.
        if len(stamps) > 2 and (self._is_known or np.isnan(numbers[:, new]).all()):
            self._write_until(math.inf)
            done = len(stamps) - 1
            cells, empty = dict(zip(names, numbers[1:done].T, strict=True)), [''] * (done - 1)
            self._body.writelines(','.join(line) + '\r\n' for line in zip(
                map(stamp_text, stamps[1:done]),
                *(_texts(cells[name]) if name in cells else empty for name in self._columns),
                strict=True,
            ))
            self.count += done - 1
        for stamp_ns, row in zip(stamps[done:], numbers[done:].tolist(), strict=True):
            self._take(topics, stamp_ns, names, row)

    def _take(
        self, topics: Sequence[_Topic], stamp_ns: int, names: Sequence[str],
        numbers: Sequence[float],
    ) -> None:
        """Take the numbers of some topics of one node at a stamp."""
        if stamp_ns < max(topic.newest_ns for topic in topics):
            # After a jump back nothing is added to the open rows any more.
            self._write_until(math.inf)
            for each in filter(None, self._topics.values()):
                each.newest_ns = -math.inf
        for topic in topics:
            topic.newest_ns = stamp_ns
        if stamp_ns not in self._open:
            self._open[stamp_ns] = {}
            heapq.heappush(self._stamps, stamp_ns)
        self._fill(self._open[stamp_ns], names, numbers)
        self._write_until(self._complete_before(topics[0].node, stamp_ns))

    def _topic(self, name: str) -> _Topic | None:
        if name not in self._topics:
            self._topics[name] = self._find_topic(name)
        return self._topics[name]

    def _find_topic(self, name: str) -> _Topic | None:
        """Return the columns of a topic, None if a table has none of it."""
        *above, last = name.split('/')
        is_part = above[-1] in ('tanks', 'battery_state')
        kind, node = above[-1] if is_part else last, above[-2 if is_part else -1]
        form = {'state': _STATE, 'fit': _STATE, 'battery_state': _BATTERY}.get(kind)
        if kind == 'tanks':
            names = [f'{last}.{part}' for part in TANK_PARTS]
            form = _numbers(names, _inertia)._replace(chosen=[0, 4, 7, 9])
        elif kind in ('wrench', 'residual'):
            form = _numbers(wrench_columns(kind), lambda each: msg_to_wrench(each).tolist())
        elif kind == 'covariance' and self._is_known:
            form = _numbers(wrench_columns('wrench_std'), _deviations)
        return _Topic(node, self._prefix(node), form) if form else None

    def _prefix(self, node: str) -> str:
        return f'{node}/' if self._is_prefixed else ''

    def _fill(
        self, row: dict[str, float], names: Sequence[str], numbers: Sequence[float]
    ) -> None:
        """Put numbers other than NaN into a row; a new name gets a column unless all are known."""
        columns = self._columns
        for name, number in zip(names, numbers, strict=True):
            if number == number:
                if name not in columns:
                    if self._is_known:
                        continue
                    columns[name] = None
                row[name] = number

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
        if not self.count:
            self._begun_with = len(self._columns)
        while stamps and stamps[0] < stamp_ns:
            due_ns = heapq.heappop(stamps)
            row = self._open.pop(due_ns)
            cells = [repr(row[name]) if name in row else '' for name in self._columns]
            # No cell needs quotes, so the csv module would write the same.
            self._body.write(','.join((stamp_text(due_ns), *cells)) + '\r\n')
            self.count += 1

    def __enter__(self) -> TableWriter:
        # An existing file stays until all rows are written; an unwritable one fails at once.
        self._stack = ExitStack()
        self._stack.enter_context(self._body)
        self._file = self._stack.enter_context(replacing(self._path))
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            self._finish()

    def _finish(self) -> None:
        self._write_until(math.inf)
        self._body.seek(0)
        csv.writer(self._file).writerow([STAMP, *self._columns])
        if self._begun_with == len(self._columns):
            shutil.copyfileobj(self._body, self._file)
            return
        for line in self._body:
            # Rows that were written before a column was known are shorter.
            missing = len(self._columns) - line.count(',')
            self._file.write(line.rstrip('\r\n') + ',' * missing + '\r\n')


class _Form(NamedTuple):
    """Columns that a table has of messages of one kind."""

    key: Callable[[Any], object]
    names: Callable[[Any], Sequence[str]]
    numbers: Callable[[Any], list[float]]
    """Functions of a message: a key of its set of names, the names, and the numbers."""
    chosen: slice | list[int] = slice(None)
    """Indices of these numbers among all numbers of a message."""

    def columns(self, rows: TickRows) -> FloatArray:
        """Return the same numbers of many messages, (t, k)."""
        return np.column_stack(rows.numbers())[:, self.chosen]


class _Topic:
    """Columns of the messages of one topic of a node, which begin with a prefix."""

    def __init__(self, node: str, prefix: str, form: _Form) -> None:
        self.node, self._prefix, self.form = node, prefix, form
        self.newest_ns = -math.inf
        self._key: object = self
        self._names: list[str] = []

    def names_of(self, message: Any) -> list[str]:
        """Return the columns of a message; they are kept, since most messages have the same."""
        key = self.form.key(message)
        if key != self._key:
            self._key = key
            self._names = [self._prefix + name for name in self.form.names(message)]
        return self._names


def _numbers(names: Sequence[str], numbers: Callable[[Any], list[float]]) -> _Form:
    """Return the form of messages that all have the same numbers."""
    return _Form(lambda message: None, lambda message: names, numbers)


def _texts(numbers: FloatArray) -> list[str]:
    """Return numbers as texts, '' for NaN."""
    texts = [*map(repr, numbers.tolist())]
    return ['' if text == 'nan' else text for text in texts] if np.isnan(numbers).any() else texts


def _inertia(message: Any) -> list[float]:
    inertia = message.inertia
    return [inertia.m, inertia.ixx, inertia.iyy, inertia.izz]


def _deviations(message: Any) -> list[float]:
    return list(np.sqrt(np.diagonal(message.effort.reshape(6, 6))).tolist())


def _state_names(message: Any) -> list[str]:
    return [
        f'{name}.{field}' for field in FIELDS
        for name, _ in zip(message.name, getattr(message, field), strict=False)
    ]


_STATE = _Form(
    lambda m: (m.name, len(m.position), len(m.velocity), len(m.effort)), _state_names,
    lambda m: [*m.position.tolist(), *m.velocity.tolist(), *m.effort.tolist()],
)
_BATTERY = _Form(
    lambda m: m.location, lambda m: [f'{m.location}.{part}' for part in BATTERY_PARTS],
    lambda m: [float(getattr(m, part)) for part in BATTERY_PARTS],
)
