# SPDX-License-Identifier: Apache-2.0
"""What the pressure around a nozzle adds to its thrust.

The outside presses on the area of the exit, so that thrust rises with altitude by (p_ref - p) A
(Sutton and Biblarz, Rocket Propulsion Elements), while the flow of propellant stays.
"""
from __future__ import annotations

import numpy as np

from propulsion_ros.models.boosters.params import BoostersParams
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.models.common.family import BodyState
from propulsion_ros.settings.quantity import FloatArray

_HIGHEST, _SPACING = 86_000.0, 10.0
"""Heights of the table above sea level [m]; linear between its points it is right to 3e-8."""


class Nozzles:
    """Exit areas of n boosters.

    Parameters
    ----------
    params : BoostersParams
        Validated configuration.
    """

    def __init__(self, params: BoostersParams) -> None:
        self._area, self._pressure = params.exit_area, params.reference_pressure
        self._site = params.site_altitude
        self._heights = np.arange(-1000.0, _HIGHEST + _SPACING, _SPACING)
        self._logarithms = np.log(temperature_and_pressure(self._heights)[1])

    def thrust(self, thrust: FloatArray, body: BodyState) -> FloatArray:
        """Return thrusts at the height of the body [N], from those at the reference pressure.

        Below the height of sea level by 1 km, and above 86 km, the pressure stays. A thrust at
        most doubles, so that what is shut down does not push.
        """
        if body.height is None:
            return thrust
        height = body.height + self._site
        pressure = np.exp(np.interp(height, self._heights, self._logarithms))
        added = (self._pressure - np.asarray(pressure)[..., None]) * self._area
        return np.asarray(thrust + np.minimum(np.maximum(added, -thrust), thrust))
