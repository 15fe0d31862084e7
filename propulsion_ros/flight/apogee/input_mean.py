"""An input from another source: its latest value, its mean, and whether it is alive."""
from __future__ import annotations

import math

_ALIVE = 1.5  # a value that has not changed for so long is not believed [s]


class InputMean:
    """Mean of an input since a restart; a value that does not change is not alive."""

    def __init__(self) -> None:
        self.latest = math.nan
        self._changed_ns: int | None = None
        self.restart()

    def restart(self) -> None:
        """Begin a new mean."""
        self.count = 0
        self._sum = 0.0
        self._changed_ns = None

    @property
    def mean(self) -> float:
        """Mean since the restart; meaningless where `count` is 0."""
        return self._sum / max(self.count, 1)

    def add(self, stamp_ns: int, value: float) -> None:
        """Take a value; NaN and infinity are no value."""
        if not math.isfinite(value):
            return
        if value != self.latest or self._changed_ns is None:
            self.latest = value
            self._changed_ns = stamp_ns
        self.count += 1
        self._sum += value

    def is_live(self, stamp_ns: int) -> bool:
        """Return whether the value has changed lately."""
        return self._changed_ns is not None and stamp_ns - self._changed_ns <= _ALIVE * 1e9
