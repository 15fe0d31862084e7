# SPDX-License-Identifier: Apache-2.0
"""The picture of a study: how results are spread, and what they depend on."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.pictures.signals import with_unit
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import Variable
from propulsion_ros.study.study import Study
from propulsion_ros.study.table import Column, column_of, numbers_of
from propulsion_ros.study.work import Row

_MOST, _WORST = 12, 3
_HIDDEN = ('warnings',)
_CLEAR = 0.3
"""A correlation of ranks below it is no dependence."""
_ALL, _BAD, _FAR = '#1f5fa8', '#c0392b', '#222222'
_ROW = 0.085
"""Height of a name over that of an axis."""

Limits = tuple[float, float] | None
Unit = Callable[[str], str]
"""Returns the unit of a column, '' for none."""


def draw_study(study: Study, rows: Sequence[Row], unit: Unit, path: Path) -> None:
    """Write the page as a PNG; raise `SourceError` where it cannot be written."""
    # It needs matplotlib, which a study does not.
    from propulsion_ros.pictures.picture import write_figure

    columns = [
        column for column in numbers_of(study, rows)
        if column.name not in _HIDDEN and np.ptp(column.values) > 0.0
    ][:_MOST]
    causes = [
        (variable, column) for variable in study.vary
        if (column := column_of(variable.name, rows)) is not None and np.ptp(column.values) > 0.0
    ]
    if columns:
        write_figure(lambda: _figure(study, rows, columns, causes, unit), path)


def _figure(
    study: Study, rows: Sequence[Row], columns: list[Column],
    causes: list[tuple[Variable, Column]], unit: Unit,
) -> Any:
    import matplotlib.pyplot as plt

    beside = 1 if len(columns) == 1 else 2 if len(columns) <= 4 else 3
    high = math.ceil(len(columns) / beside)
    figure: Any = plt.figure(
        figsize=(6.0 * beside, 0.7 + 3.0 * high), layout='constrained'
    )
    figure.suptitle(_finding(study, rows), fontsize=14)
    grid = figure.add_gridspec(high, beside)
    for i, column in enumerate(columns):
        limits, name = study.limits.get(column.name), unit(column.name)
        shares = (0.78, 0.22) if causes else (1.0,)
        cell = grid[divmod(i, beside)].subgridspec(1, len(shares), width_ratios=shares)
        first = figure.add_subplot(cell[0])
        first.set_title(_range_of(column, name), loc='left', fontsize=11)
        first.set_ylabel(with_unit(column.name, name))
        if causes:
            _draw_points(first, column, causes, limits, unit)
            spread = figure.add_subplot(cell[1], sharey=first)
            spread.tick_params(left=False, labelleft=False)
        _draw_spread(spread if causes else first, column, limits)
    return figure


def _finding(study: Study, rows: Sequence[Row]) -> str:
    """Return what the cases show in one line."""
    failed = sum(bool(row['error']) for row in rows)
    beyond = sum(not row['error'] and bool(study.failed_limits(row)) for row in rows)
    of = f'of {len(rows):,} cases'
    if not failed + beyond:
        return f'{study.name}: none {of} failed' + ' or left its limits' * bool(study.limits)
    words = [f'{failed:,} {of} failed'] * bool(failed)
    if beyond:
        words.append(f'{beyond:,} {"" if failed else f"{of} "}left the limits')
    return f'{study.name}: {", ".join(words)}'


def _range_of(column: Column, unit: str) -> str:
    low, high = np.quantile(column.values, (0.05, 0.95))
    return f'{column.name}: {_short(low)} to {with_unit(_short(high), unit, "")} in 90 % of cases'


def _short(number: float) -> str:
    """Return a number as a headline has it."""
    return f'{number:.3g}' if abs(number) < 1000.0 else f'{number:,.0f}'


def _draw_points(
    axis: Any, column: Column, causes: Sequence[tuple[Variable, Column]], limits: Limits,
    unit: Unit,
) -> None:
    """Draw a result over what it depends on most, and name the worst cases."""
    variable, cause = max(causes, key=lambda each: _strength(column, each[1]))
    _, mine, its = np.intersect1d(column.cases, cause.cases, return_indices=True)
    x, y = cause.values[its], column.values[mine]
    low, high = limits or (-math.inf, math.inf)
    beyond = (y < low) | (y > high)
    size = 4.0 if len(x) < 1000 else 2.5
    for chosen, colour in ((~beyond, _ALL), (beyond, _BAD)):
        axis.plot(x[chosen], y[chosen], '.', color=colour, markersize=size, alpha=0.6)
    scale = unit(variable.name) if variable.mode == 'value' else variable.mode
    clear = '' if _strength(column, cause) > _CLEAR else ' (no clear dependence)'
    axis.set_xlabel(with_unit(variable.name, scale) + clear)
    axis.margins(x=0.06, y=0.12)
    axis.grid(alpha=0.3)
    _draw_limits(axis, limits)
    numbers = column.cases[mine]
    worst = np.flatnonzero(np.isin(numbers, column.worst(_WORST, limits)))
    _name_cases(axis, x[worst], y[worst], numbers[worst], _BAD if limits else _FAR)


def _name_cases(
    axis: Any, x: FloatArray, y: FloatArray, numbers: FloatArray, colour: str
) -> None:
    """Mark points, each with its number beside it, inside the axis and apart from each other."""
    from propulsion_ros.pictures.picture import apart

    axis.plot(x, y, 'o', color=colour, markersize=5)
    (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
    across, up = (x - left) / (right - left), (y - low) / (high - low)
    order = np.argsort(-up)
    heights = apart(np.clip(up[order], _ROW, 1.0 - _ROW).tolist(), _ROW)
    for i, height in zip(order, heights, strict=True):
        side = -1.0 if across[i] > 0.5 else 1.0
        axis.annotate(
            f'case {int(numbers[i])}', (x[i], y[i]), (across[i] + 0.05 * side, height),
            textcoords='axes fraction', ha='left' if side > 0.0 else 'right', va='center',
            color=colour, fontsize=9,
            bbox={'boxstyle': 'square,pad=0.1', 'facecolor': 'white', 'alpha': 0.8, 'linewidth': 0},
            arrowprops={'arrowstyle': '-', 'color': colour, 'linewidth': 0.6, 'shrinkB': 3.0},
        )


def _draw_spread(axis: Any, column: Column, limits: Limits) -> None:
    """Draw how many cases have which values, beside them."""
    from propulsion_ros.pictures.picture import apart

    count = len(column.values)
    axis.hist(
        column.values, bins=min(60, max(12, round(1.5 * math.sqrt(count)))), color=_ALL,
        orientation='horizontal', alpha=0.75,
    )
    _draw_limits(axis, limits)
    low, high = axis.get_ylim()
    shares = (0.05, 0.5, 0.95)
    lines = [
        *((float(np.quantile(column.values, each)), f'{100.0 * each:.0f} %', _FAR)
          for each in shares),
        *((limit, 'limit', _BAD) for limit in limits or () if math.isfinite(limit)),
    ]
    lines.sort(reverse=True)
    heights = apart([(value - low) / (high - low) for value, _, _ in lines], _ROW)
    for (value, text, colour), height in zip(lines, heights, strict=True):
        if colour == _FAR:
            axis.axhline(value, color=colour, linestyle='--', linewidth=0.8)
        axis.annotate(
            text, (1.0, height), (4, 0), xycoords='axes fraction', textcoords='offset points',
            color=colour, fontsize=9, va='center', annotation_clip=False,
        )
    axis.set_xlabel('cases')
    axis.xaxis.get_major_locator().set_params(nbins=2, integer=True)


def _draw_limits(axis: Any, limits: Limits) -> None:
    for limit in limits or ():
        if math.isfinite(limit):
            axis.axhline(limit, color=_BAD, linewidth=1.2)


def _strength(column: Column, cause: Column) -> float:
    """Return how closely a result goes with a value, or with how far it is from its middle."""
    _, mine, its = np.intersect1d(column.cases, cause.cases, return_indices=True)
    if len(mine) < 3:
        return 0.0
    values, given = column.values[mine], cause.values[its]
    return max(_rank_correlation(values, given), _rank_correlation(
        values, np.abs(given - cause.median)
    ))


def _rank_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return the size of the correlation of ranks."""
    mine, its = (np.argsort(np.argsort(each)).astype(float) for each in (one, other))
    return abs(float(np.corrcoef(mine, its)[0, 1]))
