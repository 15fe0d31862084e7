# SPDX-License-Identifier: Apache-2.0
"""Altitude of a pressure, and the quantities of its error at static ports."""
from __future__ import annotations

from propulsion_ros.models.common.atmosphere import (
    GAS_CONSTANT_AIR,
    HEAT_RATIO_AIR,
    STANDARD_GRAVITY,
    altitude_of_pressure,
    temperature_and_pressure,
)

PRESSURE_RANGE = (float(temperature_and_pressure(71_802.0)[1]), 130_000.0)
"""Pressures of the air from an altitude of 72 km to 2 km below the sea [Pa]."""


def altitude_and_temperature(pressure: float) -> tuple[float, float]:
    """Return the geometric altitude [m] and temperature [K] of a pressure, standard atmosphere.

    Parameters
    ----------
    pressure : float
        Static pressure within `PRESSURE_RANGE` [Pa].
    """
    altitude = float(altitude_of_pressure(pressure))
    return altitude, float(temperature_and_pressure(altitude)[0])


def metres_per_pascal(pressure: float, temperature: float) -> float:
    """Return the change of altitude over a decrease of pressure in still air [m/Pa]."""
    return GAS_CONSTANT_AIR * temperature / (STANDARD_GRAVITY * pressure)


def mach_squared(speed_squared: float, temperature: float) -> float:
    """Return the squared Mach number of a squared speed [m^2/s^2] at an air temperature [K]."""
    return speed_squared / (HEAT_RATIO_AIR * GAS_CONSTANT_AIR * temperature)


def dynamic_pressure(pressure: float, mach2: float) -> float:
    """Return kappa p M^2 / 2 [Pa], for a static pressure [Pa] and a squared Mach number."""
    return 0.5 * HEAT_RATIO_AIR * pressure * mach2
