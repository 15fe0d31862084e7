# SPDX-License-Identifier: Apache-2.0
"""Landing: the end of the descent."""
from __future__ import annotations

import math

from propulsion_ros.flight.motion.slope import Slope
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.timing.dwell import Dwell

_MOVES_WINDOW = 2.0  # over which a vehicle that seemed to have landed is seen to move [s]
_READING_NS = 50_000_000  # between two readings of that, at least


class LandingDetector:
    """Detects that the vehicle has landed: slow, and at one altitude for a while.

    The altitude must be that of a sensor that is alive: a feed that stands still is no vehicle
    that does. What certainly climbs or falls later has not landed.
    """

    def __init__(self, params: FlightParams) -> None:
        self._velocity = params.landed_velocity
        self._band = params.landed_band
        self._still = Dwell(params.landed_time)
        self._slope = Slope(_MOVES_WINDOW)
        self.reset()

    def reset(self, *, has_landed: bool = False) -> None:
        """Forget everything, as at apogee, but what was known before a restart."""
        self._still.reset()
        self._forget_motion()
        self._anchor = math.nan
        self.has_landed = has_landed

    def update(self, clock_ns: int, altitude: float, velocity: float) -> None:
        """Take altitude [m] and vertical speed [m/s].

        Parameters
        ----------
        clock_ns : int
            On the flight clock [ns].
        altitude : float
            NaN where it is unknown or its sensor dead; then nothing is concluded.
        velocity : float
            One that is unknown leaves the altitude.
        """
        is_slow = not abs(velocity) >= self._velocity
        # Never near where either is unknown.
        is_near = abs(altitude - self._anchor) <= self._band
        if not is_near:
            self._anchor = altitude
            self._still.reset()
        if self._still.update(clock_ns, is_slow):
            self.has_landed = True
        elif self.has_landed and self._has_moved(clock_ns, altitude):
            self.has_landed = False
            self._forget_motion()

    def _forget_motion(self) -> None:
        self._slope.reset()
        self._read_ns: int | None = None

    def _has_moved(self, clock_ns: int, altitude: float) -> bool:
        """Return whether some of the altitude's readings certainly climb or fall."""
        is_due = self._read_ns is None or clock_ns - self._read_ns >= _READING_NS
        if not is_due or math.isnan(altitude):
            return False
        self._read_ns = clock_ns
        self._slope.update(clock_ns, altitude)
        return self._slope.exceeds(self._velocity)
