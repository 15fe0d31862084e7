"""One page of a flight: altitude, phase, thrust, gimbal and propellant, with the events."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use('Agg')

import matplotlib.pyplot as plt

from propulsion_ros.tools.recording import FlightSummary, Recording

_COLOURS = {
    'preflight': '#dfe6ee', 'launch': '#f6e3b4', 'flight': '#cfe8d5', 'recovery': '#d6dcf5',
}


def draw(recording: Recording, summary: FlightSummary, path: Path) -> None:
    """Write the picture of a flight as a PNG."""
    motion = recording.series('motion')
    end = float(motion[-1, 0])
    figure, axes = plt.subplot_mosaic(
        [['altitude'] * 3, ['phase'] * 3, ['thrust', 'gimbal', 'propellant']],
        figsize=(11, 8.5), height_ratios=(4, 0.5, 2), layout='constrained',
    )
    figure.suptitle('Rocket demo: boosters, vehicle and flight_state over ROS 2')

    top: Any = axes['altitude']
    top.plot(motion[:, 0], motion[:, 1], color='#1f4e79', label='altitude of the vehicle')
    _draw_fits(top, recording, summary)
    top.plot(
        summary.apogee, summary.altitude, 'o', color='#c0392b', zorder=5,
        label=f'apogee found: {summary.altitude:.0f} m at {summary.apogee:.2f} s',
    )
    top.set_ylabel('altitude [m]')
    top.set_xlim(0.0, end)
    highest = float(motion[:, 1].max())
    top.set_ylim(-0.03 * highest, 1.22 * max(highest, 1.0))
    top.legend(loc='lower center', bbox_to_anchor=(0.42, 0.04))
    _draw_phases(axes['phase'], recording, end)
    axes['phase'].set_xlabel('time [s]')
    _draw_marks(top, [
        (summary.liftoff, 'liftoff'), (summary.burnout, 'burnout'),
        (summary.true_apogee, 'apogee'), *recording.marks,
    ])

    # Below: the powered flight, larger.
    burnout = summary.burnout if np.isfinite(summary.burnout) else end
    begin, stop = np.nan_to_num(summary.liftoff) - 1.0, burnout + 1.0
    for name, series, columns, scale, unit in (
        ('thrust', 'thrust', {1: ('', '#b9530b')}, 1e-3, 'kN'),
        ('gimbal', 'gimbal', {1: ('x', '#c98a1b'), 2: ('y', '#3d5a80')}, 180.0 / np.pi, 'deg'),
        ('propellant', 'propellant', {1: ('', '#4b7a2a')}, 1.0, 'kg'),
    ):
        axis: Any = axes[name]
        rows = recording.series(series)
        rows = rows[(rows[:, 0] >= begin) & (rows[:, 0] <= stop)]
        for column, (label, colour) in columns.items():
            axis.plot(rows[:, 0], scale * rows[:, column], color=colour, label=label)
        axis.set_ylabel(f'{name} [{unit}]')
        axis.set_xlabel('time [s]')
        axis.set_xlim(begin, stop)
        if len(columns) > 1:
            axis.legend()
    for name in ('altitude', 'thrust', 'gimbal', 'propellant'):
        axes[name].grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_fits(axis: Any, recording: Recording, summary: FlightSummary) -> None:
    """Draw the parabola that was fitted at each second of the coast, dotted."""
    label: str | None = 'successive quadratic fits'
    last = -np.inf
    for stamp, altitude, velocity, acceleration in recording.rows.get('fit', []):
        is_coast = summary.burnout + 2.0 < stamp < summary.true_apogee + 0.5
        if not is_coast or stamp < last + 1.0 or not np.isfinite(acceleration):
            continue
        last = stamp
        t = np.linspace(-2.0, 8.0, 60)
        axis.plot(
            stamp + t, altitude + velocity * t + 0.5 * acceleration * t**2, ':',
            color='#c0392b', linewidth=0.9, alpha=0.7, label=label,
        )
        label = None


def _draw_phases(axis: Any, recording: Recording, end: float) -> None:
    stamps = [max(stamp, 0.0) for stamp, _ in recording.phases] + [end]
    for i, (_, phase) in enumerate(recording.phases):
        begin, finish = stamps[i], stamps[i + 1]
        if finish <= begin:
            continue
        axis.axvspan(begin, finish, color=_COLOURS.get(phase, '#eeeeee'))
        if finish - begin > 0.03 * end:
            size = 10 if finish - begin > 0.08 * end else 7
            middle = (begin + finish) / 2
            axis.text(middle, 0.5, phase, ha='center', va='center', fontsize=size)
    axis.set_xlim(0.0, end)
    axis.set_yticks([])
    axis.set_ylim(0.0, 1.0)
    axis.set_ylabel('phase')


def _draw_marks(axis: Any, marks: list[tuple[float, str]]) -> None:
    """Draw a line for each event; labels that would touch go on lines of their own."""
    last, row = -1e9, 0
    span = axis.get_xlim()[1] - axis.get_xlim()[0]
    for stamp, name in sorted(mark for mark in marks if np.isfinite(mark[0])):
        axis.axvline(stamp, color='#555555', linewidth=0.8, linestyle=':')
        row = (row + 1) % 3 if stamp - last < 0.09 * span else 0
        last = stamp
        axis.annotate(
            name, (stamp, 1.0 - 0.065 * row), xycoords=('data', 'axes fraction'),
            xytext=(3, -11), textcoords='offset points', fontsize=9, color='#333333',
        )
