# SPDX-License-Identifier: Apache-2.0
"""Evidence beside the fit: a lasting fall, a lockout by speed, an altitude that stands still."""
from __future__ import annotations

import math
from collections import deque

from propulsion_ros.flight.apogee.coast import SEEN
from propulsion_ros.flight.apogee.inputs import SpeedInput
from propulsion_ros.flight.apogee.parabola import CLEAR
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

LONGEST_DIP = 3.0
"""Static ports near Mach 1 err for a shorter time; a longer fall is true [s]."""
SURE = 5.0
"""Largest sigma of a speed that is known well [m/s]."""
_MEDIAN_NS = 500_000_000  # the samples of this time make one median [ns]
_MEDIANS = 5  # number of medians that are kept; a coast begins with four
_MARGIN = 10.0  # a lasting fall is at least so far below the peak [m]


class LastingFall:
    """Keeps the peak of the altitude, and finds a lasting fall by medians over half a second.

    Each sample of a slower sensor is a median. If each median has been lower than the one before
    for `LONGEST_DIP`, no error of static ports can explain the fall, and it overrules the vetoes.

    Attributes
    ----------
    peak : float
        Largest altitude that was reached [m]; -inf before the first.
    peak_ns : int or None
        Its time [ns]; None before the first.
    medians : deque of (int, float)
        The latest medians, each with its time [ns] and altitude [m].
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self.peak = -math.inf
        self.peak_ns: int | None = None
        self._values: list[float] = []
        self._begun_ns = self._ended_ns = 0
        self.medians: deque[tuple[int, float]] = deque(maxlen=_MEDIANS)
        self._falls_since_ns: int | None = None
        self._reckoned_from_ns: int | None = None
        self._reckoned_ns, self._reckoned = 0, math.nan

    def restart(self) -> None:
        """Forget when the fall began, as a vehicle may descend before its flight, as on a lift."""
        self._falls_since_ns = None

    def add(self, stamp_ns: int, altitude: float) -> bool:
        """Take a new altitude [m]; return whether it completed the median of those before it."""
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
        """Whether the altitude has fallen for `LONGEST_DIP`, to 10 m below its peak."""
        if not self.medians or self._falls_since_ns is None:
            return False
        latest_ns, altitude = self.medians[-1]
        has_lasted = latest_ns - self._falls_since_ns >= LONGEST_DIP * 1e9
        return has_lasted and altitude < self.peak - _MARGIN

    def reach(self, stamp_ns: int, altitude: float) -> None:
        """Raise the peak to an altitude that the vehicle certainly reached [m]."""
        if altitude > self.peak:
            self.peak, self.peak_ns = altitude, stamp_ns

    def reckon(self, stamp_ns: int, last_ns: int, altitude: float, velocity: float) -> None:
        """Raise the peak by integrating a velocity [m/s] while no altitude is measured.

        The integration starts from the ``altitude`` [m] of the last fit, at ``last_ns``.
        """
        if self._reckoned_from_ns != last_ns:
            self._reckoned_from_ns = self._reckoned_ns = last_ns
            self._reckoned = altitude
        self._reckoned += velocity * (stamp_ns - self._reckoned_ns) * 1e-9
        self._reckoned_ns = stamp_ns
        self.reach(stamp_ns, self._reckoned)

    def _end_median(self) -> None:
        """Add the median of the collected altitudes, and note whether it falls."""
        values = sorted(self._values)
        middle = values[len(values) // 2]
        self._values = []
        latest = self.medians[-1] if self.medians else None
        if latest is None or middle >= latest[1]:
            self._falls_since_ns = None
        elif self._falls_since_ns is None:
            self._falls_since_ns = latest[0]
        median = (self._begun_ns + self._ended_ns) // 2, middle
        if latest is not None:
            # The lower of two medians, so that one wrong median does not count.
            self.reach(*min(latest, median, key=lambda each: each[1]))
        self.medians.append(median)


_CLEAR = 2.0  # a fitted velocity must exceed the lockout speed by so many sigma


class Lockout:
    """Locks the detection while the vehicle climbs fast, and for a hold time after.

    The fitted velocity and the velocity input lock independently, because static ports err near
    Mach 1 and an inertial velocity drifts. A wrong input does not lock.
    """

    def __init__(self, params: ApogeeParams) -> None:
        self._params = params
        self._hold_ns = round(params.lockout_hold * 1e9)
        self.reset()

    def reset(self) -> None:
        """Unlock."""
        self._fit_until_ns: int | None = None
        self._input_until_ns: int | None = None

    def take_input(self, stamp_ns: int, velocity: SpeedInput) -> None:
        """Lock by the velocity input if that is fast, or end its lock if it is wrong."""
        if not velocity.is_believed:
            self._input_until_ns = None
        elif velocity.is_live(stamp_ns) and velocity.latest >= self._params.lockout_speed:
            self._input_until_ns = stamp_ns + self._hold_ns

    def take_fit(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Lock by the fitted velocity if that is fast by 2 sigma [m/s]."""
        if velocity - _CLEAR * sigma >= self._params.lockout_speed:
            self._fit_until_ns = stamp_ns + self._hold_ns

    def is_locked(self, stamp_ns: int) -> bool:
        """Return whether detection is locked."""
        return any(
            until_ns is not None and stamp_ns < until_ns
            for until_ns in (self._fit_until_ns, self._input_until_ns)
        )


_DRAG = 2e-3  # drag over the squared speed that no vehicle without a parachute exceeds [1/m]
_PART = 0.7  # part of the least possible speed that a fit must show
_OFF = 10.0  # a fitted speed may err by so much, and an altitude that is faster moves [m/s]
_MOVING_TIME = 1.0  # dwell of a motion before the altitude is used again [s]
_IMPOSSIBLE_TIME = 2.5  # dwell of an impossible speed before it is taken for the true one [s]


class Standstill:
    """Finds an altitude that stops faster than gravity and drag can stop the vehicle.

    Its port is clogged or its sensor is saturated. The largest drag and gravity give the least
    speed that the vehicle can have after its last trusted speed. If the altitude is slower, it is
    not used until it moves at 10 m/s for 1 s. After the longest possible coast from the trusted
    speed the caller also trusts a descent.

    Attributes
    ----------
    is_found : bool
        Whether the altitude stands still, and must not be used.
    is_odd : bool
        Whether the latest speed is below the least possible one.
    """

    def __init__(self) -> None:
        self._moving = Dwell(_MOVING_TIME)
        self._impossible = Dwell(_IMPOSSIBLE_TIME)
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self.is_found = self.is_odd = False
        self._trusted_ns: int | None = None
        self._trusted_speed = 0.0
        self._moving.reset()
        self._impossible.reset()

    def is_since(self, begun_ns: int) -> bool:
        """Return whether the last trusted speed is older than 0.6 s after ``begun_ns``."""
        return self._trusted_ns is None or self._trusted_ns - begun_ns < SEEN * 1e9

    def is_over(self, stamp_ns: int) -> bool:
        """Return whether the longest coast from the last trusted speed has ended."""
        return self._seconds_since_trust(stamp_ns) > self._trusted_speed / STANDARD_GRAVITY

    def trust(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Set the trusted speed to the lower bound of a speed, at 3 sigma [m/s]."""
        self.is_found = self.is_odd = False
        self._trusted_ns, self._trusted_speed = stamp_ns, max(velocity - CLEAR * sigma, 0.0)
        self._moving.reset()
        self._impossible.reset()

    def is_too_slow(self, stamp_ns: int, velocity: float, sigma: float) -> bool:
        """Return whether a speed is clearly below the least possible one [m/s]."""
        return velocity + CLEAR * sigma < _PART * self._least_speed(stamp_ns) - _OFF

    def is_news(self, stamp_ns: int, velocity: float, sigma: float) -> bool:
        """Return whether a speed is well known, or clearly above the least possible one [m/s]."""
        return sigma < SURE or velocity - CLEAR * sigma > self._least_speed(stamp_ns)

    def follow(self, stamp_ns: int, velocity: float, sigma: float, fastest: float) -> None:
        """Take the fitted speed of the altitude.

        Parameters
        ----------
        stamp_ns : int
            Time of the fit [ns].
        velocity, sigma : float
            Fitted upward speed and its sigma [m/s].
        fastest : float
            Largest speed by the coast filter [m/s], infinity if unknown; the altitude is faster
            while clogged ports refill.
        """
        if self.is_found:
            if self._moving.update(stamp_ns, abs(velocity) - CLEAR * sigma > _OFF):
                self.trust(stamp_ns, velocity, sigma)
            return
        too_fast = velocity - CLEAR * sigma > fastest + _OFF
        self.is_odd = too_slow = self.is_too_slow(stamp_ns, velocity, sigma)
        if self._impossible.update(stamp_ns, too_slow or too_fast):
            self.trust(stamp_ns, velocity, sigma)
        elif too_slow:
            self.is_found = True
        elif not too_fast and self.is_news(stamp_ns, velocity, sigma):
            self.trust(stamp_ns, velocity, sigma)

    def _seconds_since_trust(self, stamp_ns: int) -> float:
        """Return the time since the last trusted speed [s]."""
        return math.inf if self._trusted_ns is None else (stamp_ns - self._trusted_ns) * 1e-9

    def _least_speed(self, stamp_ns: int) -> float:
        """Return the least upward speed that drag and gravity leave now [m/s]."""
        time, speed = self._seconds_since_trust(stamp_ns), self._trusted_speed
        if speed <= 0.0 or time > speed / STANDARD_GRAVITY:
            return -math.inf
        return speed / (1.0 + _DRAG * speed * time) - STANDARD_GRAVITY * time
