# SPDX-License-Identifier: Apache-2.0
"""A fall that has lasted: the altitude is below its peak, and each look is lower than the last."""
from __future__ import annotations

import math
from collections import deque
from itertools import pairwise

_LOOK_NS = 500_000_000  # of samples whose median is one look
_LOOKS = 5  # number that is kept
_MARGIN = 10.0  # below the peak [m]


class LastingFall:
    """Finds a fall by medians of the altitude over half a second, here called looks.

    Of a slower sensor each sample is a look. A lasting fall ends every veto, because no error of
    static ports falls for so long.

    Parameters
    ----------
    duration : float
        For how long each look must be lower than the one before [s].

    Attributes
    ----------
    peak : float
        Highest that two looks in a row have reached [m]; -inf before.
    looks : deque of (int, float)
        The latest looks: time [ns] and median [m].
    """

    def __init__(self, duration: float) -> None:
        self._duration_ns = round(duration * 1e9)
        self.reset()

    def reset(self) -> None:
        """Clear the data of the flight."""
        self.peak = -math.inf
        self.restart()

    def restart(self) -> None:
        """Begin a new look, keeping the peak."""
        self._values: list[float] = []
        self._begun_ns = self._ended_ns = 0
        self.looks: deque[tuple[int, float]] = deque(maxlen=_LOOKS)
        self._since_ns: int | None = None

    def shift(self, shift_ns: int) -> None:
        """Begin a new look after a clock jump, because the stamps before it no longer fit."""
        self.restart()

    def add(self, stamp_ns: int, altitude: float) -> bool:
        """Take a new altitude [m]; return whether a look has ended before it."""
        is_over = bool(self._values) and stamp_ns - self._begun_ns >= _LOOK_NS
        if is_over:
            self._look()
        if not self._values:
            self._begun_ns = stamp_ns
        self._ended_ns = stamp_ns
        self._values.append(altitude)
        return is_over

    @property
    def has_lasted(self) -> bool:
        """Whether the altitude has fallen for long enough, and is below its peak."""
        if not self.looks or self._since_ns is None:
            return False
        latest_ns, altitude = self.looks[-1]
        return latest_ns - self._since_ns >= self._duration_ns and altitude < self.peak - _MARGIN

    @property
    def depth(self) -> float:
        """Height of the peak above the higher of the latest two looks [m]; 0 for fewer."""
        if len(self.looks) < 2:
            return 0.0
        return self.peak - max(self.looks[-1][1], self.looks[-2][1])

    def climbs(self, speed: float) -> bool:
        """Return whether each of the latest three looks is higher, by a speed [m/s]."""
        looks = list(self.looks)[-3:]
        return len(looks) == 3 and all(
            later[1] - look[1] > speed * (later[0] - look[0]) * 1e-9
            for look, later in pairwise(looks)
        )

    def _look(self) -> None:
        values = sorted(self._values)
        middle = values[len(values) // 2]
        self._values = []
        latest = self.looks[-1] if self.looks else None
        if latest is None or middle >= latest[1]:
            self._since_ns = None
        elif self._since_ns is None:
            self._since_ns = latest[0]
        if latest is not None:
            # Two looks must reach a peak, so that one wild sample does not count.
            self.peak = max(self.peak, min(middle, latest[1]))
        self.looks.append(((self._begun_ns + self._ended_ns) // 2, middle))
