"""Colours and axes of the pictures; nothing here imports matplotlib."""
from __future__ import annotations

from typing import Any

BLUE, ORANGE, GREEN, RED = '#1f4e79', '#b9530b', '#4b7a2a', '#c0392b'
GOLD, SLATE, PURPLE, GREY = '#c98a1b', '#3d5a80', '#7a4b8c', '#8a8a8a'


def over_time(axis: Any, label: str, begin: float, end: float) -> None:
    """Make a panel one of some quantity over a part of the time [s]."""
    axis.set_ylabel(label)
    axis.set_xlabel('time [s]')
    axis.set_xlim(begin, max(end, begin + 1e-3))
    axis.grid(alpha=0.3)
