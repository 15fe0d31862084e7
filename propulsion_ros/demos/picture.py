# SPDX-License-Identifier: Apache-2.0
"""One page of a flight, with what the pages of all vehicles have in common."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use('Agg')

import matplotlib.pyplot as plt

from propulsion_ros.demos.demo import Demo
from propulsion_ros.demos.recording import Recording
from propulsion_ros.settings.files import opened_to_write

_WIDTH = 11.0
"""Of a page [in]."""


def draw(demo: Demo[Any], recording: Recording, summary: Any, path: Path) -> None:
    """Write the picture of a flight as a PNG.

    Raises
    ------
    OSError
        Where it cannot be written.
    """
    figure = figure_of(demo, recording, summary)
    try:
        with opened_to_write(path) as file:
            figure.savefig(file, dpi=110, format='png')
    finally:
        plt.close(figure)


def figure_of(demo: Demo[Any], recording: Recording, summary: Any) -> Any:
    """Return the page of a flight, matplotlib's figure, whose axes have the panels' names."""
    figure, axes = plt.subplot_mosaic(
        [list(row) for row in demo.layout], figsize=(_WIDTH, sum(demo.heights)),
        height_ratios=demo.heights, layout='constrained',
    )
    figure.suptitle(demo.title)
    demo.draw(axes, recording, summary)
    return figure
