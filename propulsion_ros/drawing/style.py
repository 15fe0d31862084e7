# SPDX-License-Identifier: Apache-2.0
"""What the pictures of flights have in common: colours, fits, phases, marks, detection."""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

COLOURS = {'altitude': '#1f4e79', 'fit': '#c0392b', 'detection': '#2e8b57', 'mark': '#555555'}
PHASE_COLOURS = {
    'setup': '#eeeeee', 'preflight': '#dfe6ee', 'launch': '#f6e3b4', 'flight': '#cfe8d5',
    'recovery': '#d6dcf5', 'debug': '#f3d9ee',
}
OTHER_PHASE = '#eeeeee'
SHADES = {
    'lockout': ('#f4b6b0', ('lockout',)),
    'fit not believed': ('#d9d9d9', ('shock', 'outliers', 'frozen', 'gap', 'no altitude')),
}
"""Colour of what kept a detector from deciding, and the words of its health for it."""


LARGEST = 1e100
"""No larger value is drawn: limits and ticks of an axis overflow."""


class Fit(NamedTuple):
    """A parabola: h = altitude + velocity t + acceleration t^2 / 2, t since its time [s]."""

    time: float
    altitude: float
    velocity: float
    acceleration: float


class Span(NamedTuple):
    """A named part of the time axis [s]."""

    begin: float
    end: float
    name: str


class Mark(NamedTuple):
    """A named moment [s]."""

    time: float
    name: str


def every(fits: Iterable[Fit], interval: float) -> list[Fit]:
    """Return the known ones of some fits, at least an interval [s] apart."""
    chosen: list[Fit] = []
    for fit in fits:
        is_next = not chosen or fit.time >= chosen[-1].time + interval
        if is_next and all(abs(value) < LARGEST for value in fit[1:]):
            chosen.append(fit)
    return chosen


def health_spans(states: Sequence[tuple[float, str]], end: float) -> list[Span]:
    """Return where the health of a detector, (time, word) a sample, kept it from deciding."""
    spans = []
    for name, (_, words) in SHADES.items():
        first = 0
        for is_in, run in itertools.groupby(states, key=lambda state: state[1] in words):
            count = len(list(run))
            last = min(first + count, len(states) - 1)
            if is_in:
                spans.append(Span(states[first][0], min(states[last][0], end), name))
            first += count
    return spans


def draw_fits(axis: Any, fits: Sequence[Fit], back: float, ahead: float) -> None:
    """Draw fits dotted, each from ``back`` before its time to ``ahead`` after it [s]."""
    t = np.linspace(-back, ahead, 80)
    for i, fit in enumerate(fits):
        axis.plot(
            fit.time + t, fit.altitude + fit.velocity * t + 0.5 * fit.acceleration * t**2, ':',
            color=COLOURS['fit'], linewidth=0.9, alpha=0.75,
            label=None if i else 'successive quadratic fits',
        )


def draw_health(axis: Any, spans: Iterable[Span]) -> None:
    """Shade what `health_spans` found."""
    named = set()
    for span in spans:
        axis.axvspan(
            span.begin, span.end, color=SHADES[span.name][0], alpha=0.55, linewidth=0.0,
            label=None if span.name in named else span.name,
        )
        named.add(span.name)


def draw_phases(axis: Any, phases: Iterable[Span], alpha: float = 1.0) -> None:
    """Shade phases behind what else is drawn."""
    for span in phases:
        axis.axvspan(
            span.begin, span.end, color=PHASE_COLOURS.get(span.name, OTHER_PHASE), alpha=alpha,
            linewidth=0.0, zorder=0.0,
        )


def name_phases(axis: Any, phases: Iterable[Span], y: float) -> None:
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


def draw_marks(axis: Any, marks: Iterable[Mark], has_names: bool = True) -> None:
    """Draw a line for each moment; names that would touch go on lines of their own."""
    last, row = -np.inf, 0
    low, high = axis.get_xlim()
    for mark in sorted(mark for mark in marks if low <= mark.time <= high):
        axis.axvline(mark.time, color=COLOURS['mark'], linewidth=0.8, linestyle=':')
        if not has_names:
            continue
        row = (row + 1) % 3 if mark.time - last < 0.09 * (high - low) else 0
        last = mark.time
        is_near_end = mark.time > high - 0.15 * (high - low)
        axis.annotate(
            mark.name, (mark.time, 1.0 - 0.065 * row), xycoords=('data', 'axes fraction'),
            xytext=(-3 if is_near_end else 3, -11), textcoords='offset points', fontsize=9,
            ha='right' if is_near_end else 'left', color='#333333',
        )


def draw_detection(axis: Any, time: float, is_named: bool = True) -> None:
    """Draw the moment at which apogee was detected [s]."""
    axis.axvline(
        time, color=COLOURS['detection'], linewidth=1.8, label='detection' if is_named else None
    )


def draw_vertex(axis: Any, time: float, altitude: float, is_named: bool = True) -> None:
    """Draw the vertex of the fit that decided [s], [m]."""
    axis.plot(
        time, altitude, 'o', color=COLOURS['fit'], markersize=5.0, zorder=5.0,
        label='vertex' if is_named else None,
    )
