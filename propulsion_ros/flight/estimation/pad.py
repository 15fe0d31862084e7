# SPDX-License-Identifier: Apache-2.0
"""The altitude of the pad, from what the sensor reads before the flight."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection

_READINGS = 100
_RECENT = 9  # a spike among them moves the median hardly at all
_FAR = 12.0  # median deviations beyond which a reading is no noise: 8 sigma of normal noise
_NEAR = 15.0  # what is no farther off is never a spike: a coarse barometer has such steps [m]


def mean_without_spikes(readings: Collection[float]) -> float:
    """Return the mean of readings, less those far from their median; NaN of none."""
    if not readings:
        return math.nan
    if max(readings) - min(readings) > _NEAR:
        median = _median(readings)
        spread = _median([abs(reading - median) for reading in readings])
        limit = max(_FAR * spread, _NEAR)
        readings = [reading for reading in readings if abs(reading - median) <= limit]
    return math.fsum(readings) / len(readings)


def _median(values: Collection[float]) -> float:
    return sorted(values)[len(values) // 2]


class PadReference:
    """Turns altitudes above any datum into altitudes above the pad.

    While it is open it follows the mean of the last 100 readings, without spikes among them;
    closed, it stays. A pad whose altitude is known beforehand is never measured.

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
        self._mean = math.nan
        self.is_open = True

    @property
    def altitude(self) -> float:
        """Altitude of the pad above the datum [m]; NaN before the first reading."""
        if math.isfinite(self._set):
            return self._set
        return self._known if math.isfinite(self._known) else self._mean

    def set_here(self) -> None:
        """Take the pad to be where the last readings are, their median; measured no more."""
        recent = list(self._readings)[-_RECENT:]
        if recent:
            self.set(_median(recent))

    def set(self, altitude: float) -> None:
        """Take the pad to be at an altitude above the datum [m], measured no more."""
        self._set = altitude

    def above_pad(self, altitude: float) -> float:
        """Take one reading [m] and return it above the pad; NaN where it is not finite."""
        if not math.isfinite(altitude):
            return math.nan
        if self.is_open or not self._readings:
            self._readings.append(altitude)
            self._mean = mean_without_spikes(self._readings)
        return altitude - self.altitude
