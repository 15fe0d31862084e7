# SPDX-License-Identifier: Apache-2.0
"""The page of a study: distributions of the results, and the variables they depend on."""
from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from propulsion_ros.drawing.figure import COLOURS, SAMPLED, Callout, Level, Page, Panel, Trace
from propulsion_ros.pictures.signals import with_unit
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import Variable
from propulsion_ros.study.study import Column, Row, Study, column_of, numbers_of

_MOST = 12  # results that are drawn
_WORST = 3  # worst cases that are labelled
_HIDDEN = ('warnings',)
_CLEAR = 0.3  # rank correlation above which a dependence is clear
_ROUNDING = 1e-12  # relative spread of equal numbers after rounding
_SHARES = (0.05, 0.5, 0.95)  # quantiles that are drawn as levels
_COLOURS = {'within': COLOURS['case'], 'beyond': COLOURS['beyond']}

Causes = Sequence[tuple[Variable, Column]]
Limits = tuple[float, float] | None
Unit = Callable[[str], str]
"""Returns the unit of a column, '' for none."""


def draw_study(study: Study, rows: Sequence[Row], unit: Unit, path: Path) -> None:
    """Write the page as a PNG; raise `SourceError` if it cannot be written."""
    # It needs matplotlib, which a study does not.
    from propulsion_ros.pictures.picture import draw

    page = page_of_study(study, rows, unit)
    if page.panels:
        draw(page, path)


def page_of_study(study: Study, rows: Sequence[Row], unit: Unit) -> Page:
    """Return the page of a study: a panel for each numeric result that varies, by variant.

    Results with two values, such as flags, are rates: the title has those.
    """
    variants = study.variants(rows)
    columns = [
        (column, text) for each in numbers_of(study, rows) for text, own in variants.items()
        if each.name not in _HIDDEN and (column := column_of(each.name, own)) is not None
        and _varies(column) and not column.counts
    ][:_MOST]
    causes = [
        (variable, column) for variable in study.vary
        if (column := column_of(variable.name, rows)) is not None and _varies(column)
    ]
    return Page(
        _finding(study, rows), '', 0.0, 1.0,
        panels=tuple(
            _panel(column, text, causes, study.limits.get(column.name), unit)
            for column, text in columns
        ),
        beside=1 if len(columns) == 1 else 2 if len(columns) <= 4 else 3,
    )


def _varies(column: Column) -> bool:
    """Return whether the numbers of a column differ by more than rounding."""
    return bool(np.ptp(column.values) > _ROUNDING * np.max(np.abs(column.values)))


def _finding(study: Study, rows: Sequence[Row]) -> str:
    """Return one line on how many cases failed or left their limits, of each variant."""
    found = []
    for text, own in study.variants(rows).items():
        failed = sum(bool(row['error']) for row in own)
        names = [study.failed_limits(row) for row in own if not row['error']]
        beyond, of = sum(map(bool, names)), f'of {len(own):,} cases'
        words = [f'{failed:,} {of} failed'] * bool(failed)
        if beyond:
            words.append(f'{beyond:,} {"" if failed else f"{of} "}left the limits')
        if not words:
            words = [f'none {of} failed' + ' or left its limits' * bool(study.limits)]
        each = Counter(itertools.chain(*names)) if len(study.limits) > 1 else {}
        by = ', '.join(f'{name} {count:,}' for name, count in each.items())
        found.append(f'{text}: ' * bool(text) + ', '.join(words) + f' ({by})' * bool(by))
    return f'{study.name}: {"; ".join(found)}'


def _range_of(column: Column, text: str, unit: str) -> str:
    low, high = np.quantile(column.values, _SHARES[::2])
    name = f'{text}, {column.name}' if text else column.name
    return f'{name}: {_short(low)} to {with_unit(_short(high), unit, "")} in 90 % of cases'


def _short(number: float) -> str:
    """Return a number as text of a few digits."""
    return f'{number:,.0f}' if 1e3 <= abs(number) < 1e9 else f'{number:.3g}'


def _panel(column: Column, text: str, causes: Causes, limits: Limits, unit: Unit) -> Panel:
    """Return a result over the variable it depends on most, its distribution and worst cases."""
    name = unit(column.name)
    spread = Panel(
        _range_of(column, text, name), scale=with_unit(column.name, name), spread=column.values,
        levels=(
            *(Level(float(np.quantile(column.values, share)), f'{100.0 * share:.0f} %', False)
              for share in _SHARES),
            *(Level(limit, 'limit', True) for limit in limits or () if math.isfinite(limit)),
        ),
    )
    if not causes:
        return spread
    variable, cause = max(causes, key=lambda each: _strength(column, each[1]))
    _, mine, its = np.intersect1d(column.cases, cause.cases, return_indices=True)
    x, y, numbers = cause.values[its], column.values[mine], column.cases[mine]
    low, high = limits or (-math.inf, math.inf)
    beyond = (y < low) | (y > high)
    scale = unit(variable.name) if variable.mode == 'value' else variable.mode
    clear = '' if _strength(column, cause) > _CLEAR else ' (no clear dependence)'
    return replace(
        spread, across=with_unit(variable.name, scale) + clear, colours=_COLOURS,
        traces=(
            Trace('within', SAMPLED, x[~beyond], y[~beyond]),
            Trace('beyond', SAMPLED, x[beyond], y[beyond]),
        ),
        callouts=tuple(
            Callout(float(x[i]), float(y[i]), f'case {int(numbers[i])}', bool(beyond[i]))
            for i in np.flatnonzero(np.isin(numbers, column.worst(_WORST, limits)))
        ),
    )


def _strength(column: Column, cause: Column) -> float:
    """Return the rank correlation of a result with a variable, or with its distance from median."""
    _, mine, its = np.intersect1d(column.cases, cause.cases, return_indices=True)
    if len(mine) < 3:
        return 0.0
    values, given = column.values[mine], cause.values[its]
    return max(_rank_correlation(values, given), _rank_correlation(
        values, np.abs(given - cause.median)
    ))


def _rank_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return the absolute rank correlation."""
    mine, its = (np.argsort(np.argsort(each)).astype(float) for each in (one, other))
    return abs(float(np.corrcoef(mine, its)[0, 1]))
