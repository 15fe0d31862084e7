# SPDX-License-Identifier: Apache-2.0
"""What is on a page of plots, in short."""
from __future__ import annotations

from propulsion_ros.pictures.signals import PUBLISHED


def panels(page):
    """Return the names of the lines of each panel; what is told or left undone is said so."""
    return {
        panel.heading: [
            line.label if line.role == PUBLISHED else f'{line.label} {line.role}'
            for line in panel.lines
        ]
        for panel in page.panels
    }


def points(page, heading, label, role=PUBLISHED):
    """Return times and values of one line."""
    (panel,) = [panel for panel in page.panels if panel.heading == heading]
    (line,) = [line for line in panel.lines if (line.label, line.role) == (label, role)]
    return list(zip(line.time.tolist(), line.value.tolist(), strict=True))
