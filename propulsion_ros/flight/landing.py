"""Landing: the end of the descent."""
from __future__ import annotations

import math

from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.timing.dwell import Dwell


class LandingDetector:
    """Says that the vehicle has landed: slow, and at one altitude for a while.

    It commands nothing, so that a feed that stands still may count as a vehicle that does.
    """

    def __init__(self, params: FlightParams) -> None:
        self._velocity = params.landed_velocity
        self._band = params.landed_band
        self._still = Dwell(params.landed_time)
        self.reset()

    def reset(self) -> None:
        """Forget everything, as at apogee."""
        self._still.reset()
        self._anchor = math.nan
        self.has_landed = False

    def update(self, clock_ns: int, altitude: float, velocity: float) -> None:
        """Take altitude [m] and vertical speed [m/s]; an unknown speed leaves the altitude."""
        is_slow = not abs(velocity) >= self._velocity
        # Never near where either is unknown.
        is_near = abs(altitude - self._anchor) <= self._band
        if not is_near:
            self._anchor = altitude
            self._still.reset()
        self.has_landed |= self._still.update(clock_ns, is_slow)
