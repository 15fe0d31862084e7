# SPDX-License-Identifier: Apache-2.0
"""Draws a page of plots as a PNG."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use('Agg')

import matplotlib.pyplot as plt
from matplotlib.ticker import EngFormatter

from propulsion_ros.drawing.figure import (
    BAND_COLOURS,
    COLOURS,
    COMMAND,
    PHASE_COLOURS,
    PUBLISHED,
    ROUNDING,
    SERIES,
    STYLES,
    Mark,
    Page,
    Panel,
    Span,
    Trace,
)
from propulsion_ros.settings.files import opened_to_write, writing
from propulsion_ros.settings.quantity import FloatArray

_OTHER_PHASE = '#eeeeee'
_SIGNS = {'--': '- -', ':': '\u00b7\u00b7\u00b7'}
_CYCLE = tuple(f'C{i}' for i in range(10))
_OTHERS = '#b9c0c7'  # colour of traces without a name of their own
_UNNAMED = 0.7  # width of such traces [pt]
_SMALL_PRINT = '#77808a'  # colour of their number
_ROW = 0.085  # height of a name beside a panel, over that of the panel
_TEXT = 8  # size of such a name [pt]
_LETTER = 5.5  # width of a letter in the name of a mark [pt]
_LEGENDS: dict[str, dict[str, Any]] = {
    'beside': {
        'loc': 'upper left', 'bbox_to_anchor': (1.0, 1.03), 'fontsize': 8, 'frameon': False,
        'handlelength': 1.5, 'borderaxespad': 0.2, 'labelspacing': 0.25,
    },
    # There is room below the top of a flight.
    'inside': {'loc': 'lower center', 'fontsize': 8},
}
_HEIGHT = 1.7  # height of a panel in the row above, over that of another one
_SPREAD = (0.78, 0.22)  # widths of traces and of their histogram
_LARGE = 1e5  # value from which on an axis has k, M or G behind its numbers
_ALIKE = 1e-3  # range over value up to which six digits do not tell the numbers of an axis apart
_FEW = 100  # most single points that are drawn large
_MANY = 1000  # number of single points above which they are drawn small


def draw(page: Page, path: Path) -> None:
    """Write a page as a PNG; raise `SourceError` if it cannot be written."""
    write_figure(lambda: figure_of(page), path)


def write_figure(make: Callable[[], Any], path: Path) -> None:
    """Make a figure of pyplot, write it as a PNG, and close it.

    Raises `SourceError` if it cannot be written.
    """
    # The default style, whatever a user has set. Names may have a dollar sign, or letters that the
    # font lacks, for which it draws boxes.
    with plt.style.context(['default', {'text.parse_math': False}]), warnings.catch_warnings():
        warnings.filterwarnings('ignore', 'Glyph .* missing from')
        figure = make()
        try:
            with writing(path), opened_to_write(path) as file:
                figure.savefig(file, dpi=90, format='png')
        finally:
            plt.close(figure)


def figure_of(page: Page) -> Any:
    """Return a page as a figure of pyplot, which the caller must close."""
    beside = page.beside or (3 if len(page.panels) == 3 or len(page.panels) > 8 else 2)
    count = math.ceil(len(page.panels) / beside)
    heights = [_HEIGHT] * bool(page.above) + [count] * (count > 0)
    width = 12.0 if page.above and beside == 3 else 5.5 * beside + 1.0
    figure: Any = plt.figure(figsize=(width, 0.8 + 2.4 * sum(heights)), layout='constrained')
    figure.suptitle(page.title, fontsize=13)
    # Two grids, since the columns of a single one would have to fit the legends of both.
    parts = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    if page.above:
        widths = [2.0, 1.0][:len(page.above)]
        grid = parts[0].subgridspec(1, len(widths), width_ratios=widths)
        for i, panel in enumerate(page.above):
            axis = figure.add_subplot(grid[i])
            draw_panel(axis, page, panel, has_names=not i)
    grid = parts[-1].subgridspec(max(count, 1), beside)
    for i, panel in enumerate(page.panels):
        cell = grid[divmod(i, beside)]
        if panel.spread is None:
            axis = figure.add_subplot(cell)
            draw_panel(axis, page, panel, has_names=not i and not page.above)
        else:
            _draw_spread(figure, cell, page, panel, panel.spread)
    return figure


def draw_panel(axis: Any, page: Page, panel: Panel, has_names: bool) -> None:
    """Draw a panel over the phases of its page, with names of phases and marks if ``has_names``."""
    colours = _colours(panel)
    for band in panel.bands:
        axis.axvspan(
            band.begin, band.end, color=BAND_COLOURS[band.name], alpha=0.55, linewidth=0.0,
            label=band.name,
        )
    _draw_traces(axis, panel, colours)
    axis.set_title(panel.heading, loc='left', fontsize=10)
    axis.set_ylabel(panel.scale or panel.unit)
    axis.set_xlabel(panel.across or page.time_label)
    if panel.across:
        axis.margins(x=0.06)
    else:
        axis.set_xlim(*(panel.span or (page.begin, page.end)))
        _draw_phases(axis, page.phases)
        axis.ticklabel_format(useOffset=False, axis='x')
    axis.grid(alpha=0.3)
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)
    elif has_names or panel.span:
        axis.margins(y=0.2)
    elif panel.levels or panel.callouts:
        axis.margins(y=0.12)
    _draw_limits(axis, panel)
    low, high = axis.get_ylim()
    if high - low < ROUNDING:
        axis.set_ylim(low - 1.0, high + 1.0)
    largest = max(abs(low), abs(high))
    if largest >= _LARGE and high - low > _ALIKE * largest:
        axis.yaxis.set_major_formatter(EngFormatter(sep=' '))
    for event in panel.events:
        axis.axvline(event.time, color=COLOURS['event'], linewidth=1.8, label=event.name)
    _call_out(axis, panel)
    if not panel.across:
        _draw_marks(axis, page.marks, has_names)
    if has_names or (panel.span and not panel.legend):
        _name_phases(axis, page.phases, y=0.03 if page.above and has_names else 0.06)
    if panel.legend:
        handles, labels = axis.get_legend_handles_labels()
        # The first trace of each name.
        named = dict(zip(reversed(labels), reversed(handles), strict=True))
        names = list(dict.fromkeys(labels))
        axis.legend([named[name] for name in names], names, **_LEGENDS[panel.legend])
    elif colours:
        _name_traces(axis, panel, colours)


def _draw_traces(axis: Any, panel: Panel, colours: Mapping[str, str]) -> None:
    """Draw traces in the styles of their roles, and series in one colour for each name."""
    for trace in panel.traces:
        style = STYLES[trace.role]
        colour, width, order = style.colour, style.size or None, 3.0 if style.is_above else 2.0
        if trace.role in SERIES:
            colour, width, order = _line_of(panel, trace, colours)
        elif not colour:
            colour = panel.colours.get(trace.label, COLOURS['altitude'])
        count = trace.x.size
        size = style.size or (6.0 if count <= _FEW else 3.5 if count <= _MANY else 2.5)
        axis.plot(
            trace.x, trace.y, style.marker or style.dash, color=colour, markersize=size,
            linewidth=width, alpha=style.opacity, zorder=order,
            drawstyle='steps-post' if style.is_held else 'default',
            label=trace.label or None,
        )


def _line_of(
    panel: Panel, trace: Trace, colours: Mapping[str, str]
) -> tuple[str, float, float]:
    """Return colour, width and order of a series."""
    named, is_command = panel.named, trace.role == COMMAND
    if trace.label not in named:
        return _OTHERS, min(_UNNAMED, 1.1), 1.0
    # Earlier traces are wider, so that they show below equal ones.
    above = len(named) - 1 - named.index(trace.label)
    width = 1.3 + 0.5 * min(above, 3)
    return colours[trace.label], min(width, 1.1) if is_command else width, 2.0 + is_command


def _colours(panel: Panel) -> dict[str, str]:
    """Return the colours of the names; a mere command beside others, or a limit, is grey."""
    solid = {trace.label for trace in panel.series if trace.role != COMMAND} or set(panel.named)
    bright = [name for name in panel.named if name in solid]
    return {
        name: panel.colours.get(
            name, _CYCLE[bright.index(name)] if name in bright else COLOURS['mark']
        ) for name in panel.named
    }


def _name_traces(axis: Any, panel: Panel, colours: Mapping[str, str]) -> None:
    """Write the name of each trace beside its end, in its colour, and the meaning of dashes."""
    ends = sorted(
        ((_end_of(axis, panel, name), name) for name in colours), key=lambda end: -end[0]
    )
    rows = [(height, name, colours[name]) for height, name in ends]
    lowest = ends[-1][0]
    if len(panel.names) > len(colours):
        rows.append((lowest, f'{len(panel.names) - len(colours)} others', _SMALL_PRINT))
    solid = {trace.label for trace in panel.series if trace.role == PUBLISHED}
    roles = {trace.role for trace in panel.series if trace.label in solid} - {PUBLISHED}
    rows += [
        (lowest, f'{_SIGNS[STYLES[role].dash]} {panel.dashed if role == COMMAND else role}',
         COLOURS['mark']) for role in sorted(roles)
    ]
    _write_beside(axis, rows)


def _write_beside(axis: Any, rows: Sequence[tuple[float, str, str]]) -> None:
    """Write texts to the right of an axis: height, which does not rise, text and colour of each."""
    # The final layout leaves the axis no higher than it is now.
    row = max(_ROW, 1.3 * _TEXT / 72.0 * axis.figure.dpi / axis.bbox.height)
    heights = apart([height for height, _, _ in rows], row)
    for height, (_, text, colour) in zip(heights, rows, strict=True):
        axis.annotate(
            text, (1.0, height), (4, 0), xycoords='axes fraction', textcoords='offset points',
            color=colour, fontsize=_TEXT, va='center', annotation_clip=False,
        )


def _end_of(axis: Any, panel: Panel, name: str) -> float:
    """Return the height of the last known value of a trace in its axis, 0 to 1."""
    (begin, end), (low, high) = axis.get_xlim(), axis.get_ylim()
    for trace in sorted(panel.series, key=lambda trace: trace.role == COMMAND):
        is_seen = (trace.x >= begin) & (trace.x <= end) & np.isfinite(trace.y)
        if trace.label == name and is_seen.any():
            return float(np.clip((trace.y[is_seen][-1] - low) / (high - low), 0.0, 1.0))
    return 0.0


def apart(heights: Sequence[float], row: float = _ROW) -> list[float]:
    """Return heights, which do not rise, moved down, or up if needed, so that texts do not touch.

    All of them stay within 0 to 1 if there is room for rows of that height.
    """
    moved: list[float] = []
    for height in heights:
        moved.append(min(height, moved[-1] - row if moved else 1.0))
    for i in reversed(range(len(moved))):
        moved[i] = max(moved[i], row * (len(moved) - 1 - i))
    return moved


def _draw_spread(
    figure: Any, cell: Any, page: Page, panel: Panel, values: FloatArray
) -> None:
    """Draw a panel with the histogram of values beside its traces, or the histogram alone."""
    widths = _SPREAD if panel.traces else (1.0,)
    grid = cell.subgridspec(1, len(widths), width_ratios=widths)
    first = axis = figure.add_subplot(grid[0])
    if panel.traces:
        draw_panel(axis, page, panel, has_names=False)
        axis = figure.add_subplot(grid[1], sharey=first)
        axis.tick_params(left=False, labelleft=False)
    else:
        axis.set_title(panel.heading, loc='left', fontsize=10)
        axis.set_ylabel(panel.scale)
    axis.hist(
        values, bins=min(60, max(12, round(1.5 * math.sqrt(values.size)))),
        color=COLOURS['case'], orientation='horizontal', alpha=0.75,
    )
    _draw_limits(axis, panel)
    low, high = axis.get_ylim()
    rows = []
    for level in sorted(panel.levels, reverse=True):
        colour = COLOURS['beyond' if level.is_limit else 'far']
        if not level.is_limit:
            axis.axhline(level.value, color=colour, linestyle='--', linewidth=0.8)
        rows.append(((level.value - low) / (high - low), level.name, colour))
    _write_beside(axis, rows)
    axis.set_xlabel('cases')
    axis.xaxis.get_major_locator().set_params(nbins=2, integer=True)


def _draw_limits(axis: Any, panel: Panel) -> None:
    for level in panel.levels:
        if level.is_limit:
            axis.axhline(level.value, color=COLOURS['beyond'], linewidth=1.2)


def _call_out(axis: Any, panel: Panel) -> None:
    """Mark points with texts beside them, inside the axis and without overlap."""
    if not panel.callouts:
        return
    x, y = np.transpose([callout[:2] for callout in panel.callouts]).astype(float)
    colours = [COLOURS['beyond' if callout.is_beyond else 'far'] for callout in panel.callouts]
    axis.scatter(x, y, color=colours, s=25, zorder=3)
    (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
    across, up = (x - left) / (right - left), (y - low) / (high - low)
    order = np.argsort(-up)
    heights = apart(np.clip(up[order], _ROW, 1.0 - _ROW).tolist())
    for i, height in zip(order, heights, strict=True):
        side = -1.0 if across[i] > 0.5 else 1.0
        axis.annotate(
            panel.callouts[i].text, (x[i], y[i]), (across[i] + 0.05 * side, height),
            textcoords='axes fraction', ha='left' if side > 0.0 else 'right', va='center',
            color=colours[i], fontsize=9,
            bbox={'boxstyle': 'square,pad=0.1', 'facecolor': 'white', 'alpha': 0.8, 'linewidth': 0},
            arrowprops={'arrowstyle': '-', 'color': colours[i], 'linewidth': 0.6, 'shrinkB': 3.0},
        )


def _draw_phases(axis: Any, phases: Iterable[Span]) -> None:
    """Shade phases behind everything else."""
    for span in phases:
        axis.axvspan(
            span.begin, span.end, color=PHASE_COLOURS.get(span.name, _OTHER_PHASE), alpha=0.5,
            linewidth=0.0, zorder=0.0,
        )


def _name_phases(axis: Any, phases: Iterable[Span], y: float) -> None:
    """Write the names of phases at a height (0 to 1) of an axis if there is room for them."""
    low, high = axis.get_xlim()
    for span in phases:
        begin, end = max(span.begin, low), min(span.end, high)
        text = axis.text(
            (begin + end) / 2, y, span.name, ha='center', va='center',
            transform=axis.get_xaxis_transform(),
        )
        for size in (10, 7):
            text.set_fontsize(size)
            if text.get_window_extent().width <= (end - begin) / (high - low) * axis.bbox.width:
                break
        else:
            text.remove()


def _draw_marks(axis: Any, marks: Iterable[Mark], has_names: bool = True) -> None:
    """Draw a line for each mark; a name that would touch another one is put below it."""
    low, high = axis.get_xlim()
    # The final layout leaves the axis a little narrower than it is now.
    letter = _LETTER / 72.0 * axis.figure.dpi / axis.bbox.width * (high - low)
    ends: list[float] = []
    for mark in sorted(mark for mark in marks if low <= mark.time <= high):
        axis.axvline(mark.time, color=COLOURS['mark'], linewidth=0.8, linestyle=':')
        if not has_names:
            continue
        width = letter * (len(mark.name) + 1)
        is_near_end = mark.time + width > high and mark.time - width > low
        begin = mark.time - width if is_near_end else mark.time
        row = next((i for i, end in enumerate(ends) if end <= begin), len(ends))
        ends[row:row + 1] = [begin + width]
        axis.annotate(
            mark.name, (mark.time, 1.0 - 0.065 * row), xycoords=('data', 'axes fraction'),
            xytext=(-3 if is_near_end else 3, -11), textcoords='offset points', fontsize=8.5,
            ha='right' if is_near_end else 'left', color='#333333',
        )
