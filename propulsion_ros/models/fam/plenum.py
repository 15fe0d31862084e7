# SPDX-License-Identifier: Apache-2.0
"""From flap angles and impeller speeds to the thrust of each nozzle."""
from __future__ import annotations

import numpy as np

from propulsion_ros.models.common.wrench import product
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import OpeningCurve
from propulsion_ros.models.fam.params import ModulesParams
from propulsion_ros.settings.quantity import FloatArray


class Plenums:
    """n nozzles on m plenums: A = 2 W (H - L cos a), r = sum 2 Cd A, dP = rho d^2 N^2 C(r).

    A nozzle's thrust is T = thrust_scale * 2 Cd^2 A dP, along its axis. Equations 2 to 5, 8 and 9
    of Ekal (2023).

    Parameters
    ----------
    params : ModulesParams
        Validated configuration.
    curve : OpeningCurve
        Pressure coefficient of the plenums.

    Attributes
    ----------
    curve : OpeningCurve
        As given.
    plenum_of : IntArray
        Column of each nozzle's plenum, (n,).
    members : FloatArray
        1 for each nozzle in the column of its plenum, (n, m).
    discharge_coefficient : FloatArray
        Cd, (n,).
    pressure_scale : float
        rho d^2 [kg/m].
    opening_per_area : FloatArray
        2 Cd of each nozzle in the column of its plenum, (n, m).
    thrust_per_area : FloatArray
        thrust_scale * 2 Cd^2, (n,).
    area_closed, area_per_cosine : FloatArray
        2 W H and 2 W L [m^2], (n,).
    largest_area : FloatArray
        At the open stop [m^2], (n,).
    """

    def __init__(self, params: ModulesParams, curve: OpeningCurve) -> None:
        nozzles = params.nozzles
        coefficient = nozzles.discharge_coefficient
        self.curve = curve
        self.discharge_coefficient = coefficient
        self.plenum_of = params.plenum_of
        self.pressure_scale = params.air_density * astrobee.IMPELLER_DIAMETER ** 2
        self.members = np.eye(len(params.impellers.names))[self.plenum_of]
        self.opening_per_area = 2.0 * coefficient[:, None] * self.members
        self.thrust_per_area = params.thrust_scale * 2.0 * np.square(coefficient)
        # Two flaps open each nozzle.
        self.area_closed = 2.0 * nozzles.width * astrobee.INTAKE_HEIGHT
        self.area_per_cosine = 2.0 * nozzles.width * astrobee.FLAP_LENGTH
        self.largest_area = self.area_closed - self.area_per_cosine * np.cos(nozzles.open_stop)
        self._smallest_area = np.zeros_like(self.largest_area)
        # Twice as fast as a number beside arrays of a few columns.
        self._pressure_scales = np.full(len(params.impellers.names), self.pressure_scale)

    def area(self, angle: FloatArray) -> FloatArray:
        """Return the open area [m^2] at flap angles [rad], both (..., n).

        Beyond the open stop it is the open stop's, below the angle that shuts a nozzle 0, as it
        is for NaN.
        """
        area = self.area_closed - self.area_per_cosine * np.cos(angle)
        # fmax takes the other where one is NaN.
        np.fmax(area, self._smallest_area, out=area)
        return np.minimum(area, self.largest_area, out=area)

    def angle(self, area: FloatArray) -> FloatArray:
        """Return the flap angle [rad] of an open area [m^2], both (..., n)."""
        return np.asarray(np.arccos((self.area_closed - area) / self.area_per_cosine))

    def pressure(self, area: FloatArray, speed: FloatArray) -> FloatArray:
        """Return the rise of pressure [Pa], (..., m), from areas (..., n) and speeds (..., m)."""
        coefficient = self.curve.from_opening(product(area, self.opening_per_area))
        return np.asarray(coefficient * (self._pressure_scales * np.square(speed)))

    def thrust(self, area: FloatArray, pressure: FloatArray) -> FloatArray:
        """Return the thrust of each nozzle [N], (..., n)."""
        spread = pressure.take(self.plenum_of, axis=-1)
        return np.asarray(self.thrust_per_area * area * spread)
