# SPDX-License-Identifier: Apache-2.0
"""Whether an altitude that was lost in the descent may be that of the ground."""
from __future__ import annotations

import math

from propulsion_ros.timing.dwell import Dwell

_LOST_NS = 10_000_000_000
"""What has not changed for so long is lost; sooner no person can be where it landed [ns]."""
_SETTLES_NS = 3_000_000_000
"""A sensor that starts may run to its value for so long, and is silent before it [ns]."""
_SINKS = 1.0
"""How long it must sink [s]."""


class RegainedAltitude:
    """Distrusts an altitude that comes back in a descent, until it sinks.

    Its sensor may come back by the shock of the landing, or when the vehicle is picked up. Then it
    shows the ground, where no charge may fire. What still falls shows so within seconds: 3 s after
    its return the altitude must be further below a lag of it than a vehicle at rest wanders. At a
    steady speed that is so above ``velocity``, however seldom the sensor gives a sample. A silence
    of 3 s, or an altitude far above the lag, begins another return.

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
    known_ns : int or None
        When the altitude counted last, on the flight clock [ns]; None before the first sample.
    """

    def __init__(self, band: float, velocity: float) -> None:
        self._band, self._time_constant_ns = band, band / velocity * 1e9
        self._sinks = Dwell(_SINKS)
        self.reset()

    def reset(self, known_ns: int | None = None) -> None:
        """Forget the altitude, but when it counted last before a restart."""
        self._altitude = math.nan
        self.known_ns = known_ns
        self.is_doubtful = False
        self._begin_return(0, math.nan)

    def update(self, clock_ns: int, altitude: float, *, descends: bool) -> None:
        """Take an altitude [m], NaN where unknown, and whether the vehicle is after its apogee."""
        is_new = math.isfinite(altitude) and altitude != self._altitude
        if self.known_ns is None or not descends:
            self.known_ns = clock_ns
        self.is_doubtful = clock_ns - self.known_ns > _LOST_NS
        if is_new and (not self.is_doubtful or self._has_sunk(clock_ns, altitude)):
            self.known_ns, self.is_doubtful = clock_ns, False
        if is_new:
            self._altitude = altitude

    def _begin_return(self, clock_ns: int, altitude: float) -> None:
        self._begin_ns = self._last_ns = clock_ns
        self._lagged = altitude
        self._sinks.reset()

    def _has_sunk(self, clock_ns: int, altitude: float) -> bool:
        is_again = clock_ns - self._last_ns > _SETTLES_NS
        # Of noise two readings may differ by more than the band.
        if is_again or not altitude - self._lagged <= 2.0 * self._band:
            self._begin_return(clock_ns, altitude)
            return False
        share = -math.expm1((self._last_ns - clock_ns) / self._time_constant_ns)
        self._last_ns = clock_ns
        if clock_ns - self._begin_ns <= _SETTLES_NS:
            self._lagged = altitude
            return False
        is_below = self._lagged - altitude > self._band
        self._lagged += share * (altitude - self._lagged)
        return self._sinks.update(clock_ns, is_below)
