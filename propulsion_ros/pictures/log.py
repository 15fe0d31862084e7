# SPDX-License-Identifier: Apache-2.0
"""What a flight log has that can be plotted, and what the flight logic finds in it."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from propulsion_ros.drawing.figure import Mark
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.pictures.signals import Channel, Fit, FlightSignals, Signals
from propulsion_ros.replay.flight_log import read_flight_log
from propulsion_ros.replay.logged_flight import fly
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable


def signals_of_log(path: Path) -> Signals:
    """Return the columns of a log, and the flight that the default detector sees in it.

    Parameters
    ----------
    path : Path
        CSV as `propulsion_ros apogee` reads it.

    Raises
    ------
    SourceError
        For a malformed file, or one without rows.
    """
    samples = read_flight_log(path)
    return signals_of_flight(printable(path), samples, fly(samples, ApogeeParams()))


def signals_of_flight(
    name: str, samples: Sequence[Sample], reports: Iterable[FlightReport]
) -> Signals:
    """Return what was sampled in a flight, and what the flight logic reported of each sample.

    Raise `SourceError` with the name of the log where there are no samples.
    """
    if not samples:
        raise SourceError(name, 'expected samples, got none')
    signals, accepted = Signals(name), []
    for sample, report in zip(samples, reports, strict=True):
        if not report.stamp.is_accepted:
            continue
        accepted.append(report)
        for quantity, value in (
            ('altitude', sample.altitude), ('climb', sample.velocity), ('lift', sample.acceleration)
        ):
            signals.add(Channel('', quantity, 'log'), report.stamp_ns * 1e-9, value)
    signals.flight = _flight(accepted)
    return signals


def _flight(reports: Sequence[FlightReport]) -> FlightSignals:
    """Return what the flight logic found up to its decision, and its phases after it too."""
    decided = next((report for report in reports if report.apogee is not None), None)
    last_ns = reports[-1].stamp_ns if decided is None else decided.stamp_ns
    estimates = [
        report.estimate for report in reports
        if report.estimate is not None and report.stamp_ns <= last_ns
    ]
    believed = [estimate for estimate in estimates if estimate.health != 'filling']
    flight = FlightSignals(
        phases=[Mark(report.stamp_ns * 1e-9, report.phase.value) for report in reports],
        health=[Mark(estimate.stamp_ns * 1e-9, estimate.health) for estimate in estimates],
        fits=[
            Fit(known.stamp_ns * 1e-9, known.altitude, known.velocity, known.acceleration)
            for known in believed
        ],
        predictions=[(known.stamp_ns * 1e-9, *_vertex(known)) for known in believed],
    )
    lifted = next((report.liftoff for report in reports if report.liftoff is not None), None)
    if lifted is not None:
        flight.marks.append(Mark(lifted.stamp_ns * 1e-9, 'liftoff'))
    if decided is not None and decided.apogee is not None:
        flight.detections.append(decided.apogee.stamp_ns * 1e-9)
        if decided.estimate is not None and decided.estimate.apogee_ns is not None:
            flight.vertices.append(_vertex(decided.estimate))
    return flight


def _vertex(estimate: ApogeeEstimate) -> tuple[float, float]:
    """Return time [s] and altitude [m] of the vertex."""
    time = math.nan if estimate.apogee_ns is None else estimate.apogee_ns * 1e-9
    return time, estimate.apogee_altitude
