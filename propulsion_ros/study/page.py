# SPDX-License-Identifier: Apache-2.0
"""The picture of a study: how results are spread, and what they depend on."""
from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.study import Study
from propulsion_ros.study.table import Column, column_of, numbers_of
from propulsion_ros.study.work import Row

_MOST, _BESIDE, _WORST = 12, 4, 3
_HIDDEN = ('warnings',)


def draw_study(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Write the page as a PNG; raise `SourceError` where it cannot be written."""
    # It needs matplotlib, which a study does not.
    from propulsion_ros.pictures.picture import write_figure

    columns = [
        column for column in numbers_of(study, rows)
        if column.name not in _HIDDEN and np.ptp(column.values) > 0.0
    ][:_MOST]
    causes = [
        column for variable in study.vary
        if (column := column_of(variable.name, rows)) is not None and np.ptp(column.values) > 0.0
    ]
    if columns:
        write_figure(lambda: _figure(study, len(rows), columns, causes), path)


def _figure(study: Study, count: int, columns: list[Column], causes: list[Column]) -> Any:
    import matplotlib.pyplot as plt

    beside = min(_BESIDE, len(columns))
    rows = math.ceil(len(columns) / beside) * (2 if causes else 1)
    figure, axes = plt.subplots(
        rows, beside, figsize=(4.2 * beside, 0.6 + 2.7 * rows), layout='constrained', squeeze=False
    )
    figure.suptitle(f'{study.name}: {count} cases; dashed: 5 %, 50 %, 95 %; dotted: limits')
    for axis in axes.flat:
        axis.set_visible(False)
    for i, column in enumerate(columns):
        row, place = divmod(i, beside)
        limits = study.limits.get(column.name)
        _histogram(axes[row * (2 if causes else 1), place], column, limits)
        if causes:
            _scatter(axes[row * 2 + 1, place], column, _strongest(column, causes), limits)
    return figure


def _histogram(axis: Any, column: Column, limits: tuple[float, float] | None) -> None:
    axis.set_visible(True)
    axis.hist(column.values, bins=min(50, max(10, round(math.sqrt(len(column.values))))))
    for share in (0.05, 0.5, 0.95):
        axis.axvline(np.quantile(column.values, share), color='k', linestyle='--', linewidth=0.8)
    for limit in limits or ():
        if math.isfinite(limit):
            axis.axvline(limit, color='#c0392b', linestyle=':')
    axis.set_title(column.name, loc='left', fontsize=10)
    axis.set_ylabel('cases')


def _scatter(
    axis: Any, column: Column, cause: Column, limits: tuple[float, float] | None
) -> None:
    """Draw a result over what it depends on most, and name the worst cases."""
    axis.set_visible(True)
    given = dict(zip(cause.cases, cause.values, strict=True))
    both = [
        (given[case], value, int(case))
        for case, value in zip(column.cases, column.values, strict=True) if case in given
    ]
    axis.plot([x for x, _, _ in both], [y for _, y, _ in both], '.', markersize=3, alpha=0.6)
    worst = set(column.worst(_WORST, limits))
    for x, y, case in both:
        if case in worst:
            axis.plot([x], [y], 'o', color='#c0392b', markersize=4)
            axis.annotate(f'case {case}', (x, y), fontsize=7, xytext=(3, 3),
                          textcoords='offset points')
    for limit in limits or ():
        if math.isfinite(limit):
            axis.axhline(limit, color='#c0392b', linestyle=':')
    axis.set_xlabel(cause.name)
    axis.set_ylabel(column.name)
    axis.grid(alpha=0.3)


def _strongest(column: Column, causes: Sequence[Column]) -> Column:
    """Return what a result goes with most closely: its value, or how far it is from its middle."""
    def strength(cause: Column) -> float:
        _, mine, its = np.intersect1d(column.cases, cause.cases, return_indices=True)
        if len(mine) < 3:
            return 0.0
        values, given = column.values[mine], cause.values[its]
        return max(_rank_correlation(values, given), _rank_correlation(
            values, np.abs(given - cause.median)
        ))

    return max(causes, key=strength)


def _rank_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return the size of the correlation of ranks."""
    mine, its = (np.argsort(np.argsort(each)).astype(float) for each in (one, other))
    return abs(float(np.corrcoef(mine, its)[0, 1]))
