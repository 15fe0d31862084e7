"""Liftoff by two independent paths, and the case of a log that begins in the air."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_CONTRADICTED_TIME = 1.0  # for how long the altitude must say what a velocity input denies [s]


class Liftoff(NamedTuple):
    """When the vehicle left the pad, on the flight clock, and how that was seen.

    ``source`` is 'acceleration', 'climb', or 'fall' where apogee has already passed.
    """

    clock_ns: int
    source: str


class _Path:
    """One measurement that must say so for a while; NaN and a repeated value are no news."""

    def __init__(self, duration: float) -> None:
        self._dwell = Dwell(duration)
        self.reset()

    def reset(self) -> None:
        self._dwell.reset()
        self._news = math.nan

    def update(self, clock_ns: int, news: float, holds: bool) -> int | None:
        """Return when it began to hold, None where it has not held for long enough."""
        if math.isnan(news) or news == self._news:
            return None
        self._news = news
        return self._dwell.start_ns if self._dwell.update(clock_ns, holds) else None


class LiftoffDetector:
    """Says when an armed vehicle lifts off.

    Either path is enough, so that the failure of one sensor does not hide the flight:

    * acceleration: the specific force along up, acceleration + g, is above a limit;
    * climb: vertical speed and the rise above the lowest altitude since arming are;
    * fall: the same downward, for a feed that begins after apogee.

    Where the speed is an input of its own, one that is stuck or never filled in must not hide the
    flight: the slope of the altitude alone is enough once it has lasted a second.

    What is unknown, repeats itself or spans a gap does not count. The time of liftoff is the
    time at which the condition that was met began to hold.
    """

    def __init__(self, params: FlightParams) -> None:
        self._acceleration = params.liftoff_acceleration - STANDARD_GRAVITY
        self._velocity = params.liftoff_velocity
        self._rise = params.liftoff_rise
        self._paths = {
            'acceleration': _Path(params.liftoff_acceleration_time),
            'climb': _Path(params.liftoff_rise_time),
            'fall': _Path(params.liftoff_rise_time),
        }
        denied_time = max(params.liftoff_rise_time, _CONTRADICTED_TIME)
        self._denied_paths = {'climb': _Path(denied_time), 'fall': _Path(denied_time)}
        self.reset()

    def reset(self) -> None:
        """Forget everything, as at arming."""
        for path in (*self._paths.values(), *self._denied_paths.values()):
            path.reset()
        self._previous = math.nan
        self._lowest = math.inf
        self._highest = -math.inf

    def update(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float,
        slope: float = math.nan,
    ) -> Liftoff | None:
        """Take one sample and return the liftoff where it is now certain.

        Parameters
        ----------
        clock_ns : int
            On the flight clock [ns].
        altitude : float
            Above the pad [m].
        velocity, acceleration : float
            Up positive [m/s], [m/s^2] net of gravity; NaN where unknown.
        slope : float
            Vertical speed by the altitude alone [m/s]; NaN where unknown.
        """
        self._widen(altitude)
        has_risen = altitude - self._lowest > self._rise
        has_fallen = self._highest - altitude > self._rise and altitude > self._rise
        seen = (
            (self._paths, 'acceleration', acceleration, acceleration > self._acceleration),
            (self._paths, 'climb', altitude, has_risen and velocity > self._velocity),
            (self._paths, 'fall', altitude, has_fallen and velocity < -self._velocity),
            (self._denied_paths, 'climb', altitude, has_risen and slope > self._velocity),
            (self._denied_paths, 'fall', altitude, has_fallen and slope < -self._velocity),
        )
        for paths, source, news, holds in seen:
            start_ns = paths[source].update(clock_ns, news, holds)
            if start_ns is not None:
                return Liftoff(start_ns, source)
        return None

    def _widen(self, altitude: float) -> None:
        if not math.isfinite(altitude):
            return
        # Two samples must agree on an extreme: one spike must not fake a rise for ever after.
        if math.isfinite(self._previous):
            self._lowest = min(self._lowest, max(altitude, self._previous))
            self._highest = max(self._highest, min(altitude, self._previous))
        self._previous = altitude
