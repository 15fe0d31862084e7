# SPDX-License-Identifier: Apache-2.0
"""The plots beside a robot, from the same page of panels as a picture."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from propulsion_ros.pictures.panels import FlightPanel, Line, Page, Panel
from propulsion_ros.pictures.signals import COMMAND, QUANTITIES, RESIDUAL
from propulsion_ros.view.numbers import flat, thinned

POINTS = 900
"""Of a line; a screen shows no more."""
SHOWN = 12
"""Plots of a page, of which each takes a tenth of a second to draw."""
_LINES = 16
"""Of a plot."""
_ROUNDING = 1e-9
"""In any unit: lines that move by less are drawn flat."""


def plots_of(page: Page) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the plots of a page, what moves and pushes first, and what is left out of them."""
    plots = [_flight(page.flight)] if page.flight is not None else []
    plots += [_plot(panel.heading, panel.lines) for panel in sorted(page.panels, key=_order)]
    notes = [
        f'{plot["title"]}: the first {_LINES} of {plot["count"]} lines are drawn'
        for plot in plots[:SHOWN] if plot.pop('count') > _LINES
    ]
    if len(plots) > SHOWN:
        notes.append(f'{len(plots)} plots, the first {SHOWN} are drawn')
    return plots[:SHOWN], notes


def loop_of(page: Page) -> dict[str, Any]:
    """Return what a loop has beside the robot: plots over all of the time, if there are any."""
    panels = [panel for panel in page.panels if panel.span is None]
    plots = [_plot(panel.scale or panel.heading, panel.lines) for panel in panels]
    return {'first': page.begin, **({'plots': plots} if plots else {})}


def _order(panel: Panel) -> int:
    words = panel.heading.rpartition(': ')[2]
    if words == QUANTITIES['place']:
        return 0
    if words == QUANTITIES['effort']:
        return 1
    return 2 if words == 'effort [N]' else 3


def _plot(title: str, lines: Sequence[Line]) -> dict[str, Any]:
    labels = [
        f'{line.label} {line.role}' if line.role == RESIDUAL else line.label for line in lines
    ]
    names = list(dict.fromkeys(labels))
    plot: dict[str, Any] = {'title': title, 'count': len(names), 'marks': [], 'lines': [
        _line(label, line.time, line.value, names.index(label), line.role == COMMAND)
        for line, label in zip(lines, labels, strict=True) if label in names[:_LINES]
    ]}
    known = np.concatenate([line.value[np.isfinite(line.value)] for line in lines])
    if known.size and np.ptp(known) < _ROUNDING:
        plot['range'] = flat(np.round(known[0], 6) + np.array([-1.0, 1.0]))
    return plot


def _flight(flight: FlightPanel) -> dict[str, Any]:
    plot = _plot('altitude [m]', flight.lines)
    plot['marks'] = list(_marks(flight))
    # A spike must not flatten the flight.
    known = np.concatenate([line.value[np.isfinite(line.value)] for line in flight.lines])
    if known.size:
        low, high = np.percentile(known, (0.5, 99.5))
        span = max(high - min(low, 0.0), 10.0)
        plot['range'] = flat([min(low, 0.0) - 0.08 * span, min(low, 0.0) + 1.22 * span])
    return plot


def _marks(flight: FlightPanel) -> Iterator[dict[str, Any]]:
    for name, points in (
        ('apogee predicted', flight.predictions), ('apogee found', flight.vertices),
    ):
        if points:
            time, value = np.transpose(points)
            yield {'name': name, 'time': flat(time), 'value': flat(value)}


def _line(
    name: str, time: Any, value: Any, colour: int, is_command: bool
) -> dict[str, Any]:
    time, value = thinned(time, value, POINTS)
    return {
        'name': name, 'colour': colour, 'command': is_command,
        'time': flat(time, 6), 'value': flat(value),
    }
