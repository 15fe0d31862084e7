# SPDX-License-Identifier: Apache-2.0
"""The rows of a study as CSV, and what they amount to."""
from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.settings.files import replacing, writing
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import is_number
from propulsion_ros.study.study import Row, Study

OWN = ('case', 'seed', 'error')
"""Columns that every study has."""
_SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class Column:
    """The numbers of a result over all cases that have one."""

    name: str
    cases: FloatArray
    """Numbers of these cases, (n,)."""
    values: FloatArray
    """(n,)."""

    @property
    def median(self) -> float:
        """The value that half of the cases exceed."""
        return float(np.median(self.values))

    @property
    def lowest(self) -> int:
        """Case with the smallest value, the first of several."""
        return int(self.cases[self.values.argmin()])

    @property
    def highest(self) -> int:
        """Case with the largest value, the first of several."""
        return int(self.cases[self.values.argmax()])

    def worst(self, count: int, limits: tuple[float, float] | None) -> list[int]:
        """Return the cases that lie farthest beyond their limits, else from the median."""
        low, high = limits or (self.median, self.median)
        beyond = np.maximum(low - self.values, self.values - high)
        order = np.argsort(-beyond, kind='stable')[:count]
        return [int(case) for case in self.cases[order]]

    @property
    def summary(self) -> dict[str, Any]:
        """What the file of quantiles has of it."""
        values = self.values
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        shares = zip(_SHARES, np.quantile(values, _SHARES).tolist(), strict=True)
        return {
            'result': self.name, 'cases': len(values), 'mean': float(values.mean()),
            'sd': spread, 'min': float(values.min()),
            **{f'{share:.0%}': value for share, value in shares},
            'max': float(values.max()), 'lowest case': self.lowest, 'highest case': self.highest,
        }


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Return every column, in the order in which the rows have them; the error is the last."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [*(name for name in names if name != 'error'), 'error']


def numbers_of(study: Study, rows: Sequence[Row]) -> list[Column]:
    """Return the results that are numbers, each with the cases that have one."""
    varied = {variable.name for variable in study.vary}
    return [
        column for name in columns_of(rows) if name not in OWN and name not in varied
        if (column := column_of(name, rows)) is not None
    ]


def column_of(name: str, rows: Iterable[Row]) -> Column | None:
    """Return the numbers of a column, None where it has none."""
    found = [(row['case'], row[name]) for row in rows if is_number(row.get(name))]
    if not found:
        return None
    cases, values = np.array(found, dtype=float).T
    return Column(name, cases, values)


def rates(study: Study, rows: Iterable[Row], by: Sequence[str]) -> list[dict[str, Any]]:
    """Return how many cases lie beyond each limit, for all values of some columns together.

    The first column is also taken together, as ``all``. Cases that failed count apart.
    """
    groups: dict[tuple[str, ...], list[Row]] = {}
    found: list[dict[str, Any]] = []
    for row in rows:
        names = tuple(str(row.get(name, '')) for name in by)
        for key in (names, ('all', *names[1:])):
            groups.setdefault(key, []).append(row)
    for key in sorted(groups):
        flown = [row for row in groups[key] if not row['error']]
        beyond = [name for row in flown for name in study.failed_limits(row)]
        group: dict[str, Any] = dict(zip(by, key, strict=True))
        group['cases'], group['failed'] = len(flown), len(groups[key]) - len(flown)
        found.append({**group, **{name: beyond.count(name) for name in study.limits}})
    return found


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV; the same rows always give the same bytes.

    A number has all its digits; an empty cell is no value. Raises `SourceError` where the file
    cannot be written.
    """
    names = columns_of(rows) if rows and 'error' in rows[0] else list(rows[0]) if rows else []
    with writing(path), replacing(path) as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([_cell(row.get(name)) for name in names] for row in rows)


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ''
    return value if isinstance(value, str) else repr(value)
