# SPDX-License-Identifier: Apache-2.0
"""Altitude from one pressure, and how uncertain the static ports make it."""
from __future__ import annotations

from propulsion_ros.models.common.atmosphere import (
    GAS_CONSTANT_AIR,
    HEAT_RATIO_AIR,
    STANDARD_GRAVITY,
    altitude_of_pressure,
    temperature_and_pressure,
)

PRESSURE_RANGE = (float(temperature_and_pressure(71_802.0)[1]), 130_000.0)
"""Pressures from 72 km to 2 km below the sea; beyond them it is no pressure of the air [Pa]."""


def altitude_and_temperature(pressure: float) -> tuple[float, float]:
    """Return geometric altitude [m] and temperature [K] of the standard atmosphere.

    Parameters
    ----------
    pressure : float
        Within `PRESSURE_RANGE` [Pa].
    """
    altitude = float(altitude_of_pressure(pressure))
    return altitude, float(temperature_and_pressure(altitude)[0])


def metres_per_pascal(pressure: float, temperature: float) -> float:
    """Return how much altitude a pascal is worth, hydrostatically [m/Pa]."""
    return GAS_CONSTANT_AIR * temperature / (STANDARD_GRAVITY * pressure)


def mach_squared(speed_squared: float, temperature: float) -> float:
    """Return the square of the Mach number of a speed [m^2/s^2] in air of a temperature [K]."""
    return speed_squared / (HEAT_RATIO_AIR * GAS_CONSTANT_AIR * temperature)


def dynamic_pressure(pressure: float, mach2: float) -> float:
    """Return the dynamic pressure kappa p M^2 / 2 [Pa]."""
    return 0.5 * HEAT_RATIO_AIR * pressure * mach2
