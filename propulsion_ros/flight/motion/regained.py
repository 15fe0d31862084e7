# SPDX-License-Identifier: Apache-2.0
"""Whether an altitude that was lost in the descent may be that of the ground."""
from __future__ import annotations

import math

from propulsion_ros.flight.motion.live_value import LiveValue
from propulsion_ros.timing.dwell import Dwell

_LOST = 10.0
"""What has not changed for so long is lost; nobody stands beside what landed in less [s]."""
_SETTLES_NS = 3_000_000_000
"""A sensor that starts may run to its value for so long [ns]."""
_SINKS = 1.0
"""How long it must sink [s]."""


class RegainedAltitude:
    """Distrusts an altitude that comes back in a descent, until it sinks.

    Its sensor may come back by the shock of the landing, or when the vehicle is picked up. Then it
    shows the ground, where no charge may fire. What still falls shows so within seconds: 3 s after
    its return the altitude must be further below a lag of it than a vehicle at rest wanders. At a
    steady speed that is so above ``velocity``, however seldom the sensor gives a sample.

    Parameters
    ----------
    band : float
        By how much the altitude of a vehicle at rest wanders [m].
    velocity : float
        Below which it may rest [m/s].

    Attributes
    ----------
    is_doubtful : bool
        Whether the vehicle may be on the ground.
    """

    def __init__(self, band: float, velocity: float) -> None:
        self._altitude = LiveValue(_LOST)
        self._band, self._time_constant_ns = band, band / velocity * 1e9
        self._sinks = Dwell(_SINKS)
        self.reset()

    def reset(self) -> None:
        """Forget the altitude."""
        self._altitude.reset()
        self._forget_return()
        self.is_doubtful = False

    def update(self, clock_ns: int, altitude: float, *, descends: bool) -> None:
        """Take an altitude [m], NaN where unknown, and whether the vehicle is after its apogee."""
        self._altitude.update(clock_ns, altitude)
        is_lost = not self._altitude.is_alive(clock_ns)
        self.is_doubtful = descends and (is_lost or self.is_doubtful)
        if is_lost or not self.is_doubtful:
            self._forget_return()
        elif math.isfinite(altitude):
            self.is_doubtful = not self._has_sunk(clock_ns, altitude)

    def _forget_return(self) -> None:
        self._begin_ns: int | None = None
        self._sinks.reset()

    def _has_sunk(self, clock_ns: int, altitude: float) -> bool:
        if self._begin_ns is None:
            self._begin_ns = clock_ns
        if clock_ns - self._begin_ns <= _SETTLES_NS:
            self._last_ns, self._lagged = clock_ns, altitude
            return False
        share = -math.expm1((self._last_ns - clock_ns) / self._time_constant_ns)
        is_below = self._lagged - altitude > self._band
        self._last_ns = clock_ns
        self._lagged += share * (altitude - self._lagged)
        return self._sinks.update(clock_ns, is_below)
