# SPDX-License-Identifier: Apache-2.0
"""The International Standard Atmosphere up to 86 km (ISO 2533, US Standard Atmosphere 1976)."""
from __future__ import annotations

import bisect
import functools
import math

import numpy as np
from numpy.typing import ArrayLike

from propulsion_ros.settings.quantity import FloatArray

STANDARD_GRAVITY = 9.80665
"""Standard acceleration of gravity [m/s^2]."""
GAS_CONSTANT_AIR = 287.05287
"""Specific gas constant of dry air [J/(kg K)]."""
HEAT_RATIO_AIR = 1.4
EARTH_RADIUS = 6_356_766.0
"""Radius that turns geometric into geopotential altitude [m]."""

# The last layer is the isothermal one above the table, so that every altitude has a layer.
_BASE = np.array([0.0, 11e3, 20e3, 32e3, 47e3, 51e3, 71e3, 84_852.0])
_LAPSE = np.array([-6.5e-3, 0.0, 1e-3, 2.8e-3, 0.0, -2.8e-3, -2e-3, 0.0])
_BASE_LIST, _LAPSE_LIST = _BASE.tolist(), _LAPSE.tolist()
_SEA_LEVEL_TEMPERATURE = 288.15
_SEA_LEVEL_PRESSURE = 101_325.0


def _layer_ratio(
    height: FloatArray, temperature: FloatArray, lapse: FloatArray
) -> FloatArray:
    """Return pressure over the pressure at the base of a layer, ``height`` [m] above it."""
    scale = STANDARD_GRAVITY / GAS_CONSTANT_AIR
    safe = np.where(lapse == 0.0, 1.0, lapse)
    gradient = (1.0 + safe * height / temperature) ** (-scale / safe)
    return np.where(lapse == 0.0, np.exp(-scale * height / temperature), gradient)


@functools.lru_cache(maxsize=64)
def _bases(warmer: float = 0.0) -> tuple[FloatArray, FloatArray]:
    temperature = np.empty(len(_BASE))
    pressure = np.empty(len(_BASE))
    temperature[0], pressure[0] = _SEA_LEVEL_TEMPERATURE + warmer, _SEA_LEVEL_PRESSURE
    for i, depth in enumerate(np.diff(_BASE)):
        temperature[i + 1] = temperature[i] + _LAPSE[i] * depth
        ratio = _layer_ratio(np.asarray(depth), temperature[i], _LAPSE[i])
        pressure[i + 1] = pressure[i] * ratio
    return temperature, pressure


_BASE_TEMPERATURE, _BASE_PRESSURE = _bases()
_BASE_RAREFACTION = (-_BASE_PRESSURE).tolist()  # negative, so that it grows


def temperature_and_pressure(
    altitude: ArrayLike, warmer: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return temperature [K] and pressure [Pa] at geometric altitudes above sea level [m].

    Below sea level the lowest layer goes on; above 86 km the temperature stays. Air that is
    ``warmer`` than the standard [K], by the same at every height and above -180 K, has the
    standard's pressure at sea level, and above it the pressure of the air that it bears.
    """
    bases = _bases(warmer) if warmer else (_BASE_TEMPERATURE, _BASE_PRESSURE)
    if isinstance(altitude, float) and altitude > -EARTH_RADIUS:
        return _of_one(altitude, *bases)
    z = np.asarray(altitude, dtype=float)
    geopotential = EARTH_RADIUS * z / (EARTH_RADIUS + z)
    i = np.maximum(np.searchsorted(_BASE, geopotential, side='right') - 1, 0)
    height = geopotential - _BASE[i]
    base, pressure = bases[0][i], bases[1][i]
    return base + _LAPSE[i] * height, pressure * _layer_ratio(height, base, _LAPSE[i])


def _of_one(z: float, bases: FloatArray, pressures: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same of one altitude, by the same operations in a fraction of the time."""
    geopotential = EARTH_RADIUS * z / (EARTH_RADIUS + z)
    i = max(bisect.bisect_right(_BASE_LIST, geopotential) - 1, 0)
    height, base, lapse = geopotential - _BASE_LIST[i], float(bases[i]), _LAPSE_LIST[i]
    scale = STANDARD_GRAVITY / GAS_CONSTANT_AIR
    # The exponential of Python may differ in the last bit.
    ratio = (
        (1.0 + lapse * height / base) ** (-scale / lapse) if lapse
        else np.exp(-scale * height / base)
    )
    return np.float64(base + lapse * height), pressures[i] * ratio


def density(altitude: ArrayLike, warmer: float = 0.0) -> FloatArray:
    """Return the density of air [kg/m^3] at geometric altitudes above sea level [m]."""
    temperature, pressure = temperature_and_pressure(altitude, warmer)
    return pressure / (GAS_CONSTANT_AIR * temperature)


def speed_of_sound(altitude: ArrayLike) -> FloatArray:
    """Return the speed of sound [m/s] at geometric altitudes above sea level [m]."""
    temperature, _ = temperature_and_pressure(altitude)
    return np.sqrt(HEAT_RATIO_AIR * GAS_CONSTANT_AIR * temperature)


def _altitude_of_one(pressure: float) -> float:
    """Return the altitude of one pressure, by the same operations in a fraction of the time."""
    if not 0.0 < pressure < math.inf:
        return math.nan
    i = max(bisect.bisect_right(_BASE_RAREFACTION, -pressure) - 1, 0)
    ratio, lapse = pressure / -_BASE_RAREFACTION[i], _LAPSE_LIST[i]
    temperature, scale = float(_BASE_TEMPERATURE[i]), STANDARD_GRAVITY / GAS_CONSTANT_AIR
    height = (
        temperature / lapse * (math.pow(ratio, -lapse / scale) - 1.0) if lapse
        else -temperature / scale * math.log(ratio)
    )
    geopotential = _BASE_LIST[i] + height
    return float(EARTH_RADIUS * geopotential / (EARTH_RADIUS - geopotential))


def altitude_of_pressure(pressure: ArrayLike) -> FloatArray:
    """Return the geometric altitude above sea level [m] of pressures [Pa].

    A pressure that no air has (0, negative, infinite, NaN) gives NaN.
    """
    if isinstance(pressure, float):
        return np.float64(_altitude_of_one(pressure))
    p = np.asarray(pressure, dtype=float)
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        i = np.maximum(np.searchsorted(-_BASE_PRESSURE, -p, side='right') - 1, 0)
        ratio = np.where((p > 0.0) & (p < np.inf), p, np.nan) / _BASE_PRESSURE[i]
        temperature, lapse = _BASE_TEMPERATURE[i], _LAPSE[i]
        scale = STANDARD_GRAVITY / GAS_CONSTANT_AIR
        safe = np.where(lapse == 0.0, 1.0, lapse)
        gradient = temperature / safe * (ratio ** (-safe / scale) - 1.0)
        height = np.where(lapse == 0.0, -temperature / scale * np.log(ratio), gradient)
    geopotential = _BASE[i] + height
    return EARTH_RADIUS * geopotential / (EARTH_RADIUS - geopotential)
