# SPDX-License-Identifier: Apache-2.0
"""What was recorded of a flight, as series of numbers."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

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
