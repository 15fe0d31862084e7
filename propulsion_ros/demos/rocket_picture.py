# SPDX-License-Identifier: Apache-2.0
"""What the picture of a rocket's flight shows."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from propulsion_ros.demos import ink
from propulsion_ros.demos.recording import Recording
from propulsion_ros.demos.rocket_summary import RocketSummary
from propulsion_ros.drawing.style import (
    COLOURS,
    Fit,
    Mark,
    Span,
    draw_fits,
    draw_marks,
    draw_phases,
    every,
    name_phases,
)

_ZOOM = 1.0
"""To either side of the apogee in its panel [s]."""
_MARGIN = 1.05
"""Leaves room for the name of the last event."""
_ASKED: dict[str, Any] = {'color': ink.GREY, 'linestyle': '--', 'zorder': 3.0}


def draw(axes: Mapping[str, Any], recording: Recording, summary: RocketSummary) -> None:
    """Draw altitude, phases and apogee; below, larger in time, the powered flight."""
    end = float(recording.series('motion')[-1, 0])
    _draw_flight(axes['altitude'], recording, summary, end)
    _draw_phases(axes['phase'], recording, end)
    _draw_apogee(axes['apogee'], recording, summary)
    burnout = summary.burnout if np.isfinite(summary.burnout) else end
    _draw_powered(axes, recording, np.nan_to_num(summary.liftoff) - 1.0, burnout + 1.0)


def _draw_flight(axis: Any, recording: Recording, summary: RocketSummary, end: float) -> None:
    motion = recording.series('motion')
    axis.plot(motion[:, 0], motion[:, 1], color=ink.BLUE, label='altitude of the vehicle')
    fits = [
        Fit(*row) for row in recording.rows.get('fit', [])
        if summary.burnout + 2.0 < row[0] < summary.true_apogee + 0.5
    ]
    draw_fits(axis, every(fits, 1.0), 2.0, 8.0)
    ink.over_time(axis, 'altitude [m]', 0.0, _MARGIN * end)
    highest = float(motion[:, 1].max())
    axis.set_ylim(-0.03 * highest, 1.22 * max(highest, 1.0))
    axis.set_xlabel('')
    axis.tick_params(labelbottom=False)
    axis.legend(loc='lower center', bbox_to_anchor=(0.57, 0.04))
    draw_marks(axis, [
        Mark(summary.liftoff, 'liftoff'), Mark(summary.burnout, 'burnout'),
        Mark(summary.true_apogee, 'apogee'), *(Mark(*mark) for mark in recording.marks),
    ])


def _draw_phases(axis: Any, recording: Recording, end: float) -> None:
    """Draw a strip of the phases; the names of short ones have a leader."""
    stamps = [*(max(stamp, 0.0) for stamp, _ in recording.phases), end]
    spans = [
        Span(stamps[i], stamps[i + 1], phase)
        for i, (_, phase) in enumerate(recording.phases) if stamps[i + 1] > stamps[i]
    ]
    ink.over_time(axis, 'phase', 0.0, _MARGIN * end)
    axis.grid(visible=False)
    axis.set_yticks([])
    draw_phases(axis, spans)
    for i, span in enumerate(name_phases(axis, spans)):
        axis.annotate(
            span.name, ((span.begin + span.end) / 2.0, 0.9), xycoords=axis.get_xaxis_transform(),
            xytext=(0.12 * i, 1.25), textcoords='axes fraction', fontsize=8,
            arrowprops={'arrowstyle': '-', 'color': COLOURS['mark'], 'linewidth': 0.8},
        )


def _draw_apogee(axis: Any, recording: Recording, summary: RocketSummary) -> None:
    """Draw where the apogee is, where flight_state says it is, and when it said so."""
    last = float(recording.series('motion')[-1, 0])
    centre = summary.true_apogee if np.isfinite(summary.true_apogee) else last
    rows = recording.between('motion', centre - _ZOOM, centre + _ZOOM)
    axis.plot(rows[:, 0], rows[:, 1], color=ink.BLUE, label='altitude of the vehicle')
    for time, altitude, label, style in (
        (summary.true_apogee, summary.true_altitude, 'apogee, true',
         {'color': ink.BLUE, 'markersize': 10.0, 'markerfacecolor': 'none'}),
        (summary.apogee, summary.altitude, 'apogee, found', {'color': ink.RED, 'zorder': 5.0}),
    ):
        if np.isfinite(time):
            axis.plot(time, altitude, 'o', label=f'{label}: {time:.2f} s', **style)
    if np.isfinite(summary.detected):
        axis.axvline(
            summary.detected, color=COLOURS['detection'], linewidth=1.8,
            label=f'decided: {summary.detected:.2f} s',
        )
    ink.over_time(axis, '', centre - _ZOOM, centre + _ZOOM)
    axis.set_title('altitude about the apogee [m]', fontsize=10)
    axis.ticklabel_format(useOffset=False)
    axis.legend(fontsize=9, loc='lower center')


def _draw_powered(
    axes: Mapping[str, Any], recording: Recording, begin: float, end: float
) -> None:
    """Draw thrust, lean, propellant and gimbal angles; commanded ones dashed."""
    def line(panel: str, column: int, scale: float, label: str, **style: Any) -> None:
        rows = recording.between('command' if label == 'commanded' else panel, begin, end)
        axes[panel].plot(rows[:, 0], scale * rows[:, column], label=label, **style)

    degrees = 180.0 / np.pi
    line('thrust', 1, 1e-3, 'applied', color=ink.ORANGE)
    line('thrust', 1, 1e-3, 'commanded', drawstyle='steps-post', **_ASKED)
    line('lean', 1, degrees, 'to the east', color=ink.SLATE)
    line('lean', 2, degrees, 'to the north', color=ink.GOLD)
    line('lean', 3, degrees, 'to the east, commanded', **_ASKED)
    line('propellant', 1, 1.0, 'propellant', color=ink.GREEN)
    line('gimbal', 1, degrees, 'about x', color=ink.GOLD)
    line('gimbal', 2, degrees, 'about y', color=ink.SLATE)
    for panel, unit in {
        'thrust': 'kN', 'lean': 'deg', 'propellant': 'kg', 'gimbal': 'deg'
    }.items():
        ink.over_time(axes[panel], f'{panel} [{unit}]', begin, end)
        if panel != 'propellant':
            ink.legend_above(axes[panel])
