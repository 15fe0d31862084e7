# SPDX-License-Identifier: Apache-2.0
"""An input from another source: its latest value, its mean, and whether it is alive."""
from __future__ import annotations

import math

from propulsion_ros.timing.dwell import Held

_ALIVE_NS = 1_500_000_000  # a value that has not changed for longer is not believed


class InputMean:
    """Mean of an input since a restart; a value that does not change is not alive."""

    def __init__(self) -> None:
        self.latest = math.nan
        self._held = Held(_ALIVE_NS)
        self.restart()

    def restart(self) -> None:
        """Begin a new mean."""
        self.count = 0
        self._sum = 0.0
        self._held.reset()

    @property
    def mean(self) -> float:
        """Mean since the restart; meaningless where `count` is 0."""
        return self._sum / max(self.count, 1)

    def add(self, stamp_ns: int, value: float) -> None:
        """Take a value; NaN and infinity are no value."""
        if not math.isfinite(value):
            return
        self._held.repeats(stamp_ns, value)
        self.latest = value
        self.count += 1
        self._sum += value

    def is_live(self, stamp_ns: int) -> bool:
        """Return whether the value has changed lately."""
        return self._held.is_alive(stamp_ns)
