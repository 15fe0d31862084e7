# SPDX-License-Identifier: Apache-2.0
"""The plots beside a robot, from the same page of panels as a picture."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from propulsion_ros.drawing.figure import (
    COMMAND,
    FOUND,
    PREDICTED,
    RESIDUAL,
    ROUNDING,
    Page,
    Panel,
    Trace,
)
from propulsion_ros.pictures.signals import QUANTITIES
from propulsion_ros.view.numbers import flat, thinned

POINTS = 900
"""Of a line; a screen shows no more."""
SHOWN = 12
"""Plots of a page, of which each takes a tenth of a second to draw."""
_LINES = 16
"""Of a plot."""


def plots_of(page: Page) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the plots of a page, what moves and pushes first, and what is left out of them."""
    plots = [_plot(panel) for panel in (*page.above[:1], *in_order(page.panels))]
    notes = [
        f'{plot["title"]}: the first {_LINES} of {plot["count"]} lines are drawn'
        for plot in plots[:SHOWN] if plot.pop('count') > _LINES
    ]
    if len(plots) > SHOWN:
        notes.append(f'{len(plots)} plots, the first {SHOWN} are drawn')
    return plots[:SHOWN], notes


def in_order(panels: Iterable[Panel]) -> list[Panel]:
    """Return panels, those of what moves and pushes first."""
    return sorted(panels, key=_order)


def _order(panel: Panel) -> int:
    words = panel.heading.rpartition(': ')[2]
    if words == QUANTITIES['place']:
        return 0
    if words == QUANTITIES['effort']:
        return 1
    return 2 if words == 'effort [N]' else 3


def _plot(panel: Panel) -> dict[str, Any]:
    labels = [
        f'{trace.label} {trace.role}' if trace.role == RESIDUAL else trace.label
        for trace in panel.series
    ]
    names = list(dict.fromkeys(labels))
    plot: dict[str, Any] = {
        'title': panel.heading, 'count': len(names), 'marks': [
            {'name': trace.label, 'time': flat(trace.x), 'value': flat(trace.y)}
            for trace in panel.of(PREDICTED, FOUND)
        ], 'lines': [
            _line(label, trace, names.index(label))
            for trace, label in zip(panel.series, labels, strict=True) if label in names[:_LINES]
        ],
    }
    known = np.concatenate([trace.y[np.isfinite(trace.y)] for trace in panel.series])
    if panel.limits is not None and known.size:
        plot['range'] = flat(panel.limits)
    elif known.size and np.ptp(known) < ROUNDING:
        plot['range'] = flat(np.round(known[0], 6) + np.array([-1.0, 1.0]))
    return plot


def _line(name: str, trace: Trace, colour: int) -> dict[str, Any]:
    time, value = thinned(trace.x, trace.y, POINTS)
    return {
        'name': name, 'colour': colour, 'command': trace.role == COMMAND,
        'time': flat(time, 6), 'value': flat(value),
    }
