# SPDX-License-Identifier: Apache-2.0
"""The last known value of each flight variable, for events with ``max_age_ms``."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from propulsion_ros.flight.events.variables import Variables

_VECTORS = ('position', 'velocity', 'acceleration', 'rocket_orientation', 'board_orientation')


class HeldValues:
    """Stores the last known value of every component of every vector, and its time."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear all values."""
        self._values: dict[tuple[str, int], tuple[int, float]] = {}
        self._now: Variables | None = None

    def update(self, variables: Variables) -> None:
        """Store the values that are known now."""
        self._now = variables
        for name in _VECTORS:
            for i, value in enumerate(getattr(variables, name)):
                if math.isfinite(value):
                    self._values[name, i] = variables.clock_ns, value
        if math.isfinite(variables.tilt):
            self._values['tilt', 0] = variables.clock_ns, variables.tilt

    def aged(self, max_age_ns: int) -> Variables:
        """Return the present variables, with older values where the present one is unknown."""
        now = self._now
        if now is None:
            raise ValueError('no variables yet, call update first')

        def value(name: str, i: int, current: float) -> float:
            if math.isfinite(current) or (name, i) not in self._values:
                return current
            then_ns, held = self._values[name, i]
            return held if now.clock_ns - then_ns <= max_age_ns else current

        vectors: dict[str, Any] = {
            name: tuple(value(name, i, v) for i, v in enumerate(getattr(now, name)))
            for name in _VECTORS
        }
        return replace(now, **vectors, tilt=value('tilt', 0, now.tilt))
