# SPDX-License-Identifier: Apache-2.0
"""Locks a barometer out near Mach 1, and ends each lock by physics."""
from __future__ import annotations

import math

from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_LONGEST_DIP = 3.0  # static ports near Mach 1 err for less than this [s]


class MachLock:
    """Locked while a speed that is well known is fast, and for a hold time after.

    A speed may be wrong, as after an outage of the inertial sensor. So a lock ends at the latest
    when the longest coast from the last speed under thrust does, that without drag; and when the
    barometer contradicts the height for longer, and by more, than static ports ever err.

    Parameters
    ----------
    params : EstimatorParams
        Mach number and hold time.
    """

    def __init__(self, params: EstimatorParams) -> None:
        self._limit2 = params.lockout_mach**2
        self._hold_ns = round(params.lockout_hold * 1e9)
        self._contradicted = Dwell(_LONGEST_DIP)
        self.reset()

    def reset(self) -> None:
        """Unlock, and forget the flight."""
        self._until: int | None = None
        self._coast_end: int | None = None
        self._contradicted.reset()

    def take_speed(
        self, stamp_ns: int, mach2: float, speed2: float, climb: float, *, is_boost: bool
    ) -> None:
        """Take a speed that is well known.

        Parameters
        ----------
        stamp_ns : int
            [ns].
        mach2, speed2 : float
            Squares of Mach number and speed [m^2/s^2].
        climb : float
            Upward speed [m/s].
        is_boost : bool
            Whether an engine may still make it faster.
        """
        if mach2 <= self._limit2:
            return
        if is_boost or self._coast_end is None:
            slow2 = speed2 * self._limit2 / mach2 - (speed2 - climb * climb)
            coast = max(climb - math.sqrt(max(slow2, 0.0)), 0.0) / STANDARD_GRAVITY
            self._coast_end = stamp_ns + round(coast * 1e9)
        if stamp_ns <= self._coast_end:
            self._until = stamp_ns + self._hold_ns

    def is_locked(self, stamp_ns: int) -> bool:
        """Return whether the barometer is locked out."""
        return self._until is not None and stamp_ns < self._until

    def is_refuted(self, stamp_ns: int, contradicts: bool) -> bool:
        """Take whether no error of the ports explains a pressure; return whether that lasted."""
        return self._contradicted.update(stamp_ns, contradicts)

    def end(self) -> None:
        """Unlock, until another speed is known well."""
        self._until = None
        self._contradicted.reset()
