# SPDX-License-Identifier: Apache-2.0
"""What holds against what a fit of the altitude says, or for it.

A fall that has lasted; the lockout by speed; an altitude that stands still
although the vehicle was too fast to have stopped.
"""
from __future__ import annotations

import math
from collections import deque

from propulsion_ros.flight.apogee.inputs import SpeedInput
from propulsion_ros.flight.apogee.parabola import CLEAR
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

LONGEST_DIP = 3.0
"""Static ports near Mach 1 err for less than this [s]; what lasts longer is true."""
SURE = 5.0
"""One sigma of a speed that is known well [m/s]."""
_MEDIAN_NS = 500_000_000  # of samples that make one median
_MEDIANS = 5  # number that is kept
_MARGIN = 10.0  # below the peak [m]


class LastingFall:
    """Follows how high the flight was, and finds a fall by medians over half a second.

    Of a slower sensor each sample is one. Where each has been lower than the one before for
    `LONGEST_DIP`, the fall ends every veto, because no error of static ports falls for so long.

    Attributes
    ----------
    peak : float
        Highest that was reached [m]; -inf before.
    peak_ns : int or None
        Its time [ns]; None before.
    medians : deque of (int, float)
        The latest ones: time [ns] and median [m].
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear the data of the flight."""
        self.peak = -math.inf
        self.peak_ns: int | None = None
        self._values: list[float] = []
        self._begun_ns = self._ended_ns = 0
        self.medians: deque[tuple[int, float]] = deque(maxlen=_MEDIANS)
        self._since_ns: int | None = None
        self._from_ns: int | None = None
        self._reckoned_ns, self._reckoned = 0, math.nan

    def restart(self) -> None:
        """Forget since when it falls: what fell before its flight, as on a lift, is no fall."""
        self._since_ns = None

    def add(self, stamp_ns: int, altitude: float) -> bool:
        """Take a new altitude [m]; return whether a median has ended before it."""
        is_over = bool(self._values) and stamp_ns - self._begun_ns >= _MEDIAN_NS
        if is_over:
            self._end_median()
        if not self._values:
            self._begun_ns = stamp_ns
        self._ended_ns = stamp_ns
        self._values.append(altitude)
        return is_over

    @property
    def has_lasted(self) -> bool:
        """Whether the altitude has fallen for long enough, and is below its peak."""
        if not self.medians or self._since_ns is None:
            return False
        latest_ns, altitude = self.medians[-1]
        has_lasted = latest_ns - self._since_ns >= LONGEST_DIP * 1e9
        return has_lasted and altitude < self.peak - _MARGIN

    def reach(self, stamp_ns: int, altitude: float) -> None:
        """Take an altitude that was certainly reached [m]."""
        if altitude > self.peak:
            self.peak, self.peak_ns = altitude, stamp_ns

    def reckon(self, stamp_ns: int, last_ns: int, altitude: float, velocity: float) -> None:
        """Carry the peak on by the velocity alone, from the last fitted altitude."""
        if self._from_ns != last_ns:
            self._from_ns = self._reckoned_ns = last_ns
            self._reckoned = altitude
        self._reckoned += velocity * (stamp_ns - self._reckoned_ns) * 1e-9
        self._reckoned_ns = stamp_ns
        self.reach(stamp_ns, self._reckoned)

    def _end_median(self) -> None:
        values = sorted(self._values)
        middle = values[len(values) // 2]
        self._values = []
        latest = self.medians[-1] if self.medians else None
        if latest is None or middle >= latest[1]:
            self._since_ns = None
        elif self._since_ns is None:
            self._since_ns = latest[0]
        median = (self._begun_ns + self._ended_ns) // 2, middle
        if latest is not None:
            # Two medians must reach a peak, so that one wild sample does not count.
            self.reach(*min(latest, median, key=lambda each: each[1]))
        self.medians.append(median)


_CLEAR = 2.0  # sigma by which a fitted velocity must exceed the limit


class Lockout:
    """Locked while the vehicle is fast, and for a hold time after.

    The fitted altitude and the velocity input lock independently, since static ports mislead
    the altitude near Mach 1 and an inertial velocity drifts. An input that has been found wrong
    does not lock.
    """

    def __init__(self, params: ApogeeParams) -> None:
        self._params = params
        self._hold_ns = round(params.lockout_hold * 1e9)
        self.reset()

    def reset(self) -> None:
        """Unlock."""
        self._fit_until: int | None = None
        self._input_until: int | None = None

    def take_input(self, stamp_ns: int, velocity: SpeedInput) -> None:
        """Take the velocity input."""
        if not velocity.is_believed:
            self._input_until = None
        elif velocity.is_live(stamp_ns) and velocity.latest >= self._params.lockout_speed:
            self._input_until = stamp_ns + self._hold_ns

    def take_fit(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Take the fitted velocity and its sigma [m/s]."""
        if velocity - _CLEAR * sigma >= self._params.lockout_speed:
            self._fit_until = stamp_ns + self._hold_ns

    def is_locked(self, stamp_ns: int) -> bool:
        """Return whether detection is locked."""
        return any(
            until_ns is not None and stamp_ns < until_ns
            for until_ns in (self._fit_until, self._input_until)
        )


_DRAG = 2e-3  # more than any vehicle without a parachute has [1/m]
_PART, _OFF = 0.7, 10.0  # of the least physical speed, that a fit may be wrong by [m/s]
_BEFORE_NS = 600_000_000  # that a motion must have lasted before the altitude stopped
_MOVING, _MOVING_TIME = 10.0, 1.0  # a clearly larger speed, for so long, is motion [m/s], [s]
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

    def is_since(self, begun_ns: int) -> bool:
        """Return whether the last trusted speed is older than a motion, or hardly younger."""
        return self._stamp_ns is None or self._stamp_ns - begun_ns < _BEFORE_NS

    def is_over(self, stamp_ns: int) -> bool:
        """Return whether the longest coast from the last trusted speed has ended."""
        return self._since(stamp_ns) > self._speed / STANDARD_GRAVITY

    def trust(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Take a speed that is certain, and its sigma [m/s]."""
        self.is_found = self.is_odd = False
        self._stamp_ns, self._speed = stamp_ns, max(velocity - CLEAR * sigma, 0.0)
        self._moving.reset()
        self._other.reset()

    def is_too_slow(self, stamp_ns: int, velocity: float, sigma: float) -> bool:
        """Return whether a speed is less than drag and gravity can leave [m/s]."""
        return velocity + CLEAR * sigma < _PART * self._least(stamp_ns) - _OFF

    def is_news(self, stamp_ns: int, velocity: float, sigma: float) -> bool:
        """Return whether a speed is known better than by what drag and gravity can leave [m/s]."""
        return sigma < SURE or velocity - CLEAR * sigma > self._least(stamp_ns)

    def follow(self, stamp_ns: int, velocity: float, sigma: float, fastest: float) -> None:
        """Take the speed of the altitude.

        Parameters
        ----------
        stamp_ns : int
            [ns].
        velocity, sigma : float
            Of the fit [m/s].
        fastest : float
            Speed of a coast that is known, which ports that refill exceed [m/s]; infinity for none.
        """
        if self.is_found:
            if self._moving.update(stamp_ns, abs(velocity) - CLEAR * sigma > _MOVING):
                self.trust(stamp_ns, velocity, sigma)
            return
        too_fast = velocity - CLEAR * sigma > fastest + _OFF
        self.is_odd = too_slow = self.is_too_slow(stamp_ns, velocity, sigma)
        if self._other.update(stamp_ns, too_slow or too_fast):
            self.trust(stamp_ns, velocity, sigma)
        elif too_slow:
            self.is_found = True
        elif not too_fast and self.is_news(stamp_ns, velocity, sigma):
            self.trust(stamp_ns, velocity, sigma)

    def _since(self, stamp_ns: int) -> float:
        """Return the time since the last trusted speed [s]."""
        return math.inf if self._stamp_ns is None else (stamp_ns - self._stamp_ns) * 1e-9

    def _least(self, stamp_ns: int) -> float:
        """Return the least speed that drag and gravity leave [m/s]."""
        time, speed = self._since(stamp_ns), self._speed
        if speed <= 0.0 or time > speed / STANDARD_GRAVITY:
            return -math.inf
        return speed / (1.0 + _DRAG * speed * time) - STANDARD_GRAVITY * time
