# SPDX-License-Identifier: Apache-2.0
"""Colours and axes of the pictures; nothing here imports matplotlib."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

BLUE, ORANGE, GREEN, RED = '#1f4e79', '#b9530b', '#4b7a2a', '#c0392b'
GOLD, SLATE, PURPLE, GREY = '#c98a1b', '#3d5a80', '#7a4b8c', '#8a8a8a'
COLOURS = (BLUE, GOLD, GREEN, RED, PURPLE, '#2aa7b8')
"""Of lines of one kind."""


def draw_alike(axis: Any, rows: FloatArray, names: Sequence[str]) -> None:
    """Draw lines that are equal in part, each thinner than the one that it lies on.

    Parameters
    ----------
    axis : matplotlib.axes.Axes
        Where.
    rows : FloatArray
        Times [s], then a column for each name.
    names : sequence of str
        At most as many as there are `COLOURS`.
    """
    thinner = np.linspace(5.2, 1.0, len(names))
    for i, (name, width) in enumerate(zip(names, thinner, strict=True)):
        axis.plot(
            rows[:, 0], rows[:, i + 1], color=COLOURS[i], label=name.replace('_', ' '),
            linewidth=width,
        )


def legend_above(axis: Any) -> None:
    """Draw the legend of a panel in one row above it, where it covers nothing."""
    handles, labels = axis.get_legend_handles_labels()
    axis.legend(
        handles, labels, loc='lower left', bbox_to_anchor=(0.0, 1.0), ncols=len(labels),
        fontsize=8, frameon=False, borderaxespad=0.1, handlelength=1.5, columnspacing=1.2,
    )


def over_time(axis: Any, label: str, begin: float, end: float) -> None:
    """Make a panel one of some quantity over a part of the time [s]."""
    axis.set_ylabel(label)
    axis.set_xlabel('time [s]')
    axis.set_xlim(begin, max(end, begin + 1e-3))
    axis.grid(alpha=0.3)
