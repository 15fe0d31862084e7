# SPDX-License-Identifier: Apache-2.0
"""Signs of motion up or down that last."""
from __future__ import annotations

from typing import NamedTuple

from propulsion_ros.flight.motion.lasting import Lasting
from propulsion_ros.flight.motion.slope import Slope
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

_WINDOWS = (1.0, 2.0, 4.0)  # of the time: the noisier the altitude, the longer
_FEWEST = 5  # readings that agree
_WEIGHTLESS = 3.0 - STANDARD_GRAVITY  # net acceleration, at most, of unpowered flight [m/s^2]


class Repeated:
    """Something that at least five readings in a row must show, over a time [s]."""

    def __init__(self, duration: float) -> None:
        self._lasting = Lasting(duration)
        self._count = 0

    def update(self, clock_ns: int, news: float, holds: bool) -> bool:
        """Take a sample and return whether it has held for so long; see `Lasting.update`."""
        self._count = self._count + 1 if holds else 0
        lasts = self._lasting.update(clock_ns, news, holds) is not None
        return lasts and self._count >= _FEWEST


class Signs(NamedTuple):
    """What shows that a vehicle moves."""

    climbs: bool
    """By its velocity."""
    drops: bool
    """By its velocity."""
    is_weightless: bool
    """By its acceleration."""
    rises: bool
    """By a slope of its altitude; another one may show that it sinks."""
    sinks: bool
    """By a slope of its altitude."""


class MotionSigns:
    """Finds signs of motion that last.

    Parameters
    ----------
    time : float
        How long each sign must last [s].
    limit : float
        Speed above which it moves [m/s].
    """

    def __init__(self, time: float, limit: float) -> None:
        self._limit = limit
        self._climbs, self._drops, self._weightless = (Repeated(time) for _ in range(3))
        self._slopes = [Slope(time * factor) for factor in _WINDOWS]

    @property
    def slope(self) -> float:
        """Of the altitude over the shortest window [m/s], NaN while that is not full."""
        return self._slopes[0].value

    def update(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float,
        may_climb: bool, may_drop: bool,
    ) -> Signs:
        """Take a sample.

        Parameters
        ----------
        clock_ns : int
            Now [ns].
        altitude, velocity, acceleration : float
            As measured, up positive [m], [m/s], [m/s^2] net of gravity; NaN where unknown.
        may_climb, may_drop : bool
            Whether a velocity upward, and downward, is believed.
        """
        limit = self._limit
        for slope in self._slopes:
            slope.update(clock_ns, altitude)
        certain = [slope.value for slope in self._slopes if slope.exceeds(limit)]
        return Signs(
            climbs=self._climbs.update(clock_ns, velocity, velocity > limit and may_climb),
            drops=self._drops.update(clock_ns, velocity, -velocity > limit and may_drop),
            is_weightless=self._weightless.update(
                clock_ns, acceleration, acceleration < _WEIGHTLESS
            ),
            rises=any(value > 0.0 for value in certain),
            sinks=any(value < 0.0 for value in certain),
        )
