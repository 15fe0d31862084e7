# SPDX-License-Identifier: Apache-2.0
"""Content of a figure for any renderer: a page of panels with traces, bands and events."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from propulsion_ros.settings.quantity import BoolArray, FloatArray

PUBLISHED, COMMAND, RESIDUAL, ESTIMATED = 'published', 'command', 'residual', 'estimated'
"""Roles of series: values that a node publishes, its commands, residuals, and estimates."""
SAMPLED, FITTED, DECIDING, PREDICTED, FOUND = 'sampled', 'fitted', 'deciding', 'predicted', 'found'
"""Roles of other traces: single points, and results computed from them."""
SERIES = (PUBLISHED, COMMAND, RESIDUAL, ESTIMATED)

COLOURS = {
    'altitude': '#1f4e79', 'fit': '#c0392b', 'event': '#2e8b57', 'mark': '#555555',
    'far': '#222222', 'beyond': '#c0392b', 'case': '#1f5fa8',
}
"""Colours that have the same meaning in every figure."""
PHASE_COLOURS = {
    'setup': '#eeeeee', 'preflight': '#dfe6ee', 'launch': '#f6e3b4', 'flight': '#cfe8d5',
    'recovery': '#d6dcf5', 'debug': '#f3d9ee',
}
BAND_COLOURS = {'lockout': '#f4b6b0', 'fit not believed': '#d9d9d9'}

ROUNDING = 1e-9
"""Largest change of a trace that is drawn flat, in any unit."""
_NAMED = 6  # most names of a panel of which all have colours and names
_CHOSEN = 3  # names that have them in a panel with more, those that move most


class Span(NamedTuple):
    """A named part of the time axis [s]."""

    begin: float
    end: float
    name: str


def spans_where(
    is_in: BoolArray, time: FloatArray, name: str, end: float = np.inf
) -> list[Span]:
    """Return the spans of time in which a condition holds, each up to the sample after it.

    ``time`` [s] and ``is_in`` are (n,); no span goes beyond ``end`` [s].
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_in, [False])).astype(int)))
    ends = np.append(time, time[-1:])
    return [Span(float(time[i]), min(float(ends[j]), end), name) for i, j in edges.reshape(-1, 2)]


class Mark(NamedTuple):
    """A named moment [s]."""

    time: float
    name: str


@dataclass(frozen=True)
class TraceStyle:
    """Style of the traces of a role."""

    dash: str = '-'
    """'-', '--', ':', or '' for points without a line."""
    marker: str = ''
    size: float = 0.0
    """Size of the marker or width of the line [pt], 0 for that of its panel."""
    colour: str = ''
    """Colour, '' for that of the label."""
    opacity: float = 1.0
    is_held: bool = False
    """True if a value holds until the next one."""
    is_above: bool = False


STYLES = {
    PUBLISHED: TraceStyle(),
    COMMAND: TraceStyle('--', is_held=True),
    RESIDUAL: TraceStyle(':'),
    ESTIMATED: TraceStyle('--'),
    SAMPLED: TraceStyle('', '.', opacity=0.6),
    FITTED: TraceStyle(':', size=0.9, colour=COLOURS['fit'], opacity=0.75),
    DECIDING: TraceStyle(':', size=2.0, colour=COLOURS['fit'], opacity=0.75, is_above=True),
    PREDICTED: TraceStyle('', '.', 4.0, COLOURS['fit']),
    FOUND: TraceStyle('', 'o', 5.0, COLOURS['fit'], is_above=True),
}
"""Style of each role."""


@dataclass(frozen=True)
class Trace:
    """One series of a panel, or points of one kind."""

    label: str
    """Name of the trace, '' for none; traces of one label have one colour."""
    role: str
    """A key of `STYLES`."""
    x: FloatArray
    """Time [s] on the axis of the page, or another quantity; NaN where time goes back."""
    y: FloatArray


class Callout(NamedTuple):
    """A point with a text beside it."""

    x: float
    y: float
    text: str
    is_beyond: bool = False
    """True if it is beyond a limit."""


class Level(NamedTuple):
    """A value across a panel, with its name at the edge."""

    value: float
    name: str
    is_limit: bool


@dataclass(frozen=True)
class Panel:
    """Traces of one quantity over time, or over another one."""

    heading: str
    traces: tuple[Trace, ...] = ()
    span: tuple[float, float] | None = None
    """Part of the time that it shows [s]; None for that of the page."""
    scale: str = ''
    """Label of its vertical axis: a quantity with its unit, if the heading has none."""
    dashed: str = COMMAND
    """Meaning of a dashed trace that has the label of a solid one."""
    colours: Mapping[str, str] = field(default_factory=dict)
    """Colours of labels that have the same one in all panels."""
    limits: tuple[float, float] | None = None
    """Ends of the vertical axis; None to fit the traces."""
    bands: tuple[Span, ...] = ()
    events: tuple[Mark, ...] = ()
    """Bands behind this panel alone, and events across it."""
    legend: str = ''
    """'beside' or 'inside' for a legend there, '' for names at the ends of traces."""
    across: str = ''
    """Quantity of the horizontal axis with its unit, '' for time."""
    callouts: tuple[Callout, ...] = ()
    levels: tuple[Level, ...] = ()
    """Levels, drawn with their names across the histogram; of them limits across the traces too."""
    spread: FloatArray | None = None
    """Values of a histogram beside the traces."""

    @property
    def unit(self) -> str:
        """Unit in brackets in the heading, '' if it has none."""
        begin, end = self.heading.find('['), self.heading.rfind(']')
        return self.heading[begin:end + 1] if begin >= 0 else ''

    @property
    def series(self) -> tuple[Trace, ...]:
        """The traces that are series."""
        return self.of(*SERIES)

    def of(self, *roles: str) -> tuple[Trace, ...]:
        """Return the traces of some roles."""
        return tuple(trace for trace in self.traces if trace.role in roles)

    @property
    def names(self) -> tuple[str, ...]:
        """Each label of a series once."""
        return tuple(dict.fromkeys(trace.label for trace in self.series))

    @property
    def named(self) -> tuple[str, ...]:
        """Labels that are shown: all if there are few, else those that move most."""
        names = self.names
        if len(names) <= _NAMED:
            return names
        moved = most_moved(self.series)
        chosen = sorted(names, key=lambda name: -moved[name])[:_CHOSEN]
        return tuple(name for name in names if name in chosen)


def most_moved(traces: Iterable[Trace]) -> dict[str, float]:
    """Return the largest range of the traces of each label, in their unit."""
    moved: dict[str, float] = {}
    for trace in traces:
        known = trace.y[np.isfinite(trace.y)]
        far = float(np.ptp(known)) if known.size else 0.0
        moved[trace.label] = max(moved.get(trace.label, 0.0), far)
    return moved


@dataclass(frozen=True)
class Page:
    """A page of panels."""

    title: str
    time_label: str
    """Texts above the page, and below its time axes."""
    begin: float
    end: float
    """Ends of the time axes [s]."""
    above: tuple[Panel, ...] = ()
    """Panels in a higher row of their own: a flight, and its apogee."""
    panels: tuple[Panel, ...] = ()
    """All other panels."""
    phases: tuple[Span, ...] = ()
    """Phases behind all panels."""
    marks: tuple[Mark, ...] = ()
    """Marks across all panels."""
    origin: int = 0
    """Stamp from which the time axis counts [s]."""
    beside: int = 0
    """Panels in a row; 0 to choose by their number."""
