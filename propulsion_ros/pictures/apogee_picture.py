# SPDX-License-Identifier: Apache-2.0
"""A picture of one flight: altitude, successive fits, lockout and detection."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use('Agg')

import matplotlib.pyplot as plt

from propulsion_ros.drawing.style import (
    COLOURS,
    Fit,
    draw_detection,
    draw_fits,
    draw_health,
    draw_vertex,
    every,
    health_spans,
)
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import opened_to_write
from propulsion_ros.settings.quantity import FloatArray

_FITS = 30  # drawn between liftoff and detection
_BACK, _AHEAD = 2.0, 0.35  # of a fit: its window [s], and the part of the ascent it foresees
_ZOOM = 3.0  # to either side of the apogee [s]


def draw(
    samples: Sequence[Sample], reports: Sequence[FlightReport], path: Path, title: str
) -> None:
    """Write the picture of a flight as a PNG.

    Parameters
    ----------
    samples, reports : sequence
        What was fed, and what the flight logic said to each.
    path : Path
        Of the PNG.
    title : str
        Above it.

    Raises
    ------
    SourceError
        Where there is nothing to draw.
    """
    rows = [
        (report.stamp_ns * 1e-9, sample.altitude, report)
        for sample, report in zip(samples, reports, strict=True) if report.stamp.is_accepted
    ]
    if not rows:
        raise SourceError(title, 'expected samples to draw, got none')
    time, altitude = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    found = next((report for _, _, report in rows if report.apogee is not None), None)
    begin, end = _span(time, rows, found)
    figure, (whole, near) = plt.subplots(
        1, 2, figsize=(11.0, 4.8), width_ratios=(2.2, 1.0), layout='constrained'
    )
    figure.suptitle(f'{title}: {_verdict(found)}')
    shown = (time >= begin) & (time <= end)
    low, high = _limits(altitude[shown])
    length = max(end - begin, 1.0)
    draw_health(whole, health_spans(_states(rows), end))
    fits = every(_fits(rows, begin, _stop(found, end)), length / _FITS)
    draw_fits(whole, fits, _BACK, max(_AHEAD * length, _BACK))
    whole.plot(time, altitude, color=COLOURS['altitude'], linewidth=1.8, label='altitude')
    whole.set_xlim(begin, end)
    whole.set_ylim(low, high)
    whole.set_ylabel('altitude above the pad [m]')
    _draw_near(near, time, altitude, rows, found)
    for axis in (whole, near):
        _mark(axis, found)
        axis.set_xlabel('time [s]')
        axis.grid(alpha=0.3)
    whole.legend(loc='lower right', fontsize=8, framealpha=0.9)
    with opened_to_write(path) as file:
        figure.savefig(file, dpi=90, format='png')
    plt.close(figure)


def _verdict(found: FlightReport | None) -> str:
    if found is None or found.apogee is None or found.estimate is None:
        return 'no apogee detected'
    estimate = found.estimate
    words = f'apogee detected at {found.apogee.stamp_ns * 1e-9:.2f} s'
    if estimate.apogee_ns is not None:
        sigma = f' ± {estimate.sigma:.2f}' if np.isfinite(estimate.sigma) else ''
        words += (
            f', vertex at {estimate.apogee_ns * 1e-9:.2f}{sigma} s, '
            f'{estimate.apogee_altitude:.0f} m'
        )
    return f'{words} ({estimate.reason})'


def _span(time: FloatArray, rows: Any, found: FlightReport | None) -> tuple[float, float]:
    """Return the part of a log that is worth a picture [s]."""
    liftoff = next((report.liftoff for _, _, report in rows if report.liftoff is not None), None)
    begin = float(time[0]) if liftoff is None else liftoff.stamp_ns * 1e-9 - 1.0
    end = float(time[-1])
    if found is not None and found.apogee is not None:
        detected = found.apogee.stamp_ns * 1e-9
        end = min(end, detected + max(4.0, 0.3 * (detected - begin)))
    begin = max(begin, float(time[0]))
    return begin, max(end, begin + 1.0)


def _stop(found: FlightReport | None, end: float) -> float:
    return end if found is None or found.apogee is None else found.apogee.stamp_ns * 1e-9


def _limits(altitude: FloatArray) -> tuple[float, float]:
    """Return the limits of the altitude; a spike must not flatten the flight [m]."""
    known = altitude[np.isfinite(altitude)]
    if not len(known):
        return 0.0, 1.0
    top = 1.12 * max(float(np.percentile(known, 99.0)), 10.0)
    return -0.04 * top, top


def _states(rows: Any) -> list[tuple[float, str]]:
    """Return the health of the detector at each sample, until it has decided."""
    return [
        (at, report.estimate.health if report.estimate and report.apogee is None else '')
        for at, _, report in rows
    ]


def _fits(rows: Any, begin: float, end: float) -> list[Fit]:
    """Return the fits of a part of the flight; those of a window that still fills are no use."""
    estimates = (
        report.estimate for at, _, report in rows
        if report.estimate is not None and begin <= at <= end
    )
    return [
        Fit(known.stamp_ns * 1e-9, known.altitude, known.velocity, known.acceleration)
        for known in estimates if known.health != 'filling'
    ]


def _draw_near(
    axis: Any, time: FloatArray, altitude: FloatArray, rows: Any, found: FlightReport | None
) -> None:
    """Draw the samples about the apogee, and the fit that decided."""
    top = float(time[np.nanargmax(altitude)]) if np.isfinite(altitude).any() else float(time[-1])
    centre = top if found is None or found.apogee is None else found.apogee.stamp_ns * 1e-9
    inside = (np.abs(time - centre) <= _ZOOM) & np.isfinite(altitude)
    size = 3.0 if np.count_nonzero(inside) > 100 else 6.0
    axis.plot(
        time[inside], altitude[inside], '.', color=COLOURS['altitude'], markersize=size, alpha=0.5
    )
    if found is not None and found.estimate is not None:
        t = np.linspace(-_BACK, 1.0, 80)
        axis.plot(
            centre + t, np.polyval(found.estimate.coefficients[::-1], t), ':',
            color=COLOURS['fit'], linewidth=2.0, zorder=3.0,
        )
    axis.set_xlim(centre - _ZOOM, centre + _ZOOM)
    before = inside & (time <= centre + 1.0)  # what follows may fall fast
    if before.any():
        low, high = np.percentile(altitude[before], (2.0, 98.0))
        margin = 0.4 * max(high - low, 1.0)
        axis.set_ylim(low - margin, high + margin)
    axis.set_title('about the apogee' if found else 'about the highest sample', fontsize=10)


def _mark(axis: Any, found: FlightReport | None) -> None:
    if found is None or found.apogee is None:
        return
    draw_detection(axis, found.apogee.stamp_ns * 1e-9)
    estimate = found.estimate
    if estimate is not None and estimate.apogee_ns is not None:
        draw_vertex(axis, estimate.apogee_ns * 1e-9, estimate.apogee_altitude)
