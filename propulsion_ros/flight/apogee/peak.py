# SPDX-License-Identifier: Apache-2.0
"""How high a flight has been: the level of the pad, the peak, and the last climb."""
from __future__ import annotations

import math

from propulsion_ros.flight.apogee.parabola import CLEAR, Parabola

MOVING = 10.0
"""A clearly larger speed is that of what moves [m/s]."""
_REST = 1.0  # speed [m/s] and acceleration [m/s^2] within which a sensor rests, plus its scatter
_LARGEST_SPREAD = 2.0  # sigma of speed and acceleration that tell rest from free fall
_NEAR = 25.0  # of the pad, within which another level of rest is the pad [m]
_LONGEST_STEP = 2.0  # between two fits, of one climb [s]
_CARRIED = 0.5  # part of a rise to another level that was seen as a climb: no pad is carried up


class Peak:
    """Highest fitted altitude and the level of the pad, from the fits alone.

    The pad is altitude 0 until the vehicle has been seen at rest at another level: a reference
    that is wrong, by weather or a missing home, must not pass for height. A level to which the
    vehicle was seen to climb is no pad: a balloon or a drone may carry it and rest in the air.

    Attributes
    ----------
    altitude : float
        Highest altitude that was measured and fitted, less one sigma [m]; -inf before.
    stamp_ns : int or None
        Its stamp.
    has_moved : bool
        Whether the vehicle has clearly been in motion.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self._pad = 0.0
        self._climbed = 0.0
        self._fitted_ns: int | None = None
        self._reckoned_ns: int | None = None
        self._reckoned = math.nan
        self.altitude = -math.inf
        self.stamp_ns: int | None = None
        self.has_moved = False

    @property
    def pad(self) -> float:
        """Level at which the vehicle was last seen at rest [m]."""
        return self._pad

    @property
    def rise(self) -> float:
        """Height of the peak above the pad [m]."""
        return self.altitude - self._pad

    def follow(
        self, stamp_ns: int, fit: Parabola, now: float, altitude: float, *, agrees: bool,
        settled: bool,
    ) -> None:
        """Take a fit.

        Parameters
        ----------
        stamp_ns : int
            Of the newest sample [ns].
        fit : Parabola
            With its noise.
        now : float
            That stamp in the time of the fit [s].
        altitude : float
            That was measured then [m].
        agrees : bool
            Whether the newest samples lie on the fit.
        settled : bool
            Whether the window is full of samples that vary, so that rest can be told.
        """
        velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
        self._reckoned_ns = None
        if abs(velocity) - CLEAR * sigma > MOVING:
            self.has_moved = True
        self._follow_climb(stamp_ns, velocity, sigma)
        if settled and not self.has_moved and _is_at_rest(fit, velocity, sigma):
            self._rest(fit.mean)
        if agrees:
            # A fit goes on above an altitude that stopped: both must have been there.
            height = min(fit.altitude(now) - fit.altitude_sigma(now), altitude)
            if height > self.altitude:
                self.altitude, self.stamp_ns = height, stamp_ns

    def _follow_climb(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Add up the clear climb since the pad."""
        if self._fitted_ns is not None and abs(velocity) > CLEAR * sigma:
            step = min((stamp_ns - self._fitted_ns) * 1e-9, _LONGEST_STEP)
            self._climbed = max(self._climbed + velocity * step, 0.0)
        self._fitted_ns = stamp_ns

    def _rest(self, level: float) -> None:
        """Take a level of rest for the pad, unless the vehicle was carried up to it."""
        rise = level - self._pad
        if rise > _NEAR and self._climbed > _CARRIED * rise:
            return
        self._pad = self.altitude = level
        self._climbed = 0.0

    def reckon(self, stamp_ns: int, last_ns: int, altitude: float, velocity: float) -> None:
        """Carry the peak on by the velocity alone, from the last fitted altitude."""
        if self._reckoned_ns is None:
            self._reckoned_ns, self._reckoned = last_ns, altitude
        self._reckoned += velocity * (stamp_ns - self._reckoned_ns) * 1e-9
        self._reckoned_ns = stamp_ns
        if self._reckoned > self.altitude:
            self.altitude, self.stamp_ns = self._reckoned, stamp_ns


def _is_at_rest(fit: Parabola, velocity: float, sigma: float) -> bool:
    spread = fit.acceleration_sigma
    return (
        max(sigma, spread) < _LARGEST_SPREAD
        and abs(velocity) < _REST + 2.0 * sigma
        and abs(fit.acceleration) < _REST + 2.0 * spread
    )
