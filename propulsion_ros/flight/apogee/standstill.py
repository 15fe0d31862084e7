# SPDX-License-Identifier: Apache-2.0
"""An altitude that stands still, although the vehicle was too fast to have stopped."""
from __future__ import annotations

import math

from propulsion_ros.flight.apogee.parabola import Parabola
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_DRAG = 2e-3  # more than any vehicle without a parachute has [1/m]
_SHARE, _MARGIN = 0.7, 10.0  # of the least physical speed, that a fit may be wrong by [m/s]
_PUSH = 300.0  # largest acceleration by an engine [m/s^2]
_CLEAR = 3.0  # sigma
_BEFORE_NS = 600_000_000  # that a motion must have lasted before the altitude stopped
_SURE = 5.0  # one sigma of a speed that is known well [m/s]
_STILL, _STRAIGHT = 12.0, 5.0  # speed [m/s] and acceleration [m/s^2] of what stands still
_MOVING = 10.0  # clear speed of an altitude that moves again [m/s]
_MOVING_TIME = 1.0  # for which it must [s]
_OTHER_TIME = 2.5  # an impossible speed that lasts for longer is the true one [s]


class Standstill:
    """Finds a speed that vanishes faster than by gravity and drag: a clogged or saturated sensor.

    From the last speed that was physical, drag and gravity leave at least a speed that is known.
    An altitude that stands still while that speed is high is no altitude any more, until it
    clearly moves again. The longest coast from that speed ends the search for a clear motion: a
    descent is enough then.

    Attributes
    ----------
    is_found : bool
        Whether the altitude stands still and must not be used.
    is_odd : bool
        Whether its latest speed is less than drag and gravity can leave.
    """

    def __init__(self) -> None:
        self._moving = Dwell(_MOVING_TIME)
        self._other = Dwell(_OTHER_TIME)
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self.is_found = self.is_odd = False
        self._stamp_ns: int | None = None
        self._speed = 0.0
        self._moving.reset()
        self._other.reset()

    def shift(self, shift_ns: int) -> None:
        """Move all stamps by a clock jump."""
        if self._stamp_ns is not None:
            self._stamp_ns += shift_ns

    def is_since(self, begun_ns: int) -> bool:
        """Return whether the last trusted speed is older than a motion, or hardly younger."""
        return self._stamp_ns is None or self._stamp_ns - begun_ns < _BEFORE_NS

    def is_over(self, stamp_ns: int) -> bool:
        """Return whether the longest coast from the last trusted speed has ended."""
        return self._since(stamp_ns) > self._speed / STANDARD_GRAVITY

    def trust(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Take a speed that is certain, and its sigma [m/s]."""
        self.is_found = self.is_odd = False
        self._stamp_ns, self._speed = stamp_ns, max(velocity - _CLEAR * sigma, 0.0)
        self._moving.reset()
        self._other.reset()

    def is_too_slow(self, stamp_ns: int, velocity: float, sigma: float) -> bool:
        """Return whether a speed is less than drag and gravity can leave [m/s]."""
        return velocity + _CLEAR * sigma < _SHARE * self._least(stamp_ns) - _MARGIN

    def is_news(self, stamp_ns: int, velocity: float, sigma: float) -> bool:
        """Return whether a speed is known better than by what drag and gravity can leave [m/s]."""
        return sigma < _SURE or velocity - _CLEAR * sigma > self._least(stamp_ns)

    def follow(
        self, stamp_ns: int, fit: Parabola, brief: Parabola, now: float, fastest: float
    ) -> None:
        """Take a new altitude.

        Parameters
        ----------
        stamp_ns : int
            [ns].
        fit, brief : Parabola
            Of the window and of its end.
        now : float
            The stamp in the time of both [s].
        fastest : float
            Speed of a coast that is known, which ports that refill exceed [m/s]; infinity for none.
        """
        velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
        if self.is_found:
            slowest = min(abs(velocity) - _CLEAR * sigma, abs(brief.velocity(now)))
            if self._moving.update(stamp_ns, slowest > _MOVING):
                self.trust(stamp_ns, velocity, sigma)
            return
        too_fast = velocity - _CLEAR * sigma > min(self._most(stamp_ns), fastest + _MARGIN)
        self.is_odd = too_slow = self.is_too_slow(stamp_ns, velocity, sigma)
        if self._other.update(stamp_ns, too_slow or too_fast):
            self.trust(stamp_ns, velocity, sigma)
        elif not (too_slow or too_fast):
            if self.is_news(stamp_ns, velocity, sigma):
                self.trust(stamp_ns, velocity, sigma)
        elif too_slow:
            curvature = abs(brief.acceleration) - _CLEAR * brief.acceleration_sigma
            self.is_found = abs(brief.velocity(now)) < _STILL and curvature < _STRAIGHT

    def _since(self, stamp_ns: int) -> float:
        """Return the time since the last trusted speed [s]."""
        return math.inf if self._stamp_ns is None else (stamp_ns - self._stamp_ns) * 1e-9

    def _least(self, stamp_ns: int) -> float:
        """Return the least speed that drag and gravity leave [m/s]."""
        time, speed = self._since(stamp_ns), self._speed
        if speed <= 0.0 or time > speed / STANDARD_GRAVITY:
            return -math.inf
        return speed / (1.0 + _DRAG * speed * time) - STANDARD_GRAVITY * time

    def _most(self, stamp_ns: int) -> float:
        """Return the largest speed that an engine can have made [m/s]."""
        return self._speed + _PUSH * self._since(stamp_ns) + _MARGIN
