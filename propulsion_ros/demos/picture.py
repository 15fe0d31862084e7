# SPDX-License-Identifier: Apache-2.0
"""Draws the panels of a demo on one page."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use('Agg')

import matplotlib.pyplot as plt

from propulsion_ros.demos.demo import Demo
from propulsion_ros.demos.recording import Recording
from propulsion_ros.drawing.style import legend_above, over_time
from propulsion_ros.settings.files import opened_to_write

_WIDTH = 11.0
"""Of a page [in]."""


def draw(demo: Demo, recording: Recording, summary: Any, path: Path) -> None:
    """Write the picture of a flight as a PNG; raise OSError where it cannot be written."""
    figure = figure_of(demo, recording, summary)
    try:
        with opened_to_write(path) as file:
            figure.savefig(file, dpi=110, format='png')
    finally:
        plt.close(figure)


def figure_of(demo: Demo, recording: Recording, summary: Any) -> Any:
    """Return the page of a flight, matplotlib's figure, whose axes have the panels' names."""
    figure, axes = plt.subplot_mosaic(
        [list(row) for row in demo.layout], figsize=(_WIDTH, sum(demo.heights)),
        height_ratios=demo.heights, layout='constrained',
    )
    figure.suptitle(demo.title)
    begin, end = demo.span(recording, summary)
    for name, panel in demo.panels.items():
        axis = axes[name]
        for curve in panel.curves:
            time, value = curve.points(recording).T
            shown = (time >= begin - 1e-9) & (time <= end + 1e-9)
            axis.plot(time[shown], panel.scale * value[shown], label=curve.label, **curve.style)
        over_time(axis, panel.label, begin, end)
        if panel.limits:
            axis.set_ylim(*panel.limits)
        if panel.has_legend:
            legend_above(axis)
    demo.finish(axes, recording, summary)
    return figure
