"""Sub-phases: boost and coast on the way up, descent and landed on the way down."""
from __future__ import annotations

import math

from propulsion_ros.flight.dwell import Dwell
from propulsion_ros.flight.flight_params import FlightParams
from propulsion_ros.models.atmosphere import STANDARD_GRAVITY

_BURN_ACCELERATION = 0.5 * STANDARD_GRAVITY
_MEASURED_TIME = 0.1
_FITTED_TIME = 1.0


class BurnMonitor:
    """Tells boost from coast by the net acceleration, with hysteresis.

    A coasting vehicle has at most -g, a burning one more than 0. Each must hold for a while
    beyond half a g, so that noise does not make the sub-phase chatter: 0.1 s where acceleration
    is measured, 1 s where it is the curvature of the altitude.
    """

    def __init__(self) -> None:
        self._measured = Dwell(_MEASURED_TIME)
        self._fitted = Dwell(_FITTED_TIME)
        self.reset(burning=True)

    def reset(self, *, burning: bool) -> None:
        """Begin in boost or in coast."""
        self._measured.reset()
        self._fitted.reset()
        self.is_burning = burning

    def update(self, clock_ns: int, measured: float, fitted: float) -> None:
        """Take the acceleration net of gravity, up positive [m/s^2].

        The measured one counts where it is known; where both are NaN nothing changes.
        """
        is_measured = math.isfinite(measured)
        acceleration = measured if is_measured else fitted
        direction = -1.0 if self.is_burning else 1.0
        dwell = self._measured if is_measured else self._fitted
        if dwell.update(clock_ns, direction * acceleration > _BURN_ACCELERATION):
            self.reset(burning=not self.is_burning)


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
