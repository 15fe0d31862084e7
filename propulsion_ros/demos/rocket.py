# SPDX-License-Identifier: Apache-2.0
"""The rocket's flight to its main parachute, in numbers and as a picture."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from propulsion_ros.demos import panels
from propulsion_ros.demos.demo import Demo, Row, Summary, moment
from propulsion_ros.demos.panels import Panel, curve
from propulsion_ros.demos.recording import Recording
from propulsion_ros.demos.rocket_pilot import RocketPilot
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
    over_time,
)
from propulsion_ros.settings.quantity import FloatArray

_EXHAUST_VELOCITY = 1300.0 / 0.6025
"""max_thrust over max_fuel_rate of the boosters [m/s]."""
_LEAD = 5.0
"""How long before the apogee the prediction of the summary was made [s]."""
_ZOOM = 1.0
"""To either side of the apogee in its panel [s]."""
_MARGIN = 1.05
"""Leaves room for the name of the last event."""


def _summarise(recording: Recording) -> Summary:
    motion, thrust, propellant, mass = map(
        recording.series, ('motion', 'thrust', 'propellant', 'mass')
    )
    dt = float(np.ptp(thrust[:2, 0]))
    flying = motion[motion[:, 1] > motion[0, 1] + 1e-3]
    burning = thrust[thrust[:, 1] > 0.0]
    has_burnt_out = len(burning) and thrust[-1, 1] == 0.0
    fastest = motion[np.argmax(motion[:, 3])]
    true_apogee, true_altitude = _vertex(motion)
    nothing = (math.nan,) * 3
    # What flight_state publishes: the vertex, and the last prediction made `_LEAD` before it.
    apogee, altitude, *_ = recording.rows.get('apogee', [nothing])[-1]
    decided = [stamp for stamp, phase in recording.phases if phase == 'recovery']
    predicted, predicted_altitude, predicted_at = [nothing, *(
        row for row in recording.rows.get('predicted', [])
        if row[2] <= true_apogee - _LEAD and np.isfinite(row[0])
    )][-1]
    start, left = float(propellant[0, 1]), float(propellant[-1, 1])
    return {
        'liftoff': float(flying[0, 0]) if len(flying) else math.nan,
        'burnout': float(burning[-1, 0] + dt) if has_burnt_out else math.nan,
        'max_speed': float(fastest[3]),
        'max_speed_time': float(fastest[0]),
        'true_apogee': true_apogee,
        'true_altitude': true_altitude,
        'apogee': apogee,
        'altitude': altitude,
        'detected': decided[0] if decided else math.nan,
        'predicted': predicted,
        'predicted_altitude': predicted_altitude,
        'predicted_at': predicted_at,
        'propellant_start': start,
        'propellant_left': left,
        'mass_lost': float(np.max(mass[:, 1]) - mass[-1, 1]),
        'impulse': float(np.sum(thrust[:, 1]) * dt),
        'impulse_of_propellant': (start - left) * _EXHAUST_VELOCITY,
    }


def _vertex(motion: FloatArray) -> tuple[float, float]:
    """Return time [s] and altitude [m] where the climb ends at the top; NaN where it never does."""
    top = int(np.argmax(motion[:, 1]))
    for i in (top - 1, top):
        if 0 <= i < len(motion) - 1:
            (t0, h0, v0), (t1, _, v1) = motion[i, :3], motion[i + 1, :3]
            if v0 >= 0.0 > v1:
                share = v0 / (v0 - v1)
                step = float(t1 - t0)
                return float(t0 + share * step), float(h0 + 0.5 * v0 * share * step)
    return math.nan, math.nan


def _table(s: Summary, recording: Recording) -> list[Row]:
    burnt = s['impulse_of_propellant']
    error = ''
    if burnt:
        error = f'relative error to the propellant burnt {abs(s["impulse"] / burnt - 1.0):.1e}'
    return [
        moment('liftoff', s['liftoff']),
        moment('burnout', s['burnout']),
        moment('maximum speed', s['max_speed_time'], f'{s["max_speed"]:.1f} m/s'),
        moment('apogee, predicted', s['predicted'],
               f'{s["predicted_altitude"]:.1f} m (predicted at {s["predicted_at"]:.2f} s)'),
        moment('apogee, true', s['true_apogee'], f'{s["true_altitude"]:.1f} m'),
        moment('apogee, found', s['apogee'],
               f'{s["altitude"]:.1f} m (decided at {s["detected"]:.2f} s)'),
        *(moment(f'event {name}', stamp) for stamp, name in recording.marks),
        ('propellant left', f'{s["propellant_left"]:.3f} kg', f'of {s["propellant_start"]:.3f} kg'),
        ('impulse', f'{s["impulse"]:.1f} N s', error),
    ]


def _powered(recording: Recording, summary: Summary) -> tuple[float, float]:
    """Return the powered part of a flight [s]."""
    end = float(recording.series('motion')[-1, 0])
    burnout = summary['burnout'] if np.isfinite(summary['burnout']) else end
    return np.nan_to_num(summary['liftoff']) - 1.0, burnout + 1.0


def _finish(axes: Mapping[str, Any], recording: Recording, summary: Summary) -> None:
    end = float(recording.series('motion')[-1, 0])
    _draw_flight(axes['altitude'], recording, summary, end)
    _draw_phases(axes['phase'], recording, end)
    _draw_apogee(axes['apogee'], recording, summary)


def _draw_flight(axis: Any, recording: Recording, summary: Summary, end: float) -> None:
    motion = recording.series('motion')
    axis.plot(motion[:, 0], motion[:, 1], color=panels.BLUE, label='altitude of the vehicle')
    fits = [
        Fit(*row) for row in recording.rows.get('fit', [])
        if summary['burnout'] + 2.0 < row[0] < summary['true_apogee'] + 0.5
    ]
    draw_fits(axis, every(fits, 1.0), 2.0, 8.0)
    over_time(axis, 'altitude [m]', 0.0, _MARGIN * end)
    highest = float(motion[:, 1].max())
    axis.set_ylim(-0.03 * highest, 1.22 * max(highest, 1.0))
    axis.set_xlabel('')
    axis.tick_params(labelbottom=False)
    axis.legend(loc='lower center', bbox_to_anchor=(0.57, 0.04))
    draw_marks(axis, [
        Mark(summary['liftoff'], 'liftoff'), Mark(summary['burnout'], 'burnout'),
        Mark(summary['true_apogee'], 'apogee'), *(Mark(*mark) for mark in recording.marks),
    ])


def _draw_phases(axis: Any, recording: Recording, end: float) -> None:
    """Draw a strip of the phases; the names of short ones have a leader."""
    stamps = [*(max(stamp, 0.0) for stamp, _ in recording.phases), end]
    spans = [
        Span(stamps[i], stamps[i + 1], phase)
        for i, (_, phase) in enumerate(recording.phases) if stamps[i + 1] > stamps[i]
    ]
    over_time(axis, 'phase', 0.0, _MARGIN * end)
    axis.grid(visible=False)
    axis.set_yticks([])
    draw_phases(axis, spans)
    for i, span in enumerate(name_phases(axis, spans)):
        axis.annotate(
            span.name, ((span.begin + span.end) / 2.0, 0.9), xycoords=axis.get_xaxis_transform(),
            xytext=(0.12 * i, 1.25), textcoords='axes fraction', fontsize=8,
            arrowprops={'arrowstyle': '-', 'color': COLOURS['mark'], 'linewidth': 0.8},
        )


def _draw_apogee(axis: Any, recording: Recording, summary: Summary) -> None:
    """Draw where the apogee is, where flight_state finds it, and when."""
    last = float(recording.series('motion')[-1, 0])
    centre = summary['true_apogee'] if np.isfinite(summary['true_apogee']) else last
    rows = recording.between('motion', centre - _ZOOM, centre + _ZOOM)
    axis.plot(rows[:, 0], rows[:, 1], color=panels.BLUE, label='altitude of the vehicle')
    for time, altitude, label, style in (
        (summary['true_apogee'], summary['true_altitude'], 'apogee, true',
         {'color': panels.BLUE, 'markersize': 10.0, 'markerfacecolor': 'none'}),
        (summary['apogee'], summary['altitude'], 'apogee, found',
         {'color': panels.RED, 'zorder': 5.0}),
    ):
        if np.isfinite(time):
            axis.plot(time, altitude, 'o', label=f'{label}: {time:.2f} s', **style)
    if np.isfinite(summary['detected']):
        axis.axvline(
            summary['detected'], color=COLOURS['detection'], linewidth=1.8,
            label=f'decided: {summary["detected"]:.2f} s',
        )
    over_time(axis, '', centre - _ZOOM, centre + _ZOOM)
    axis.set_title('altitude about the apogee [m]', fontsize=10)
    axis.ticklabel_format(useOffset=False)
    axis.legend(fontsize=9, loc='lower center')


_COMMANDED: dict[str, Any] = {'color': panels.GREY, 'linestyle': '--', 'zorder': 3.0}
_DEGREES = 180.0 / np.pi
ROCKET = Demo(
    title='Rocket demo: boosters, fins, flight_state and vehicle over ROS 2',
    layout=(
        ('altitude',) * 4 + ('apogee',) * 2, ('phase',) * 4 + ('apogee',) * 2,
        ('thrust',) * 3 + ('lean',) * 3, ('propellant',) * 3 + ('gimbal',) * 3,
    ),
    heights=(4.0, 0.8, 2.1, 2.1),
    panels={
        'thrust': Panel('thrust [kN]', scale=1e-3, curves=[
            curve('applied', 'thrust', color=panels.ORANGE),
            curve('commanded', 'command', drawstyle='steps-post', **_COMMANDED),
        ]),
        'lean': Panel('lean [deg]', scale=_DEGREES, curves=[
            curve('to the east', 'lean', 1, color=panels.SLATE),
            curve('to the north', 'lean', 2, color=panels.GOLD),
            curve('to the east, commanded', 'lean', 3, **_COMMANDED),
        ]),
        'propellant': Panel('propellant [kg]', has_legend=False, curves=[
            curve('propellant', 'propellant', color=panels.GREEN),
        ]),
        'gimbal': Panel('gimbal [deg]', scale=_DEGREES, curves=[
            curve('about x', 'gimbal', 1, color=panels.GOLD),
            curve('about y', 'gimbal', 2, color=panels.SLATE),
        ]),
    },
    make_pilot=RocketPilot, summarise=_summarise, table=_table, span=_powered, finish=_finish,
)
"""A flight to its main parachute."""
