# SPDX-License-Identifier: Apache-2.0
"""Liftoff and ascent, each found by several sensors of which any may be dead."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from propulsion_ros.flight.motion.extremes import Extremes
from propulsion_ros.flight.motion.fall import Fall
from propulsion_ros.flight.motion.lasting import Lasting
from propulsion_ros.flight.motion.live_value import LiveValue
from propulsion_ros.flight.motion.push import Push
from propulsion_ros.flight.motion.sparse_rise import SparseRise
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

_CONFIRMED_TIME = 0.2  # for how long a push must be confirmed [s]
_SLOPE_TIME = 1.0  # for how long the altitude must deny a velocity input [s]
_DENIED_TIME = 5.0  # for how long a climb must last against an accelerometer that rests [s]
_BLIND_TIME = 2.0  # for how long a velocity must last where the altitude is dead [s]
_DEEP_TIME = 5.0  # for how long a climb must last that is below the pad [s]
_FREE_TIME = 1.5  # for how long a free fall by altitude and accelerometer must last [s]
_DEEP_FALL_TIME = 20.0  # for how long a fall below the pad must last by the altitude alone [s]
_COAST_TIME = 1.0  # for how long a fall must follow a push that the altitude denies [s]
_COAST = -0.5 * STANDARD_GRAVITY  # acceleration net of gravity, at most, of what flies unpowered
_PACE = 0.5  # of the limit of speed, by which the altitude must have gone on meanwhile
_SHARE = 0.25  # of the height that a push adds up to, which a live altitude must show
_MEMORY = 5.0  # over which a rise is measured, at least [s]
_AWAY_NS = 5_000_000_000  # away from the pad for so long, a vehicle may fall without having climbed


PUSHES = ('acceleration', 'coast')
"""Sources of a liftoff that an accelerometer has felt."""
CERTAIN_RISE = 100.0
"""Height that no sensor gains which settles, drifts or glitches on the ground [m]."""


class Liftoff(NamedTuple):
    """When motion began, on the flight clock, and how it was seen.

    ``source`` is 'acceleration', 'climb', 'fall' where apogee has already passed, or 'coast'.
    """

    clock_ns: int
    source: str


class _Vote(NamedTuple):
    """One way to find something: what is measured, and whether it has the sign of a liftoff."""

    path: Lasting | Fall | SparseRise
    source: str
    news: float
    holds: bool
    pace: float = 0.0


class LiftoffDetector:
    """Detects when an armed vehicle lifts off, and when its ascent is beyond doubt.

    An acceleration alone is neither. It is a liftoff once something confirms it: a rise where the
    altitude is alive, and where that is dead the speed that the acceleration adds up to. An
    ascent is seen by any of these votes, which are all a liftoff too:

    * climb: the vertical speed and the recent rise are above their limits, and the altitude goes
      on accordingly, above the pad. The slope of the altitude takes the place of a velocity input
      that is stuck or never filled in. An accelerometer that lives and rests makes the vote wait
      for 5 s, and so does a climb below the pad, as of a barometer that settles. Of readings
      that come a second and more apart four in a row must rise. Where the altitude is dead, a
      velocity that is alive must last for 2 s.
    * fall: the same downward, of a vehicle that has been away from its pad for 5 s or was never
      seen there: a feed that begins after apogee, or a drop. `Fall` has how long it must last.
      Below the pad, where a drop from a balloon goes on, that is 20 s, or 1.5 s where the
      accelerometer is in free fall too.
    * acceleration: a push has added up to the limit of speed, which lasts where the altitude is
      dead, and is confirmed by a rise where it is alive.
    * coast: a push has added up to the limit of speed, and an unpowered flight of 1 s followed,
      whatever the altitude is.

    What is unknown, repeats itself or spans a gap does not count. The time of liftoff is that at
    which the condition that was met began to hold.

    Parameters
    ----------
    params : FlightParams
        The ``liftoff_`` limits, and ``frozen_time``.
    may_settle : bool
        Whether a sensor may start and settle meanwhile. Else a fall counts as soon as a climb,
        from half of that speed and `liftoff_confirm_rise` on.

    Attributes
    ----------
    liftoff, ascent : Liftoff or None
        What was found since the last reset.
    """

    def __init__(self, params: FlightParams, *, may_settle: bool = True) -> None:
        self._params = params
        self._altitude = LiveValue(params.frozen_time)
        self._push = Push(
            params.liftoff_acceleration - STANDARD_GRAVITY, params.liftoff_acceleration_time
        )
        self._range = Extremes(_MEMORY)
        lasts = params.liftoff_rise_time
        self._confirmed = {'speed': Lasting(_CONFIRMED_TIME), 'rise': Lasting(_CONFIRMED_TIME)}
        self._climb = {
            'velocity': Lasting(lasts), 'slope': Lasting(max(lasts, _SLOPE_TIME)),
            'deep': Lasting(max(lasts, _DEEP_TIME)),
        }
        # Drop [m], speed [m/s]: without a sensor that settles a smaller fall is certain.
        self._least_fall = (
            (params.liftoff_rise, params.liftoff_velocity) if may_settle
            else (params.liftoff_confirm_rise, _PACE * params.liftoff_velocity)
        )
        self._fall = Fall() if may_settle else Fall(lasts)
        self._sparse = SparseRise()
        self._blind = Lasting(max(lasts, _BLIND_TIME))
        self._deep_fall = {'free': Lasting(_FREE_TIME), 'any': Lasting(_DEEP_FALL_TIME)}
        self._denied = {
            'velocity': Lasting(max(lasts, _DENIED_TIME)),
            'slope': Lasting(max(lasts, _DENIED_TIME)),
        }
        self._pushed = {
            'speed': Lasting(lasts), 'rise': Lasting(_CONFIRMED_TIME), 'any': Lasting(lasts)
        }
        self._coast = Lasting(_COAST_TIME)
        self.reset()

    def reset(self) -> None:
        """Forget everything, as at arming."""
        self._altitude.reset()
        self._acceleration = LiveValue(self._params.frozen_time)
        self._push.reset()
        self._range.reset()
        self._blind.reset()
        for group in (
            self._confirmed, self._climb, self._denied, self._pushed, self._deep_fall
        ):
            for path in group.values():
                path.reset()
        self._coast.reset()
        self._fall.reset()
        self._sparse.reset()
        self._has_sped = False
        self._near_ns: int | None = None
        self.liftoff: Liftoff | None = None
        self.ascent: Liftoff | None = None

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
        self._sense(clock_ns, altitude, acceleration)
        if self.ascent is None:
            self.ascent = _first(clock_ns, (
                *self._climbs(clock_ns, altitude, velocity, slope),
                *self._falls(clock_ns, altitude, velocity, acceleration, slope),
                *self._pushes(clock_ns, altitude, acceleration),
            ), self._push.start_ns)
        if self.liftoff is None:
            confirmed = _first(
                clock_ns, self._confirmations(clock_ns, altitude, acceleration),
                self._push.start_ns,
            )
            self.liftoff = self.ascent or confirmed
        return self.liftoff

    def _sense(self, clock_ns: int, altitude: float, acceleration: float) -> None:
        self._altitude.update(clock_ns, altitude)
        self._range.update(clock_ns, altitude)
        self._acceleration.update(clock_ns, acceleration)
        if self._acceleration.is_new:
            self._push.update(clock_ns, acceleration)
        if self._push.start_ns is None:
            self._has_sped = False
        if self._altitude.is_new and altitude <= self._params.liftoff_rise:
            self._near_ns = clock_ns
        self._fall.sense(clock_ns, altitude, rests=self._rests(clock_ns))

    def _rests(self, clock_ns: int) -> bool:
        """Return whether an accelerometer that is alive rests."""
        return self._push.is_resting and self._acceleration.is_alive(clock_ns)

    def _climbs(
        self, clock_ns: int, altitude: float, velocity: float, slope: float
    ) -> Iterator[_Vote]:
        """Yield the votes of altitude and speed."""
        limit, rise = self._params.liftoff_velocity, self._params.liftoff_rise
        rests, is_above = self._rests(clock_ns), altitude > rise
        has_risen = altitude - self._range.lowest > rise
        climbs, steepens = has_risen and velocity > limit, has_risen and slope > limit
        pace = _PACE * limit
        for name, found in (('velocity', climbs), ('slope', steepens)):
            yield _Vote(
                self._climb[name], 'climb', altitude, found and is_above and not rests, pace
            )
            yield _Vote(self._denied[name], 'climb', altitude, found and is_above, pace)
        yield _Vote(self._sparse, 'climb', altitude, is_above and not rests, limit)
        yield _Vote(self._climb['deep'], 'climb', altitude, steepens, pace)
        is_blind = not self._altitude.is_alive(clock_ns)
        yield _Vote(self._blind, 'climb', velocity, is_blind and velocity > limit and not rests)

    def _falls(
        self, clock_ns: int, altitude: float, velocity: float, acceleration: float, slope: float
    ) -> Iterator[_Vote]:
        """Yield the votes of a fall."""
        drop, speed = self._least_fall
        has_fallen = self._range.highest - altitude > drop
        sinks = has_fallen and (velocity < -speed or slope < -speed)
        is_above = altitude > self._params.liftoff_rise
        far = sinks and is_above and self._is_away(clock_ns)
        yield _Vote(self._fall, 'fall', altitude, far, -_PACE * speed)
        deep = sinks and not is_above
        is_free = self._acceleration.is_alive(clock_ns) and acceleration < _COAST
        yield _Vote(self._deep_fall['free'], 'fall', altitude, deep and is_free, -_PACE * speed)
        denied = deep and not self._rests(clock_ns)
        yield _Vote(self._deep_fall['any'], 'fall', altitude, denied, -_PACE * speed)

    def _is_away(self, clock_ns: int) -> bool:
        return self._near_ns is None or clock_ns - self._near_ns >= _AWAY_NS

    def _pushes(self, clock_ns: int, altitude: float, acceleration: float) -> Iterator[_Vote]:
        """Yield the votes of a push that has added up to a speed."""
        push, params = self._push, self._params
        is_fast = push.speed > params.liftoff_velocity
        is_blind = not self._altitude.is_alive(clock_ns)
        rises = self._rises(altitude)
        yield _Vote(self._pushed['speed'], 'acceleration', acceleration, is_fast and is_blind)
        yield _Vote(self._pushed['rise'], 'acceleration', altitude, is_fast and rises)
        lasting = self._pushed['any'].update(clock_ns, acceleration, is_fast)
        self._has_sped = self._has_sped or lasting is not None
        yield _Vote(self._coast, 'coast', acceleration, self._has_sped and acceleration < _COAST)

    def _confirmations(
        self, clock_ns: int, altitude: float, acceleration: float
    ) -> Iterator[_Vote]:
        """Yield what confirms a push."""
        is_blind = not self._altitude.is_alive(clock_ns)
        gains = is_blind and self._push.speed > self._params.liftoff_confirm_velocity
        yield _Vote(self._confirmed['speed'], 'acceleration', acceleration, gains)
        yield _Vote(self._confirmed['rise'], 'acceleration', altitude, self._rises(altitude))

    def _rises(self, altitude: float) -> bool:
        """Return whether the altitude has risen during a push, and as far as it should."""
        if self._push.start_ns is None:
            return False
        least = max(self._params.liftoff_confirm_rise, _SHARE * self._push.height)
        return altitude - self._range.lowest > least


def _first(clock_ns: int, votes: Iterator[_Vote] | tuple[_Vote, ...], pushed_ns: int | None
           ) -> Liftoff | None:
    """Let every path take its sample, and return what the first of them found."""
    found = None
    for vote in votes:
        start_ns = vote.path.update(clock_ns, vote.news, vote.holds, vote.pace)
        if start_ns is not None and found is None:
            found = Liftoff(start_ns, vote.source)
            if found.source in PUSHES and pushed_ns is not None:
                found = found._replace(clock_ns=pushed_ns)
    return found
