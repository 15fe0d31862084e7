# SPDX-License-Identifier: Apache-2.0
"""Cubic Hermite splines on even cells, for functions that are dear to compute."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.quantity import FloatArray


class HermiteSpline:
    """One cubic Hermite spline for all columns, or one each, on even cells from 0 to ``end``.

    Parameters
    ----------
    end : float
        Last node; arguments beyond it count as it, and none is below 0.
    values, slopes : FloatArray
        At the nodes, shape (1 or m, cells + 1).
    """

    def __init__(self, end: float, values: FloatArray, slopes: FloatArray) -> None:
        cells = values.shape[1] - 1
        self._scale = float(cells / end)
        rise = np.diff(values)
        left, right = slopes[:, :-1] / self._scale, slopes[:, 1:] / self._scale
        coefficients = (
            values[:, :-1], left, 3.0 * rise - 2.0 * left - right, left + right - 2.0 * rise
        )
        self._coefficients = np.stack(coefficients, axis=-1).reshape(-1, 4)
        self._first = cells * np.arange(len(values))
        self._last = cells - 1
        self._cells = float(cells)
        self._rows = [tuple(row) for row in self._coefficients.tolist()]

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values, (..., m) for x (..., m)."""
        part, c = self._locate(x)
        return np.asarray(
            ((c[..., 3] * part + c[..., 2]) * part + c[..., 1]) * part + c[..., 0]
        )

    def slope(self, x: FloatArray) -> FloatArray:
        """Return the first derivatives, like the values."""
        part, c = self._locate(x)
        slope = (3.0 * c[..., 3] * part + 2.0 * c[..., 2]) * part + c[..., 1]
        return np.asarray(slope * self._scale)

    def one(self, x: float, column: int = 0) -> float:
        """Return the value of one column, to the same bits."""
        place = min(x * self._scale, self._cells)
        cell = min(int(place), self._last)
        part = place - cell
        c0, c1, c2, c3 = self._rows[column * (self._last + 1) + cell]
        value: float = ((c3 * part + c2) * part + c1) * part + c0
        return value

    def _locate(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        place = np.minimum(x * self._scale, self._cells)
        cell = np.minimum(place.astype(np.int64), self._last)
        return place - cell, self._coefficients.take(cell + self._first, axis=0)
