# SPDX-License-Identifier: Apache-2.0
"""The temperature of the air, as it was measured last."""
from __future__ import annotations

from propulsion_ros.flight.events.variables import NAN

_ZERO_CELSIUS = 273.15  # [K]
LONGEST_AGE_NS = 10_000_000_000
"""Over this time the air hardly changes, but for the climb."""


class AirTemperature:
    """Remembers a measured temperature for as long as it is recent."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget it."""
        self._measured_ns, self._kelvin = 0, NAN

    def take(self, stamp_ns: int, celsius: float) -> None:
        """Remember a temperature [degree Celsius] that was measured at a stamp."""
        self._measured_ns, self._kelvin = stamp_ns, celsius + _ZERO_CELSIUS

    def known(self, stamp_ns: int) -> float:
        """Return the temperature [K], NaN where none was measured recently."""
        return self._kelvin if abs(stamp_ns - self._measured_ns) < LONGEST_AGE_NS else NAN
