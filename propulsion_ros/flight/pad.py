"""The altitude of the pad, from what the sensor reads before the flight."""
from __future__ import annotations

import math
from collections import deque

_READINGS = 100
_RECENT = 9  # a spike among them moves the median hardly at all


class PadReference:
    """Turns altitudes above any datum into altitudes above the pad.

    While it is open it follows the mean of the last 100 readings; closed, it stays. A pad whose
    altitude is known beforehand is never measured.

    Parameters
    ----------
    known : float
        Altitude of the pad above the datum [m]; NaN where it is to be measured.
    """

    def __init__(self, known: float = math.nan) -> None:
        self._known = known
        self.reset()

    def reset(self) -> None:
        """Forget what was measured, and what was set, and open the reference."""
        self._set = math.nan
        self._readings: deque[float] = deque(maxlen=_READINGS)
        self.is_open = True

    @property
    def altitude(self) -> float:
        """Altitude of the pad above the datum [m]; NaN before the first reading."""
        if math.isfinite(self._set):
            return self._set
        if math.isfinite(self._known):
            return self._known
        return math.fsum(self._readings) / len(self._readings) if self._readings else math.nan

    def set_here(self) -> None:
        """Take the pad to be where the last readings are, their median; measured no more."""
        recent = sorted(list(self._readings)[-_RECENT:])
        if recent:
            self.set(recent[len(recent) // 2])

    def set(self, altitude: float) -> None:
        """Take the pad to be at an altitude above the datum [m], measured no more."""
        self._set = altitude

    def above_pad(self, altitude: float) -> float:
        """Take one reading [m] and return it above the pad; NaN where it is not finite."""
        if not math.isfinite(altitude):
            return math.nan
        if self.is_open or not self._readings:
            self._readings.append(altitude)
        return altitude - self.altitude
