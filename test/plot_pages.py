# SPDX-License-Identifier: Apache-2.0
"""What is on a page of plots, in short."""
from __future__ import annotations

import numpy as np

from propulsion_ros.drawing.figure import FITTED, FOUND, PREDICTED, PUBLISHED


def panels(page):
    """Return the names of the series of each panel, with their roles but for what is published."""
    return {
        panel.heading: [
            trace.label if trace.role == PUBLISHED else f'{trace.label} {trace.role}'
            for trace in panel.series
        ]
        for panel in page.panels
    }


def points(page, heading, label, role=PUBLISHED):
    """Return times and values of one series."""
    (panel,) = [panel for panel in page.panels if panel.heading == heading]
    (trace,) = [trace for trace in panel.of(role) if trace.label == label]
    return list(zip(trace.x.tolist(), trace.y.tolist(), strict=True))


def parabolas(panel, role=FITTED):
    """Return time, altitude, velocity and acceleration of each fit of a panel."""
    fits = []
    for trace in panel.of(role):
        time = trace.x[0] + 2.0
        half, velocity, altitude = np.polyfit(trace.x - time, trace.y, 2)
        fits.append((time, altitude, velocity, 2.0 * half))
    return fits


def found(panel, role=FOUND):
    """Return times and altitudes of what was found, or with the role `PREDICTED` predicted."""
    return [
        point for trace in panel.of(role)
        for point in zip(trace.x.tolist(), trace.y.tolist(), strict=True)
    ]


def predicted(panel):
    """Return times and altitudes of the apogees that were predicted."""
    return found(panel, PREDICTED)


def decided(panel):
    """Return when the apogee was decided [s]."""
    return [event.time for event in panel.events]
