"""What events may do now."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.flight.phases.mark import Mark
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

_COMMANDED = ('abort', 'override')


class Permits(NamedTuple):
    """What the flight allows its events, whatever their conditions say.

    Attributes
    ----------
    deploy : bool
        Whether deployers may act.
    ignite : bool
        Whether engines may be lit.
    climb : float
        Upward speed for which events with a limit wait [m/s]; minus infinity for none.
    """

    deploy: bool = True
    ignite: bool = True
    climb: float = -math.inf


ANYTHING = Permits()
"""What a flight without protection would allow."""


class ClimbHold:
    """How fast a vehicle still climbs whose ascent was ended by a command.

    An apogee that was detected, or assumed by the timer, holds nothing: it may be there because
    the speed is wrong. After a command the speed counts, and what is unknown of it is reckoned by
    gravity, for as long as a vehicle can climb that was that fast.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self._latest: tuple[int, float] | None = None
        self._end_ns: int | None = None

    def update(self, clock_ns: int, velocity: float, apogee: Mark | None) -> float:
        """Take the upward speed [m/s], NaN where unknown, and return `Permits.climb`."""
        is_known = math.isfinite(velocity)
        if apogee is None or apogee.source not in _COMMANDED:
            self._end_ns = None
            if is_known:
                self._latest = clock_ns, velocity
            return -math.inf
        if is_known:
            self._latest = clock_ns, velocity
        if self._latest is None:
            return -math.inf
        then_ns, speed = self._latest
        if self._end_ns is None:
            self._end_ns = then_ns + round(max(speed, 0.0) / STANDARD_GRAVITY * 1e9)
        if clock_ns >= self._end_ns:
            return -math.inf
        return speed - STANDARD_GRAVITY * (clock_ns - then_ns) * 1e-9
