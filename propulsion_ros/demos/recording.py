# SPDX-License-Identifier: Apache-2.0
"""What was recorded of a flight, as series of numbers."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from propulsion_ros.drawing.figure import PUBLISHED, Trace
from propulsion_ros.settings.quantity import FloatArray


@dataclass
class Recording:
    """Series by name, each a list of rows that begin with the time [s]."""

    rows: dict[str, list[tuple[float, ...]]] = field(default_factory=dict)
    marks: list[tuple[float, str]] = field(default_factory=list)
    phases: list[tuple[float, str]] = field(default_factory=list)

    def add(self, name: str, *row: float) -> None:
        """Append a row to a series."""
        self.rows.setdefault(name, []).append(row)

    def series(self, name: str) -> FloatArray:
        """Return a series as (rows, columns)."""
        return np.array(self.rows[name])

    def between(self, name: str, begin: float, end: float) -> FloatArray:
        """Return the rows of a series from a time on to before another [s]."""
        rows = self.series(name)
        return rows[(rows[:, 0] >= begin - 1e-9) & (rows[:, 0] < end - 1e-9)]

    def gain(self, name: str, column: int, begin: float, end: float) -> float:
        """Return how much a column grows between two times [s]; NaN without rows."""
        rows = self.between(name, begin, end)
        return float(rows[-1, column] - rows[0, column]) if len(rows) else np.nan

    def line(
        self,
        label: str,
        series: str,
        column: int = 1,
        role: str = PUBLISHED,
        *,
        scale: float = 1.0,
        span: tuple[float, float] = (-np.inf, np.inf),
    ) -> Trace:
        """Return a column of a series as a line of a picture.

        Parameters
        ----------
        label, role : str
            As of a `Trace`.
        series, column : str, int
            What is shown; column 0 has the times.
        scale : float
            From the unit of the recording to that of the picture.
        span : tuple of float
            Part of the time that is shown [s].
        """
        rows = self.between(series, *span)
        return Trace(label, role, rows[:, 0], scale * rows[:, column])

    def lines(self, series: str, names: Sequence[str], first: int = 1) -> tuple[Trace, ...]:
        """Return successive columns of a series as lines with these names."""
        return tuple(
            self.line(name.replace('_', ' '), series, i) for i, name in enumerate(names, first)
        )
