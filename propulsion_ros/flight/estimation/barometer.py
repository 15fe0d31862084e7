# SPDX-License-Identifier: Apache-2.0
"""Altitude from one pressure, fast, and how uncertain the static ports make it."""
from __future__ import annotations

import math
from bisect import bisect_right

from propulsion_ros.models.common.atmosphere import (
    EARTH_RADIUS,
    GAS_CONSTANT_AIR,
    HEAT_RATIO_AIR,
    STANDARD_GRAVITY,
    temperature_and_pressure,
)

_SCALE = STANDARD_GRAVITY / GAS_CONSTANT_AIR
# Bases of the layers of the standard atmosphere [m], geopotential, and their lapse rates [K/m].
_BASE = (0.0, 11e3, 20e3, 32e3, 47e3, 51e3, 71e3)
_LAPSE = (-6.5e-3, 0.0, 1e-3, 2.8e-3, 0.0, -2.8e-3, -2e-3)


def _layers() -> list[tuple[float, float, float, float]]:
    rows = []
    for base, lapse in zip(_BASE, _LAPSE, strict=True):
        geometric = EARTH_RADIUS * base / (EARTH_RADIUS - base)
        temperature, pressure = temperature_and_pressure(geometric)
        rows.append((base, lapse, float(temperature), float(pressure)))
    return rows


_LAYERS = _layers()
_NEGATIVE_PRESSURES = [-row[3] for row in _LAYERS]
PRESSURE_RANGE = (_LAYERS[-1][3], 130_000.0)
"""Pressures from 71 km to 2 km below the sea; beyond them it is no pressure of the air [Pa]."""


def altitude_and_temperature(pressure: float) -> tuple[float, float]:
    """Return geometric altitude [m] and temperature [K] of the standard atmosphere.

    Parameters
    ----------
    pressure : float
        Within `PRESSURE_RANGE` [Pa].
    """
    layer = max(bisect_right(_NEGATIVE_PRESSURES, -pressure) - 1, 0)
    base, lapse, base_temperature, base_pressure = _LAYERS[layer]
    ratio = pressure / base_pressure
    if lapse == 0.0:
        temperature = base_temperature
        height = -base_temperature / _SCALE * math.log(ratio)
    else:
        temperature = base_temperature * math.exp(-lapse / _SCALE * math.log(ratio))
        height = (temperature - base_temperature) / lapse
    geopotential = base + height
    return EARTH_RADIUS * geopotential / (EARTH_RADIUS - geopotential), temperature


def metres_per_pascal(pressure: float, temperature: float) -> float:
    """Return how much altitude a pascal is worth, hydrostatically [m/Pa]."""
    return GAS_CONSTANT_AIR * temperature / (STANDARD_GRAVITY * pressure)


def mach_squared(speed_squared: float, temperature: float) -> float:
    """Return the square of the Mach number of a speed [m^2/s^2] in air of a temperature [K]."""
    return speed_squared / (HEAT_RATIO_AIR * GAS_CONSTANT_AIR * temperature)


def dynamic_pressure(pressure: float, mach2: float) -> float:
    """Return the dynamic pressure kappa p M^2 / 2 [Pa]."""
    return 0.5 * HEAT_RATIO_AIR * pressure * mach2
