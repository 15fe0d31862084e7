# SPDX-License-Identifier: Apache-2.0
"""A push: an acceleration that a vehicle on its pad does not have, and what it adds up to."""
from __future__ import annotations

from propulsion_ros.flight.motion.lasting import Lasting
from propulsion_ros.flight.motion.reckoning import Reckoning


class Push:
    """Follows the acceleration from the moment on at which it exceeds a limit for a while.

    A push is over, and forgotten, when the vehicle rests again or has lost the speed that it
    gained: what is lifted by hand or dropped ends in either.

    Parameters
    ----------
    limit : float
        Acceleration net of gravity, up positive [m/s^2].
    duration : float
        For how long it must act [s].

    Attributes
    ----------
    start_ns : int or None
        When it began, None where there is none.
    is_resting : bool
        Whether the acceleration is that of a vehicle at rest.
    """

    def __init__(self, limit: float, duration: float) -> None:
        self._limit = limit
        self._lasting = Lasting(duration)
        self._reckoning = Reckoning()
        self.reset()

    def reset(self) -> None:
        """Forget it."""
        self._lasting.reset()
        self._reckoning.reset()
        self._was_above = False
        self._base = (0.0, 0.0)
        self.start_ns: int | None = None
        self.is_resting = False

    @property
    def speed(self) -> float:
        """Speed gained since it began [m/s]; 0 without a push."""
        return 0.0 if self.start_ns is None else self._reckoning.speed - self._base[0]

    @property
    def height(self) -> float:
        """Height gained since it began [m]; 0 without a push."""
        return 0.0 if self.start_ns is None else self._reckoning.height - self._base[1]

    def update(self, clock_ns: int, acceleration: float) -> None:
        """Take a value that is known and new."""
        before = self._reckoning.speed, self._reckoning.height
        self._reckoning.update(clock_ns, acceleration)
        self.is_resting = self._reckoning.is_resting
        is_above = acceleration > self._limit
        if is_above and not self._was_above and self.start_ns is None:
            self._base = before
        self._was_above = is_above
        begun_ns = self._lasting.update(clock_ns, acceleration, is_above)
        if self.start_ns is None:
            self.start_ns = begun_ns
        if self.start_ns is not None and (self.is_resting or self.speed <= 0.0):
            self.start_ns = None
