# SPDX-License-Identifier: Apache-2.0
"""Lockout of the apogee detection by speed and by Mach number."""
from __future__ import annotations

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.apogee.speed_input import SpeedInput
from propulsion_ros.timing.dwell import Dwell

_CLEAR = 2.0  # sigma by which a fitted velocity must exceed the limit


class Lockout:
    """Locked while the vehicle is fast, and for a hold time after.

    The fitted altitude and the velocity input lock independently, since static ports mislead
    the altitude near Mach 1 and an inertial velocity drifts. A lock by the inputs alone gives
    way to a clear fall in the altitude that has lasted: an input stuck at a high speed must not
    keep the parachute in. Nor does one lock that has been found wrong.
    """

    def __init__(self, params: ApogeeParams) -> None:
        self._params = params
        self._hold_ns = round(params.lockout_hold * 1e9)
        self._fall = Dwell(params.lockout_limit, counts_gaps=True)
        self.reset()

    def reset(self) -> None:
        """Unlock."""
        self._fit_until: int | None = None
        self._input_until: int | None = None
        self._mach_until: int | None = None
        self._has_fallen = False
        self._fall.reset()

    def shift(self, shift_ns: int) -> None:
        """Move all stamps by a clock jump."""
        if self._fit_until is not None:
            self._fit_until += shift_ns
        if self._input_until is not None:
            self._input_until += shift_ns
        if self._mach_until is not None:
            self._mach_until += shift_ns
        self._fall.reset()

    def take_input(self, stamp_ns: int, velocity: SpeedInput, mach: float) -> None:
        """Take the velocity input and the Mach number that it makes; NaN is no value."""
        params = self._params
        if not velocity.is_believed:
            self._input_until = self._mach_until = None
            return
        if mach >= params.lockout_mach:
            self._mach_until = stamp_ns + self._hold_ns
        is_fast = velocity.is_live(stamp_ns) and velocity.latest >= params.lockout_speed
        if is_fast or mach >= params.lockout_mach:
            self._input_until = stamp_ns + self._hold_ns

    def take_fit(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Take the fitted velocity and its sigma [m/s]."""
        if velocity - _CLEAR * sigma >= self._params.lockout_speed:
            self._fit_until = stamp_ns + self._hold_ns

    def is_mach(self, stamp_ns: int) -> bool:
        """Return whether the Mach number locks."""
        return self._mach_until is not None and stamp_ns < self._mach_until

    def take_fall(self, stamp_ns: int, is_falling: bool) -> None:
        """Take whether the altitude clearly falls."""
        self._has_fallen = self._fall.update(stamp_ns, is_falling)

    @property
    def has_fallen(self) -> bool:
        """Whether the altitude has clearly fallen for long enough to overrule the inputs."""
        return self._has_fallen

    def is_locked(self, stamp_ns: int) -> bool:
        """Return whether detection is locked."""
        if self._fit_until is not None and stamp_ns < self._fit_until:
            return True
        if self._input_until is None or stamp_ns >= self._input_until:
            return False
        return not self._has_fallen
