# SPDX-License-Identifier: Apache-2.0
"""The picture of a demo as data: panels, and the columns of a recording that each one shows."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.demos.recording import Recording
from propulsion_ros.settings.quantity import FloatArray

BLUE, ORANGE, GREEN, RED = '#1f4e79', '#b9530b', '#4b7a2a', '#c0392b'
GOLD, SLATE, PURPLE, GREY = '#c98a1b', '#3d5a80', '#7a4b8c', '#8a8a8a'
_ALIKE = (BLUE, GOLD, GREEN, RED, PURPLE, '#2aa7b8')

Points = Callable[[Recording], FloatArray]
"""Returns times [s] and values of a recording, (n, 2)."""


class Curve(NamedTuple):
    """One line of a panel: its label, its points, and how matplotlib draws it."""

    label: str
    points: Points
    style: Mapping[str, Any]


@dataclass(frozen=True)
class Panel:
    """Lines of one quantity over time."""

    label: str
    """Quantity and unit, of the vertical axis."""
    curves: Sequence[Curve]
    """The lines."""
    scale: float = 1.0
    """From the unit of the recording to that of the label."""
    limits: tuple[float, float] | None = None
    """Of the vertical axis; without, as matplotlib finds them."""
    has_legend: bool = True
    """Whether the lines are named."""


def curve(label: str, series: str, column: int = 1, **style: Any) -> Curve:
    """Return a column of a series as a line; column 0 has the times."""
    return Curve(label, lambda recording: recording.series(series)[:, (0, column)], style)


def level(label: str, value: float, **style: Any) -> Curve:
    """Return a line at one value from the beginning to the end of a flight."""
    def points(recording: Recording) -> FloatArray:
        times = recording.series('motion')[:, 0]
        return np.column_stack((times, np.full(len(times), value)))

    return Curve(label, points, style)


def alike(series: str, names: Sequence[str], first: int = 1) -> list[Curve]:
    """Return columns that are equal in part, each line thinner than the one that it lies on."""
    return [
        curve(name.replace('_', ' '), series, first + i, color=_ALIKE[i], linewidth=width)
        for i, (name, width) in enumerate(
            zip(names, np.linspace(5.2, 1.0, len(names)), strict=True)
        )
    ]
