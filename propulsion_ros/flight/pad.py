"""The altitude of the pad, from what the sensor reads before the flight."""
from __future__ import annotations

import math
from collections import deque

_READINGS = 100


class PadReference:
    """Turns altitudes above any datum into altitudes above the pad.

    While it is open it follows the mean of the last 100 readings; closed, it stays.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the pad and open the reference."""
        self._readings: deque[float] = deque(maxlen=_READINGS)
        self.is_open = True

    @property
    def altitude(self) -> float:
        """Altitude of the pad above the datum [m]; NaN before the first reading."""
        return math.fsum(self._readings) / len(self._readings) if self._readings else math.nan

    def above_pad(self, altitude: float) -> float:
        """Take one reading [m] and return it above the pad; NaN where it is not finite."""
        if not math.isfinite(altitude):
            return math.nan
        if self.is_open or not self._readings:
            self._readings.append(altitude)
        return altitude - self.altitude
