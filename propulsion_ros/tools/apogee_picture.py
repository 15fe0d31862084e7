"""A picture of one flight: altitude, successive fits, lockout and detection."""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use('Agg')

import matplotlib.pyplot as plt

from propulsion_ros.errors import SourceError
from propulsion_ros.flight.apogee_estimate import ApogeeEstimate
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.variables import Sample
from propulsion_ros.quantity import FloatArray

_FITS = 30  # drawn between liftoff and detection
_BACK, _AHEAD = 2.0, 0.35  # of a fit: its window [s], and the part of the ascent it foresees
_ZOOM = 3.0  # to either side of the apogee [s]
_COLOURS = {'altitude': '#1f4e79', 'fit': '#c0392b', 'detection': '#2e8b57'}
_SHADES = {
    'lockout': ('#f4b6b0', ('lockout',)),
    'fit not believed': ('#d9d9d9', ('shock', 'outliers', 'frozen', 'gap', 'no altitude')),
}


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
    fits = [
        report.estimate for at, _, report in rows
        if report.estimate is not None and begin <= at <= _stop(found, end)
    ]
    _shade(whole, rows, end)
    _draw_fits(whole, fits, max(end - begin, 1.0))
    whole.plot(time, altitude, color=_COLOURS['altitude'], linewidth=1.8, label='altitude')
    whole.set_xlim(begin, end)
    whole.set_ylim(low, high)
    whole.set_ylabel('altitude above the pad [m]')
    _draw_near(near, time, altitude, rows, found)
    for axis in (whole, near):
        _mark(axis, found)
        axis.set_xlabel('time [s]')
        axis.grid(alpha=0.3)
    whole.legend(loc='lower right', fontsize=8, framealpha=0.9)
    figure.savefig(path, dpi=90, format='png')
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


def _shade(axis: Any, rows: Any, end: float) -> None:
    """Shade where the health of the detector kept it from deciding."""
    states = [
        (at, report.estimate.health if report.estimate and report.apogee is None else '')
        for at, _, report in rows
    ]
    for label, (colour, words) in _SHADES.items():
        named: str | None = label
        first = 0
        for is_in, run in itertools.groupby(states, key=lambda state: state[1] in words):
            count = len(list(run))
            last = min(first + count, len(states) - 1)
            if is_in:
                axis.axvspan(
                    states[first][0], min(states[last][0], end), color=colour, alpha=0.55,
                    linewidth=0.0, label=named,
                )
                named = None
            first += count


def _draw_fits(axis: Any, fits: Sequence[ApogeeEstimate], length: float) -> None:
    label: str | None = 'successive quadratic fits'
    last = -np.inf
    for fit in fits:
        at = fit.stamp_ns * 1e-9
        is_known = fit.health != 'filling' and np.isfinite(fit.acceleration)
        if at < last + length / _FITS or not is_known:
            continue
        last = at
        t = np.linspace(-_BACK, max(_AHEAD * length, _BACK), 80)
        axis.plot(
            at + t, np.polyval(fit.coefficients[::-1], t), ':', color=_COLOURS['fit'],
            linewidth=0.9, alpha=0.75, label=label,
        )
        label = None


def _draw_near(
    axis: Any, time: FloatArray, altitude: FloatArray, rows: Any, found: FlightReport | None
) -> None:
    """Draw the samples about the apogee, and the fit that decided."""
    top = float(time[np.nanargmax(altitude)]) if np.isfinite(altitude).any() else float(time[-1])
    centre = top if found is None or found.apogee is None else found.apogee.stamp_ns * 1e-9
    inside = (np.abs(time - centre) <= _ZOOM) & np.isfinite(altitude)
    size = 3.0 if np.count_nonzero(inside) > 100 else 6.0
    axis.plot(
        time[inside], altitude[inside], '.', color=_COLOURS['altitude'], markersize=size, alpha=0.5
    )
    if found is not None and found.estimate is not None:
        t = np.linspace(-_BACK, 1.0, 80)
        axis.plot(
            centre + t, np.polyval(found.estimate.coefficients[::-1], t), ':',
            color=_COLOURS['fit'], linewidth=2.0, zorder=3.0,
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
    axis.axvline(
        found.apogee.stamp_ns * 1e-9, color=_COLOURS['detection'], linewidth=1.8, label='detection'
    )
    estimate = found.estimate
    if estimate is not None and estimate.apogee_ns is not None:
        axis.plot(
            estimate.apogee_ns * 1e-9, estimate.apogee_altitude, 'o', color=_COLOURS['fit'],
            markersize=5.0, zorder=4.0, label='vertex',
        )
