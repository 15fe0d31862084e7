# SPDX-License-Identifier: Apache-2.0
"""Whether a vehicle rests, by sensors that are alive, and when it was last seen to move."""
from __future__ import annotations

import math

from propulsion_ros.flight.motion.live_value import LiveValue
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.timing.dwell import Dwell

_CALM = 2.0
"""A vehicle at rest that is handled or shaken by the wind has no more than this [m/s^2]."""

_SETTLED_TIME = 0.5  # [s]
_SMOOTHING_TIME = 0.5  # so that noise is no motion [s]


class RestWatch:
    """Watches for rest and for motion; sensors that are silent or stuck show neither.

    A vehicle rests where each sensor that is alive shows it, and one of them is the altitude, or
    speed and acceleration together. Under a parachute the altitude and the speed show that it does
    not.

    Parameters
    ----------
    params : FlightParams
        The ``landed_`` limits, ``stand_down_time`` and ``frozen_time``.

    Attributes
    ----------
    is_moving : bool
        Whether the latest sample shows motion.
    is_settled : bool
        Whether the vehicle has been at rest for a moment.
    has_rested : bool
        Whether it has been for ``landed_time``.
    has_stood : bool
        Whether it has been for ``stand_down_time``.
    altitude : float
        Where it rests [m]; NaN where unknown.
    moved_ns : int or None
        When motion was last seen, on the flight clock [ns].
    """

    def __init__(self, params: FlightParams) -> None:
        self._velocity_limit = params.landed_velocity
        self._band = params.landed_band
        self._altitude = LiveValue(params.frozen_time)
        self._velocity = LiveValue(params.frozen_time)
        self._acceleration = LiveValue(params.frozen_time)
        self._settled = Dwell(_SETTLED_TIME)
        self._landed, self._stood = Dwell(params.landed_time), Dwell(params.stand_down_time)
        self.reset()

    def reset(self) -> None:
        """Forget everything, as at arming."""
        for value in (self._altitude, self._velocity, self._acceleration):
            value.reset()
        for dwell in (self._settled, self._landed, self._stood):
            dwell.reset()
        self._level: tuple[int, float] | None = None
        self.altitude = math.nan
        self.is_moving = self.is_settled = self.has_rested = self.has_stood = False
        self.moved_ns: int | None = None

    def update(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float
    ) -> None:
        """Take what is measured: altitude [m], vertical speed [m/s], net acceleration [m/s^2]."""
        self._altitude.update(clock_ns, altitude)
        self._velocity.update(clock_ns, velocity)
        self._acceleration.update(clock_ns, acceleration)
        self.is_moving = self._is_moving(clock_ns, altitude, velocity, acceleration)
        if self.is_moving:
            self.moved_ns = clock_ns
        rests = not self.is_moving and self._knows_rest(clock_ns)
        self.is_settled = self._settled.update(clock_ns, rests)
        self.has_rested = self._landed.update(clock_ns, rests)
        self.has_stood = self._stood.update(clock_ns, rests)

    def sees_altitude(self, clock_ns: int) -> bool:
        """Return whether the altitude is that of a sensor that is alive."""
        return self._altitude.is_alive(clock_ns)

    def sees_velocity(self, clock_ns: int) -> bool:
        """Return whether the vertical speed is that of a sensor that is alive."""
        return self._velocity.is_alive(clock_ns)

    def _is_moving(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float
    ) -> bool:
        """Return whether a sensor that is alive shows motion."""
        wanders = self._altitude.is_new and self._wanders(clock_ns, altitude)
        moves = self._velocity.is_alive(clock_ns) and abs(velocity) >= self._velocity_limit
        shakes = self._acceleration.is_alive(clock_ns) and abs(acceleration) >= _CALM
        return wanders or moves or shakes

    def _wanders(self, clock_ns: int, altitude: float) -> bool:
        """Return whether the altitude, smoothed, leaves the band about where it rested."""
        if self._level is None:
            self._level, self.altitude = (clock_ns, altitude), altitude
            return False
        then_ns, level = self._level
        share = min((clock_ns - then_ns) * 1e-9 / _SMOOTHING_TIME, 1.0)
        level += (altitude - level) * share
        self._level = clock_ns, level
        if abs(level - self.altitude) <= self._band:
            return False
        self.altitude = level
        return True

    def _knows_rest(self, clock_ns: int) -> bool:
        return self._altitude.is_alive(clock_ns) or (
            self._velocity.is_alive(clock_ns) and self._acceleration.is_alive(clock_ns)
        )
