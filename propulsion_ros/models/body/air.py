# SPDX-License-Identifier: Apache-2.0
"""The air around a body: its density on a warm or cold day, and drag over the Mach number."""
from __future__ import annotations

import numpy as np

from propulsion_ros.models.common.atmosphere import (
    GAS_CONSTANT_AIR,
    HEAT_RATIO_AIR,
    temperature_and_pressure,
)
from propulsion_ros.models.common.points import numbers_of, pairs_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray

_MOST = 1e3


def drag_table(text: str) -> tuple[FloatArray, FloatArray]:
    """Return Mach numbers, which rise, and factors on the drag, (k,) each; raise `ConfigError`."""
    key = 'drag_over_mach'
    mach, factor = pairs_of(key, numbers_of(key, text), 'Mach number and factor', least=1)
    if np.any(np.diff(mach) <= 0.0) or mach[0] < 0.0:
        raise ConfigError(key, 'expected Mach numbers that rise, from 0 or above')
    if np.any(factor < 0.0) or np.any(factor > _MOST):
        raise ConfigError(key, f'expected factors from 0 to {_MOST:g}')
    return mach, factor


class Air:
    """Air of a day, and what its speed of sound does to the drag.

    Parameters
    ----------
    warmer : float
        What it is warmer than the standard, at every height [K].
    drag_over_mach : str
        See `drag_table`; empty: drag does not depend on it.
    """

    def __init__(self, warmer: float, drag_over_mach: str) -> None:
        self._warmer = warmer
        self._table = drag_table(drag_over_mach) if drag_over_mach else None

    @property
    def most(self) -> float:
        """The largest factor on the drag."""
        return 1.0 if self._table is None else float(self._table[1].max())

    def at(self, altitude: float) -> tuple[float, float]:
        """Return density [kg/m^3] and speed of sound [m/s] at an altitude above sea level [m]."""
        temperature, pressure = temperature_and_pressure(altitude, self._warmer)
        gas = GAS_CONSTANT_AIR * float(temperature)
        return float(pressure) / gas, float(np.sqrt(HEAT_RATIO_AIR * gas))

    def factor(self, mach: float) -> float:
        """Return the factor on the drag; beyond its ends the table stays."""
        return 1.0 if self._table is None else float(np.interp(mach, *self._table))
