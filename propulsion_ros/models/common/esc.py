# SPDX-License-Identifier: Apache-2.0
"""The curve of an electronic speed controller: what a throttle from 0 to 1 asks for.

A throttle is commanded in the field ``position``. The curve gives a speed or a thrust, as a
polynomial of the throttle or as a table that is linear between its points.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.points import Curves, numbers_of, points_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, per_row, quantity

FIELDS = {'effort': 'effort', 'velocity': 'velocity', 'throttle': 'position'}
"""The command field of each command interface."""

_GRID = np.linspace(0.0, 1.0, 1001)
_HALVINGS = 60
_NO_LIMIT = 1e12
"""The largest thrust of a thruster that has none [N]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EscParams:
    """Curves of n speed controllers, for the command interface ``throttle``."""

    esc_curve: tuple[str, ...] = per_row(
        '', kind=str,
        doc="throttle: its curve, as coefficients 'c0 c1 c2 ...' of c0 + c1 t + c2 t^2 ..., or as "
        "points 't0 v0 t1 v1 ...' from throttle 0 to 1, which must not fall; empty: in proportion "
        'to the largest thrust',
    )
    esc_kind: str = quantity(
        'polynomial', kind=str, choices=('polynomial', 'table'), doc='throttle: form of esc_curve'
    )
    esc_gives: str = quantity(
        'thrust', kind=str, choices=('thrust', 'speed'),
        doc='throttle: what esc_curve gives, thrust [N] or speed [rad/s]',
    )


def esc_of(params: Any, lowest: float = -np.inf) -> Esc | None:
    """Return the speed controllers of a configuration that is commanded by throttle, else None.

    Raises `ConfigError` as `Esc` does.
    """
    is_used = params.command_interface == 'throttle'
    return Esc(params, params.max_thrust, lowest) if is_used else None


class Esc:
    """What n speed controllers ask for at a throttle, and back.

    Parameters
    ----------
    largest : FloatArray
        Thrust at throttle 1 where there is no curve [N], (n,); `_NO_LIMIT` is none.
    lowest : float
        Least value that makes sense: 0 for what only pushes.

    Raises
    ------
    ConfigError
        For a curve that is missing, no curve or a table of no table, that falls, or goes below
        ``lowest``.
    """

    def __init__(self, params: EscParams, largest: FloatArray, lowest: float = -np.inf) -> None:
        table = params.esc_kind == 'table'
        rows = [numbers_of('esc_curve', text, i) for i, text in enumerate(params.esc_curve)]
        for i, row in enumerate(rows):
            if not row:
                rows[i] = _proportional(params, float(largest[i]), table, i)
            elif not table and row[0] == 0.0 and row[-2:-1] == [1.0] and (
                # Four are a table if the last is the limit, which coefficients would exceed.
                (len(row) > 5 or row[3:] == [largest[i]])
                and len(row) % 2 == 0 and np.all(np.diff(row[::2]) > 0.0)
            ):
                raise ConfigError(
                    'esc_curve', f'has {len(row)} numbers, of which every second one rises from 0 '
                    'to 1; is esc_kind table missing?', i,
                )
        self._curves = Curves([
            np.stack(points_of('esc_curve', row, 'throttle', i)) if table else np.array(row)
            for i, row in enumerate(rows)
        ], table)
        # Of tables all points count, of polynomials many.
        places = np.unique(np.concatenate([row[::2] for row in rows] if table else [_GRID]))
        values = self._curves.at(np.tile(places[:, None], len(rows)))
        for i, column in enumerate(values.T):
            _check_values(places, column, lowest, i)
        self._ends = values[0], values[-1]
        # A reversible one rests in the middle of its dead zone: noise moves it between the ends.
        self._least = 1e-6 * (values[-1] - values[0])
        is_none, at = np.abs(values) <= self._least, places[:, None]
        first, last = np.where(is_none, at, 1.0).min(axis=0), np.where(is_none, at, 0.0).max(axis=0)
        is_dead = (values[0] < 0.0) & (last > first)
        self._rest = np.where(is_dead, 0.5 * (first + last), np.nan)

    def demand(self, throttle: FloatArray) -> FloatArray:
        """Return what is asked for at throttles, (..., n), clamped to 0..1; NaN stays NaN."""
        return self._curves.at(np.minimum(np.maximum(throttle, 0.0), 1.0))

    def throttle(self, value: FloatArray) -> FloatArray:
        """Return the least throttle that asks for a value, (..., n), or for the nearest.

        Of no thrust it is the middle of the dead zone of one that pushes both ways.
        """
        rests = (np.abs(value) <= self._least) & ~np.isnan(self._rest)
        value = np.minimum(np.maximum(value, self._ends[0]), self._ends[1])
        low, high = np.zeros(value.shape), np.ones(value.shape)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            enough = self.demand(middle) >= value
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        least = np.where(self.demand(np.zeros(value.shape)) >= value, 0.0, high)
        return np.where(rests, self._rest, least)


def beyond(throttle: FloatArray) -> BoolArray:
    """Return which throttles are outside 0..1."""
    return np.asarray((throttle < 0.0) | (throttle > 1.0))


def _proportional(params: EscParams, largest: float, table: bool, index: int) -> list[float]:
    if params.esc_gives == 'speed' or largest == _NO_LIMIT:
        raise ConfigError(
            'esc_curve', 'is required with command_interface throttle: without it only a thrust '
            'with a largest thrust is in proportion', index,
        )
    return [0.0, 0.0, 1.0, largest] if table else [0.0, largest]


def _check_values(
    places: FloatArray, values: FloatArray, lowest: float, index: int
) -> None:
    falls = np.diff(values) < -1e-9 * max(1e-300, float(np.max(np.abs(values))))
    if np.any(falls):
        raise ConfigError(
            'esc_curve', f'falls from throttle {places[np.argmax(falls)]:.2g} on, '
            'expected one that rises from 0 to 1', index,
        )
    if values[0] < lowest:
        raise ConfigError(
            'esc_curve', f'gives {values[0]:g} at throttle 0, expected at least {lowest:g}', index
        )
