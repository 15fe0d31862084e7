# SPDX-License-Identifier: Apache-2.0
"""Pressure in a plenum: what an impeller keeps up against the nozzles that are open.

The impeller's measured curve gives its pressure coefficient C as a polynomial of the flow
coefficient q. Air leaves through an area A = q d h / sqrt(2 C), of which A0 is leakage and the
rest the nozzles' opening r = 2 (A - A0), the sum of 2 Cd A over them. A plenum's thrust, the sum
of T / Cd, over rho d^2 N^2 is its load y = C r. So C follows from the opening or from the load,
whatever the speed and the density of the air.

One sample of few plenums is computed with Python's numbers, several times faster than with
arrays of that size, and to the same bits.
"""
from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.settings.quantity import FloatArray, IntArray

_POLYNOMIAL = np.array(astrobee.PRESSURE_POLYNOMIAL)
_POLYNOMIAL_SLOPE = np.polyder(_POLYNOMIAL)
_LAST_ROW = int(astrobee.MAX_FLOW / astrobee.FLOW_STEP)
_AREA_SCALE = astrobee.IMPELLER_DIAMETER * astrobee.IMPELLER_HEIGHT
_CELLS = 4096
_BISECTIONS = 60


LoadCurve: TypeAlias = 'TableCurve | PolynomialCurve'
OpeningCurve: TypeAlias = 'LoadCurve | InterpolatedCurve'
"""Pressure coefficient of m plenums, (..., m), from their loads or openings, (..., m)."""


def flow_pressure(flow: FloatArray) -> FloatArray:
    """Return the pressure coefficient C at a flow coefficient."""
    return np.asarray(np.polyval(_POLYNOMIAL, flow), dtype=float)


def flow_area(flow: FloatArray) -> FloatArray:
    """Return the area A [m^2] through which a flow coefficient leaves, leakage included."""
    return np.asarray(flow * _AREA_SCALE / np.sqrt(2.0 * flow_pressure(flow)))


def _rows() -> FloatArray:
    """Return the flow coefficients of the original's tables."""
    return np.asarray(astrobee.FLOW_STEP * np.arange(_LAST_ROW + 1.0))


def _pressure_slope(flow: FloatArray) -> FloatArray:
    """Return dC/dq."""
    return np.asarray(np.polyval(_POLYNOMIAL_SLOPE, flow), dtype=float)


class TableCurve:
    """The original's table over the load, linear between its rows, and its exact inverse.

    Rows lie 0.001 apart in the flow coefficient, up to the largest load. The leakage of the
    first module serves both. In row k with the slope s, C = C_k + s (y - y_k) and y = C r give
    C = (C_k - s y_k) / (1 - s r), without iteration; s is negative, so nothing vanishes.
    """

    def __init__(self) -> None:
        flow = _rows()
        pressure = flow_pressure(flow)
        opening = 2.0 * (flow_area(flow) - astrobee.ZERO_THRUST_AREAS[0])
        load = pressure * opening
        # A load is never negative: from the last row below 0 to the peak.
        rows = slice(int(np.searchsorted(opening, 0.0)) - 1, int(np.argmax(load)) + 1)
        self.load, self.pressure, self.opening = load[rows], pressure[rows], opening[rows]
        slope = np.diff(self.pressure) / np.diff(self.load)
        # Behind the last row C stays.
        self._slope = np.append(slope, 0.0)
        self._offset = self.pressure - self._slope * self.load
        self._rows = self.opening.tolist(), self._offset.tolist(), self._slope.tolist()

    def from_load(self, load: FloatArray) -> FloatArray:
        """Return C for loads y [m^2]; constant beyond the table."""
        return np.asarray(np.interp(load, self.load, self.pressure))

    def from_opening(self, opening: FloatArray) -> FloatArray:
        """Return C for openings r [m^2]; constant beyond the table."""
        if opening.ndim == 1:
            return np.array([self._one(r) for r in opening.tolist()])
        row = self._row(opening)
        return np.asarray(self._offset.take(row) / (1.0 - self._slope.take(row) * opening))

    def slope(self, opening: FloatArray) -> FloatArray:
        """Return dC/dr [1/m^2]."""
        row = self._row(opening)
        slope = self._slope.take(row)
        return np.asarray(slope * self._offset.take(row) / np.square(1.0 - slope * opening))

    def _one(self, opening: float) -> float:
        openings, offsets, slopes = self._rows
        row = bisect_right(openings, opening) - 1
        coefficient: float = offsets[row] / (1.0 - slopes[row] * opening)
        return coefficient

    def _row(self, opening: FloatArray) -> IntArray:
        # Openings are at least 0 and the first row lies below.
        return np.asarray(self.opening.searchsorted(opening, side='right') - 1)


class InterpolatedCurve:
    """C by linear interpolation over the opening.

    Parameters
    ----------
    opening, pressure : FloatArray
        Rows, shape (k,).
    offset : FloatArray
        Added to an opening before the look-up, shape (m,) or ().
    """

    def __init__(
        self, opening: FloatArray, pressure: FloatArray, offset: FloatArray | float = 0.0
    ) -> None:
        self._opening, self._pressure = opening, pressure
        self._offset = np.asarray(offset)
        # Constant on both sides.
        self._slope = np.pad(np.diff(pressure) / np.diff(opening), 1)

    def from_opening(self, opening: FloatArray) -> FloatArray:
        """Return C for openings r [m^2]; constant beyond the rows."""
        return np.asarray(np.interp(opening + self._offset, self._opening, self._pressure))

    def slope(self, opening: FloatArray) -> FloatArray:
        """Return dC/dr [1/m^2]."""
        row = self._opening.searchsorted(opening + self._offset, side='right')
        return np.asarray(self._slope.take(row))


def paper_curve() -> InterpolatedCurve:
    """Return the curve as Ekal (2023) makes it: the rows of positive thrust, T/dP to C."""
    table = TableCurve()
    return InterpolatedCurve(table.opening[1:], table.pressure[1:])


def sampled_curve(zero_thrust_area: FloatArray) -> InterpolatedCurve:
    """Return the curve of Astrobee's simulator: rows over the whole area, leakage per plenum."""
    flow = _rows()
    # Doubled, because an opening is twice an area.
    return InterpolatedCurve(2.0 * flow_area(flow), flow_pressure(flow), 2.0 * zero_thrust_area)


class PolynomialCurve:
    """The measured polynomial itself, with the leakage of each plenum and beyond the peak.

    Both directions are cubic Hermite splines through exact values and slopes, fine enough to be
    exact to rounding. The load has a peak, so its spline runs over u = sqrt(1 - y / y_max).

    ``zero_thrust_area`` is the leakage A0 of each plenum [m^2], shape (m,).
    """

    def __init__(self, zero_thrust_area: FloatArray) -> None:
        self._by_area = _area_spline()
        self._leakage = np.asarray(zero_thrust_area, dtype=float)
        branches = [_load_branch(float(leakage)) for leakage in self._leakage]
        self._peak = np.array([peak for peak, _, _ in branches])
        self._leakages, self._peaks = self._leakage.tolist(), self._peak.tolist()
        self._by_root = HermiteSpline(
            1.0, np.array([value for _, value, _ in branches]),
            np.array([slope for _, _, slope in branches]),
        )

    def from_load(self, load: FloatArray) -> FloatArray:
        """Return C for loads y [m^2]; that of the peak beyond it."""
        if load.ndim == 1:
            return np.array([
                self._by_root.one(math.sqrt(max(0.0, 1.0 - y / peak)), column)
                for column, (y, peak) in enumerate(zip(load.tolist(), self._peaks, strict=True))
            ])
        root = np.sqrt(np.fmax(1.0 - load / self._peak, 0.0))
        return self._by_root(root)

    def from_opening(self, opening: FloatArray) -> FloatArray:
        """Return C for openings r [m^2]; constant beyond the measurement."""
        if opening.ndim == 1:
            return np.array([
                self._by_area.one(leakage + 0.5 * r)
                for r, leakage in zip(opening.tolist(), self._leakages, strict=True)
            ])
        return self._by_area(self._leakage + 0.5 * opening)

    def slope(self, opening: FloatArray) -> FloatArray:
        """Return dC/dr [1/m^2]."""
        return 0.5 * self._by_area.slope(self._leakage + 0.5 * opening)


@cache
def _area_spline() -> HermiteSpline:
    """Return C over the whole area, the same for every plenum."""
    limit = np.array(astrobee.MAX_FLOW)
    area = np.linspace(0.0, flow_area(limit), _CELLS + 1)
    flow = _inverse(flow_area, np.array(0.0), limit, area)
    slope = _pressure_slope(flow) / _area_slope(flow)
    return HermiteSpline(float(area[-1]), flow_pressure(flow)[None], slope[None])


def _area_slope(flow: FloatArray) -> FloatArray:
    """Return dA/dq."""
    pressure = flow_pressure(flow)
    ratio = 0.5 * flow * _pressure_slope(flow) / pressure
    return np.asarray(_AREA_SCALE / np.sqrt(2.0 * pressure) * (1.0 - ratio))


def _load_branch(leakage: float) -> tuple[float, FloatArray, FloatArray]:
    """Return the largest load, and C and dC/du at even nodes of u from the peak (0) to no load."""
    def load(flow: FloatArray) -> FloatArray:
        return np.asarray(2.0 * flow_pressure(flow) * (flow_area(flow) - leakage))

    def load_slope(flow: FloatArray) -> FloatArray:
        lost = _pressure_slope(flow) * (flow_area(flow) - leakage)
        return np.asarray(2.0 * (lost + flow_pressure(flow) * _area_slope(flow)))

    limit, no_load = np.array(astrobee.MAX_FLOW), np.array(leakage)
    start = _inverse(flow_area, np.array(0.0), limit, no_load)
    top = _inverse(lambda flow: -load_slope(flow), start, limit, np.array(0.0))
    peak = float(load(top))
    root = np.linspace(0.0, 1.0, _CELLS + 1)
    flow = _inverse(load, start, top, peak * (1.0 - root * root))
    step = 1e-5
    curvature = float(load_slope(top + step) - load_slope(top - step)) / (2.0 * step)
    # du/dq is 0/0 at the peak, where the load is a parabola.
    flow_slope = np.full_like(root, -np.sqrt(-2.0 * peak / curvature))
    flow_slope[1:] = -2.0 * peak * root[1:] / load_slope(flow[1:])
    return peak, flow_pressure(flow), _pressure_slope(flow) * flow_slope


def _inverse(
    rising: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    values: FloatArray,
) -> FloatArray:
    """Return x in [low, high] with rising(x) = values, by bisection."""
    lows, highs = np.full_like(values, low), np.full_like(values, high)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (lows + highs)
        below = rising(middle) < values
        lows, highs = np.where(below, middle, lows), np.where(below, highs, middle)
    return 0.5 * (lows + highs)


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

    def __deepcopy__(self, memo: Any) -> HermiteSpline:
        """Return the same spline, which nothing changes."""
        return self

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
