# SPDX-License-Identifier: Apache-2.0
"""The speed and the height that an acceleration adds up to since the vehicle last rested."""
from __future__ import annotations

from propulsion_ros.timing.dwell import Dwell

REST_ACCELERATION = 1.5
"""A vehicle that rests has no more than this, net of gravity [m/s^2]."""

_REST_TIME = 0.5  # [s]
_SMOOTHING_TIME = 0.2  # so that vibrations do not hide a rest [s]
_STILL_TIME = 0.4  # of a rest without any, as between two knocks [s]
_LONGEST_GAP_NS = 500_000_000


class Reckoning:
    """Adds an acceleration up, and begins at 0 again where the vehicle rests.

    A rest ends every error: a knock adds up to a speed for half a second, no longer, and several
    knocks add up only where less than 0.4 s lie between them. A silence longer than half a second,
    over which anything may have happened, begins anew too.

    Attributes
    ----------
    speed, height : float
        Gained since the last rest [m/s], [m].
    is_resting : bool
        Whether the acceleration has been that of a vehicle at rest for half a second, smoothed, or
        for 0.4 s as it is.
    """

    def __init__(self) -> None:
        self._rest, self._still = Dwell(_REST_TIME), Dwell(_STILL_TIME)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._rest.reset()
        self._still.reset()
        self._latest: tuple[int, float] | None = None
        self._mean = 0.0
        self.is_resting = False
        self.speed = self.height = 0.0

    def update(self, clock_ns: int, acceleration: float) -> None:
        """Take a value that is known and new, net of gravity, up positive [m/s^2]."""
        if self._latest is None or clock_ns - self._latest[0] > _LONGEST_GAP_NS:
            self.speed = self.height = 0.0
            self._mean = acceleration
        else:
            then_ns, before = self._latest
            dt, mean = (clock_ns - then_ns) * 1e-9, 0.5 * (acceleration + before)
            self.height += (self.speed + 0.5 * mean * dt) * dt
            self.speed += mean * dt
            self._mean += (acceleration - self._mean) * min(dt / _SMOOTHING_TIME, 1.0)
        self._latest = clock_ns, acceleration
        rests = self._rest.update(clock_ns, abs(self._mean) < REST_ACCELERATION)
        is_still = self._still.update(clock_ns, abs(acceleration) < REST_ACCELERATION)
        self.is_resting = rests or is_still
        if self.is_resting:
            self.speed = self.height = 0.0
