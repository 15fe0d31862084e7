# SPDX-License-Identifier: Apache-2.0
"""Thrust curves by linear interpolation in measured tables, and their inverses."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.lag import PiecewiseQuadratic
from propulsion_ros.models.common.points import check_cells, numbers_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Table:
    """Thrusts [N] at rising rotor speeds [rad/s], (k,) each."""

    speeds: FloatArray
    thrusts: FloatArray

    @property
    def rises(self) -> bool:
        """Whether the thrust never falls as the speed rises, so that there is an inverse."""
        return bool(np.all(np.diff(self.thrusts) >= 0.0))


def parse_table(speeds: str, thrusts: str, index: int) -> Table:
    """Return the table of two texts of numbers, apart by blanks or commas.

    The order does not matter; of two rows with the same speed the last one holds. Raises
    `ConfigError` for what is not a number or too large, unequal counts, or no number at all.
    """
    inputs = numbers_of('input_values', speeds, index)
    outputs = numbers_of('output_values', thrusts, index)
    if not inputs:
        raise ConfigError('input_values', 'linear_interp needs at least one number', index)
    if len(outputs) != len(inputs):
        raise ConfigError(
            'output_values',
            f'expected {len(inputs)} numbers, one for each of input_values, got {len(outputs)}',
            index,
        )
    rows = sorted(dict(zip(inputs, outputs, strict=True)).items())
    return Table(*np.array(rows).T)


class ThrustTables:
    """n tables of any length, looked up together.

    Attributes
    ----------
    min_speed, max_speed, min_thrust, max_thrust : FloatArray
        Ends of each table, (n,); beyond them the last value holds.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        check_cells('input_values', [len(table.speeds) for table in tables])
        self.min_speed = np.array([table.speeds[0] for table in tables])
        self.max_speed = np.array([table.speeds[-1] for table in tables])
        self.min_thrust = np.array([table.thrusts.min() for table in tables])
        self.max_thrust = np.array([table.thrusts.max() for table in tables])
        self._thrust = _Segments([(table.speeds, table.thrusts, table.thrusts) for table in tables])
        self._falling = [i for i, table in enumerate(tables) if not table.rises]
        if not self._falling:
            steps = [_Steps(table) for table in tables]
            self._speed = _Segments([(s.levels, s.highest, s.lowest) for s in steps])
            self._nearest = _padded([_with_low_end(s.nearest) for s in steps], 0.0)

    def thrust(self, speed: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the thrust [N]; the speed of advance does not matter."""
        # Beyond the ends the value is that at the end, at infinity too.
        inside = np.minimum(np.maximum(speed, self.min_speed), self.max_speed)
        return self._thrust.at(inside, self._thrust.segment(inside))

    def speed(self, thrust: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the rotor speed [rad/s] nearest to 0 that makes a thrust [N].

        Raises `ConfigError` for a table whose thrust falls with the speed.
        """
        if self._falling:
            raise ConfigError(
                'output_values', 'falls as input_values rise, so that thrust has no one speed',
                self._falling[0],
            )
        segment = self._speed.segment(thrust)
        speed = self._speed.at(thrust, segment)
        return np.where(self._speed.within(thrust, segment), speed, self._nearest.take(segment))

    def pieces(self, advance: FloatArray | None = None) -> PiecewiseQuadratic:
        """Return the tables as lines between knots."""
        return self._thrust.pieces()


class _Segments:
    """n piecewise linear functions, constant beyond their ends.

    A row has the knots, the values from which the lines leave them upward, and the values at which
    the lines from below reach them; jumps are where these differ.
    """

    def __init__(self, rows: Sequence[tuple[FloatArray, FloatArray, FloatArray]]) -> None:
        self._knots = _padded([knots for knots, _, _ in rows], np.inf)
        self._knot = _padded([_with_low_end(knots) for knots, _, _ in rows], 0.0)
        self._leave = _padded([_with_low_end(leave) for _, leave, _ in rows], 0.0)
        self._width = _padded([_ends(np.diff(knots), np.inf) for knots, _, _ in rows], np.inf)
        self._rise = _padded([_ends(reach[1:] - leave[:-1], 0.0) for _, leave, reach in rows], 0.0)
        # All rows one behind the other: numpy takes long to find out where several indices lead.
        self._first = np.arange(0, self._width.size, self._width.shape[-1])

    def segment(self, x: FloatArray) -> IntArray:
        """Return the place of each x, (..., n), in the flat arrays of segments."""
        return np.asarray(self._first + np.add.reduce(x[..., None] >= self._knots, axis=-1))

    def within(self, x: FloatArray, segment: IntArray) -> BoolArray:
        """Return whether x lies between two knots and on neither."""
        width = self._width.take(segment)
        return np.asarray((x != self._knot.take(segment)) & np.isfinite(width))

    def at(self, x: FloatArray, segment: IntArray) -> FloatArray:
        """Return the values at x, (..., n), exact on the knots."""
        part = (x - self._knot.take(segment)) / self._width.take(segment)
        return np.asarray(self._leave.take(segment) + self._rise.take(segment) * part)

    def pieces(self) -> PiecewiseQuadratic:
        """Return the same functions by constants and slopes."""
        slope = self._rise / self._width
        return PiecewiseQuadratic(
            self._knots, self._leave - slope * self._knot, slope, np.zeros_like(slope)
        )


class _Steps:
    """The distinct thrusts of a rising table and the speeds that make each."""

    def __init__(self, table: Table) -> None:
        self.levels, first = np.unique(table.thrusts, return_index=True)
        self.lowest = table.speeds[first]
        self.highest = table.speeds[np.append(first[1:], len(table.speeds)) - 1]
        # The end values hold beyond the table, so there any speed further out would do.
        low, high = self.lowest.copy(), self.highest.copy()
        low[0], high[-1] = -np.inf, np.inf
        self.nearest = np.clip(0.0, low, high)


def _with_low_end(values: FloatArray) -> FloatArray:
    """Return the value at the start of each segment, that below the table first."""
    return np.concatenate((values[:1], values))


def _ends(values: FloatArray, beyond: float) -> FloatArray:
    """Return the values of the segments between knots with those beyond them."""
    return np.concatenate(([beyond], values, [beyond]))


def _padded(rows: Sequence[FloatArray], fill: float) -> FloatArray:
    """Return rows of several lengths as one array."""
    result = np.full((len(rows), max(len(row) for row in rows)), fill)
    for i, row in enumerate(rows):
        result[i, : len(row)] = row
    return result
