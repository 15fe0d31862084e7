# SPDX-License-Identifier: Apache-2.0
"""Targets of a pilot from one time on to the next, and the angles that it steers."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import numpy as np

from propulsion_ros.drawing.figure import Mark
from propulsion_ros.settings.quantity import FloatArray


class _Timed(Protocol):

    @property
    def time(self) -> float: ...


TargetT = TypeVar('TargetT', bound=_Timed)


def target_at(plan: Mapping[str, TargetT], time: float) -> tuple[str, TargetT]:
    """Return the last target of a plan that begins no later than a time [s], with its name."""
    return [(name, each) for name, each in plan.items() if each.time <= time + 1e-9][-1]


def marks_of(plan: Mapping[str, TargetT]) -> list[Mark]:
    """Return when each target of a plan begins, but for the first."""
    return [Mark(target.time, name) for name, target in plan.items()][1:]


def roll_pitch_yaw(rotation: FloatArray) -> tuple[float, float, float]:
    """Return the turns about x, then y, then z of the world [rad] of a matrix (3, 3).

    By numpy, whose last bit differs from that of math, so that flights stay as they were.
    """
    r = rotation
    return (
        float(np.arctan2(r[2, 1], r[2, 2])),
        float(-np.arcsin(np.clip(r[2, 0], -1.0, 1.0))),
        float(np.arctan2(r[1, 0], r[0, 0])),
    )


def wrapped(angle: float) -> float:
    """Return an angle [rad] as the same one from -pi up to, but without, pi."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
