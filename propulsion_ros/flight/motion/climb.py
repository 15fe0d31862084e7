# SPDX-License-Identifier: Apache-2.0
"""Whether a vehicle certainly climbs, by an altitude that is alive."""
from __future__ import annotations

from propulsion_ros.flight.motion.live_value import LiveValue
from propulsion_ros.flight.motion.slope import Slope

_WINDOW = 0.5
"""Of the altitude, over which it must rise [s]."""


class Climb:
    """Follows the altitude; what is stuck or silent shows no climb.

    Parameters
    ----------
    limit : float
        Speed that is a climb [m/s].
    frozen_time : float
        An altitude that has not changed for this long is dead [s].
    """

    def __init__(self, limit: float, frozen_time: float) -> None:
        self._limit = limit
        self._altitude, self._slope = LiveValue(frozen_time), Slope(_WINDOW)
        self._clock_ns = 0

    def reset(self) -> None:
        """Forget the altitude."""
        self._altitude.reset()
        self._slope.reset()

    def update(self, clock_ns: int, altitude: float) -> None:
        """Take the altitude [m], NaN where unknown."""
        self._clock_ns = clock_ns
        self._altitude.update(clock_ns, altitude)
        self._slope.update(clock_ns, altitude)

    @property
    def is_certain(self) -> bool:
        """Whether the altitude certainly rises, computed where it is asked for."""
        is_alive = self._altitude.is_alive(self._clock_ns)
        return is_alive and self._slope.exceeds(self._limit) and self._slope.value > 0.0
