# SPDX-License-Identifier: Apache-2.0
"""Draws a page of plots as a PNG."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use('Agg')

import matplotlib.pyplot as plt

from propulsion_ros.pictures.panels import FlightPanel, Line, Page, Panel
from propulsion_ros.pictures.signals import COMMAND, PUBLISHED, RESIDUAL, Fit, Mark, Span
from propulsion_ros.settings.files import opened_to_write, writing

_COLOURS = {'altitude': '#1f4e79', 'fit': '#c0392b', 'detection': '#2e8b57', 'mark': '#555555'}
_PHASE_COLOURS = {
    'setup': '#eeeeee', 'preflight': '#dfe6ee', 'launch': '#f6e3b4', 'flight': '#cfe8d5',
    'recovery': '#d6dcf5', 'debug': '#f3d9ee',
}
_OTHER_PHASE = '#eeeeee'
_SHADES = {'lockout': '#f4b6b0', 'fit not believed': '#d9d9d9'}
_DASHES: dict[str, Any] = {COMMAND: '--', RESIDUAL: ':'}
_SIGNS = {COMMAND: '- -', RESIDUAL: '\u00b7\u00b7\u00b7'}
_CYCLE = tuple(f'C{i}' for i in range(10))
_OTHERS, _UNNAMED, _SMALL_PRINT = '#b9c0c7', 0.7, '#77808a'
"""Colour and width of lines without a name of their own, and colour of their number."""
_ROW = 0.085
"""Height of a name beside a panel, over that of the panel."""
_BESIDE: dict[str, Any] = {
    'loc': 'upper left', 'bbox_to_anchor': (1.0, 1.03), 'fontsize': 8, 'frameon': False,
    'handlelength': 1.5, 'borderaxespad': 0.2, 'labelspacing': 0.25,
}
"""The legend of the altitude is outside of it."""
_HEIGHT = 1.7  # of the flight over a panel's
_BACK = 2.0  # of a fit: its window [s]
_ROUNDING = 1e-9  # in any unit: lines that move by less are drawn flat
_ZOOM = 3.0  # to either side of the apogee [s]


def draw(page: Page, path: Path) -> None:
    """Write a page as a PNG; raise `SourceError` where it cannot be written."""
    write_figure(lambda: figure_of(page), path)


def write_figure(make: Callable[[], Any], path: Path) -> None:
    """Make a figure of pyplot, write it as a PNG, and close it.

    Raises `SourceError` where it cannot be written.
    """
    # As everywhere, whatever a user has set; names may have a dollar sign.
    with plt.style.context(['default', {'text.parse_math': False}]):
        figure = make()
        try:
            with writing(path), opened_to_write(path) as file:
                figure.savefig(file, dpi=90, format='png')
        finally:
            plt.close(figure)


def figure_of(page: Page) -> Any:
    """Return a page as a figure of pyplot, which is to be closed."""
    beside = page.beside or (3 if len(page.panels) == 3 or len(page.panels) > 8 else 2)
    count = math.ceil(len(page.panels) / beside)
    heights = [_HEIGHT] * (page.flight is not None) + [count] * (count > 0)
    width = 12.0 if page.flight is not None and beside == 3 else 5.5 * beside + 1.0
    figure: Any = plt.figure(figsize=(width, 0.8 + 2.4 * sum(heights)), layout='constrained')
    figure.suptitle(page.title, fontsize=13)
    # Two grids, since columns of one have to hold the legends of both.
    parts = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    first: Any = None
    if page.flight is not None:
        has_apogee = bool(page.flight.detections)
        widths = [2.0, 1.0] if has_apogee else [1.0]
        grid = parts[0].subgridspec(1, len(widths), width_ratios=widths)
        first = figure.add_subplot(grid[0])
        _draw_flight(first, page, page.flight)
        if has_apogee:
            _draw_apogee(figure.add_subplot(grid[1]), page.flight)
        first.set_xlabel('' if page.panels else page.time_label)
    grid = parts[-1].subgridspec(max(count, 1), beside)
    for i, panel in enumerate(page.panels):
        axis = figure.add_subplot(grid[divmod(i, beside)])
        _draw_panel(axis, page, panel, has_names=first is None)
        first = first or axis
        if i + beside >= len(page.panels):
            axis.set_xlabel(page.time_label)
    return figure


def _draw_panel(axis: Any, page: Page, panel: Panel, has_names: bool) -> None:
    """Draw the lines of a panel over the phases."""
    colours = _colours(panel)
    _draw_lines(axis, panel, colours)
    axis.set_title(panel.heading, loc='left', fontsize=10)
    axis.set_ylabel(panel.scale)
    _draw_time(axis, page, panel.span)
    _draw_marks(axis, page.marks, has_names)
    if has_names or panel.span:
        axis.margins(y=0.2)
        _name_phases(axis, page.phases, y=0.06)
    low, high = axis.get_ylim()
    if high - low < _ROUNDING:
        axis.set_ylim(low - 1.0, high + 1.0)
    _name_lines(axis, panel, colours)


def _draw_time(axis: Any, page: Page, span: tuple[float, float] | None = None) -> None:
    axis.set_xlim(*(span or (page.begin, page.end)))
    _draw_phases(axis, page.phases)
    axis.grid(alpha=0.3)
    axis.ticklabel_format(useOffset=False, axis='x')


def _draw_lines(axis: Any, panel: Panel, colours: Mapping[str, str]) -> None:
    """Draw lines: published ones solid, commands dashed and in steps, in one colour a name."""
    named = panel.named
    for line in panel.lines:
        is_command, is_named = line.role == COMMAND, line.label in named
        # The first of a few are wider, so that equal ones show below each other.
        above = len(named) - 1 - named.index(line.label) if is_named else 0
        width = 1.3 + 0.5 * min(above, 3) if is_named else _UNNAMED
        axis.plot(
            line.time, line.value, _DASHES.get(line.role, '-'),
            color=colours.get(line.label, _OTHERS), linewidth=min(width, 1.1) if is_command else
            width, zorder=(3.0 if is_command else 2.0) if is_named else 1.0,
            drawstyle='steps-post' if is_command else 'default',
        )


def _colours(panel: Panel) -> dict[str, str]:
    """Return the colours of the names; what is only demanded, or a limit, is grey."""
    solid = {line.label for line in panel.lines if line.role != COMMAND}
    bright = [name for name in panel.named if name in solid]
    return {
        name: panel.colours.get(
            name, _CYCLE[bright.index(name)] if name in bright else _COLOURS['mark']
        ) for name in panel.named
    }


def _name_lines(axis: Any, panel: Panel, colours: Mapping[str, str]) -> None:
    """Write the name of each line beside its end, in its colour, and below them what dashes are."""
    ends = sorted(
        ((_end_of(axis, panel, name), name) for name in colours), key=lambda end: -end[0]
    )
    rows = [(height, name, colours[name]) for height, name in ends]
    lowest = ends[-1][0]
    if len(panel.names) > len(colours):
        rows.append((lowest, f'{len(panel.names) - len(colours)} others', _SMALL_PRINT))
    solid = {line.label for line in panel.lines if line.role == PUBLISHED}
    roles = {line.role for line in panel.lines if line.label in solid} & set(_DASHES)
    rows += [
        (lowest, f'{_SIGNS[role]} {panel.dashed if role == COMMAND else role}', _COLOURS['mark'])
        for role in sorted(roles)
    ]
    for height, (_, text, colour) in zip(apart([row[0] for row in rows]), rows, strict=True):
        axis.annotate(
            text, (1.0, height), (4, 0), xycoords='axes fraction', textcoords='offset points',
            color=colour, fontsize=8, va='center', annotation_clip=False,
        )


def _end_of(axis: Any, panel: Panel, name: str) -> float:
    """Return how high the last known value of a line is in its axis, 0 to 1."""
    (begin, end), (low, high) = axis.get_xlim(), axis.get_ylim()
    for line in sorted(panel.lines, key=lambda line: line.role == COMMAND):
        is_seen = (line.time >= begin) & (line.time <= end) & np.isfinite(line.value)
        if line.label == name and is_seen.any():
            return float(np.clip((line.value[is_seen][-1] - low) / (high - low), 0.0, 1.0))
    return 0.0


def apart(heights: Sequence[float], row: float = _ROW) -> list[float]:
    """Return heights, which do not rise, moved so that texts there do not touch: down, if need up.

    All of them stay within 0 to 1, if there is room for rows of that height.
    """
    moved: list[float] = []
    for height in heights:
        moved.append(min(height, moved[-1] - row) if moved else height)
    for i in reversed(range(len(moved))):
        moved[i] = max(moved[i], row * (len(moved) - 1 - i))
    return moved


def _draw_flight(axis: Any, page: Page, flight: FlightPanel) -> None:
    """Draw altitude with fits, phases, marks and detection."""
    _draw_health(axis, flight.health)
    _draw_fits(axis, flight.fits, _BACK, flight.ahead)
    for i, line in enumerate(flight.lines):
        axis.plot(
            line.time, line.value, color=[_COLOURS['altitude'], *_CYCLE][i % 11],
            linewidth=1.8, label=line.label,
        )
    if flight.predictions:
        axis.plot(
            *np.transpose(flight.predictions), '.', color=_COLOURS['fit'], markersize=4.0,
            label='apogee predicted',
        )
    _draw_time(axis, page)
    axis.set_ylim(*_limits(flight.lines))
    axis.set_title('altitude [m]', loc='left', fontsize=10)
    _draw_detections(axis, flight)
    _draw_marks(axis, page.marks)
    _name_phases(axis, page.phases, y=0.03)
    if flight.fits or flight.health or len(flight.lines) > 1:
        axis.legend(**_BESIDE)


def _draw_apogee(axis: Any, flight: FlightPanel) -> None:
    """Draw the altitude about the last detection, and the fit that decided."""
    centre = flight.detections[-1]
    values = []
    for line in flight.lines:
        inside = (np.abs(line.time - centre) <= _ZOOM) & np.isfinite(line.value)
        axis.plot(
            line.time[inside], line.value[inside], '.', color=_COLOURS['altitude'], alpha=0.5,
            markersize=3.0 if np.count_nonzero(inside) > 100 else 6.0, label=line.label,
        )
        values.append(line.value[inside & (line.time <= centre + 1.0)])
    if flight.deciding is not None:
        _draw_fits(axis, [flight.deciding], _BACK, 1.0)
        axis.lines[-1].set(linewidth=2.0, zorder=3.0, label='parabola that decided')
    known = np.concatenate(values) if values else np.zeros(0)
    if known.size:
        low, high = np.percentile(known, (2.0, 98.0))
        margin = 0.4 * max(high - low, 1.0)
        axis.set_ylim(low - margin, high + margin)
    _draw_detections(axis, flight)
    axis.set_xlim(centre - _ZOOM, centre + _ZOOM)
    axis.set_title('altitude [m] about the apogee', loc='left', fontsize=10)
    # Below a top there is room.
    axis.legend(loc='lower center', fontsize=8)
    axis.grid(alpha=0.3)


def _draw_detections(axis: Any, flight: FlightPanel) -> None:
    """Draw when apogee was detected, and the vertices of the fits that decided."""
    for i, time in enumerate(flight.detections):
        axis.axvline(
            time, color=_COLOURS['detection'], linewidth=1.8, label=None if i else 'decision'
        )
    for i, vertex in enumerate(flight.vertices):
        axis.plot(
            *vertex, 'o', color=_COLOURS['fit'], markersize=5.0, zorder=5.0,
            label=None if i else 'apogee found',
        )


def _limits(lines: Sequence[Line]) -> tuple[float, float]:
    """Return the limits of the altitude; a spike must not flatten the flight [m]."""
    known = np.concatenate([line.value[np.isfinite(line.value)] for line in lines] or [np.zeros(1)])
    if not known.size:
        return 0.0, 1.0
    low, high = np.percentile(known, (0.5, 99.5))
    span = max(high - min(low, 0.0), 10.0)
    return min(low, 0.0) - 0.08 * span, min(low, 0.0) + 1.22 * span


def _draw_fits(axis: Any, fits: Sequence[Fit], back: float, ahead: float) -> None:
    """Draw fits dotted, each from ``back`` before its time to ``ahead`` after it [s]."""
    t = np.linspace(-back, ahead, 80)
    for i, fit in enumerate(fits):
        axis.plot(
            fit.time + t, fit.altitude + fit.velocity * t + 0.5 * fit.acceleration * t**2, ':',
            color=_COLOURS['fit'], linewidth=0.9, alpha=0.75,
            label=None if i else 'parabolas fitted to it',
        )


def _draw_health(axis: Any, spans: Iterable[Span]) -> None:
    """Shade where the detector was kept from deciding."""
    named = set()
    for span in spans:
        axis.axvspan(
            span.begin, span.end, color=_SHADES[span.name], alpha=0.55, linewidth=0.0,
            label=None if span.name in named else span.name,
        )
        named.add(span.name)


def _draw_phases(axis: Any, phases: Iterable[Span]) -> None:
    """Shade phases behind what else is drawn."""
    for span in phases:
        axis.axvspan(
            span.begin, span.end, color=_PHASE_COLOURS.get(span.name, _OTHER_PHASE), alpha=0.5,
            linewidth=0.0, zorder=0.0,
        )


def _name_phases(axis: Any, phases: Iterable[Span], y: float) -> None:
    """Write the names of phases at a height (0 to 1) of an axis, where there is room for them."""
    low, high = axis.get_xlim()
    for span in phases:
        share = (min(span.end, high) - max(span.begin, low)) / (high - low)
        if share > 0.05:
            axis.text(
                (max(span.begin, low) + min(span.end, high)) / 2, y, span.name, ha='center',
                va='center', fontsize=10 if share > 0.08 else 7,
                transform=axis.get_xaxis_transform(),
            )


def _draw_marks(axis: Any, marks: Iterable[Mark], has_names: bool = True) -> None:
    """Draw a line for each moment; names that would touch go on lines of their own."""
    last, row = -np.inf, 0
    low, high = axis.get_xlim()
    for mark in sorted(mark for mark in marks if low <= mark.time <= high):
        axis.axvline(mark.time, color=_COLOURS['mark'], linewidth=0.8, linestyle=':')
        if not has_names:
            continue
        row = (row + 1) % 3 if mark.time - last < 0.09 * (high - low) else 0
        last = mark.time
        is_near_end = mark.time > high - 0.15 * (high - low)
        axis.annotate(
            mark.name, (mark.time, 1.0 - 0.065 * row), xycoords=('data', 'axes fraction'),
            xytext=(-3 if is_near_end else 3, -11), textcoords='offset points', fontsize=8.5,
            ha='right' if is_near_end else 'left', color='#333333',
        )
