# SPDX-License-Identifier: Apache-2.0
"""The Mach number of a flight, from its inertial speed and the temperature of the air."""
from __future__ import annotations

import functools
import math

from propulsion_ros.flight.apogee.input_mean import InputMean
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.models.common.atmosphere import GAS_CONSTANT_AIR, HEAT_RATIO_AIR, speed_of_sound

_TEMPERATURE_RANGE = (150.0, 350.0)  # what no thermometer in free air reads is no temperature [K]
_ALTITUDE_RANGE = (-5e3, 1e5)  # [m]
_LEVEL = 100.0  # over which the speed of sound changes by 0.12 % at most [m]


class MachMeter:
    """Mach number of the measured velocity; a velocity that does not change is not believed.

    The speed is the norm of the components that are known, so that what is unknown can only make
    it smaller. The speed of sound is that of the measured temperature, a = sqrt(kappa R T), or of
    the International Standard Atmosphere where there is none.

    Parameters
    ----------
    site_altitude : float
        Of the pad above sea level [m].
    """

    def __init__(self, site_altitude: float) -> None:
        self._site_altitude = site_altitude
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self._speed = InputMean()

    def update(self, sample: Sample) -> float:
        """Take a sample and return its Mach number, NaN where no velocity is known or alive."""
        known = [
            value for value in (sample.velocity, *sample.horizontal_velocity)
            if math.isfinite(value)
        ]
        speed = math.hypot(*known) if known else math.nan
        self._speed.add(sample.stamp_ns, speed)
        if not known or not self._speed.is_live(sample.stamp_ns):
            return math.nan
        return speed / self._speed_of_sound(sample)

    def _speed_of_sound(self, sample: Sample) -> float:
        if _TEMPERATURE_RANGE[0] <= sample.temperature <= _TEMPERATURE_RANGE[1]:
            return math.sqrt(HEAT_RATIO_AIR * GAS_CONSTANT_AIR * sample.temperature)
        altitude = self._site_altitude
        if _ALTITUDE_RANGE[0] < sample.altitude < _ALTITUDE_RANGE[1]:
            altitude += sample.altitude
        return _standard_speed(round(altitude / _LEVEL))


@functools.lru_cache(maxsize=1024)
def _standard_speed(level: int) -> float:
    """Return the speed of sound of the standard atmosphere at a level [m/s]."""
    return float(speed_of_sound(level * _LEVEL))
