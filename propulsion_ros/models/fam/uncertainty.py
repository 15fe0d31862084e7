# SPDX-License-Identifier: Apache-2.0
"""How well the wrench of a propulsion module is known."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propulsion_ros.models.fam.constants import COUNTS
from propulsion_ros.models.fam.params import ModulesParams, angle_from_count
from propulsion_ros.models.fam.plenum import Plenums
from propulsion_ros.settings.quantity import FloatArray, IntArray


class Jacobians(NamedTuple):
    """Derivatives of a wrench."""

    angle: FloatArray
    """By the flap angles [1/rad], (..., 6, n); 0 where a flap is at its stop."""
    speed: FloatArray
    """By the speeds of the impellers [s/rad], (..., 6, m)."""
    discharge_coefficient: FloatArray
    """By the discharge coefficients, (..., 6, n)."""
    thrust_scale: FloatArray
    """By the thrust scale, (..., 6, 1)."""


def jacobians(
    plenums: Plenums,
    wrench_from: FloatArray,
    angle: FloatArray,
    speed: FloatArray,
    thrust_scale: float,
) -> Jacobians:
    """Return the derivatives of the wrench, in closed form.

    With T_i = k_i A_i dP and dP = rho d^2 N^2 C(r), a nozzle j changes its own thrust, and that of
    all nozzles of its plenum by dT_i = T_i C'/C dr, where dr = 2 Cd_j dA_j + 2 A_j dCd_j.

    Parameters
    ----------
    plenums : Plenums
        The nozzles.
    wrench_from : FloatArray
        Wrench per thrust, (n, 6).
    angle, speed : FloatArray
        [rad], (..., n), and [rad/s], (..., m).
    thrust_scale : float
        Of the configuration.
    """
    area = plenums.area(angle)
    opening = area @ plenums.opening_per_area
    stiffness = plenums.pressure_scale * np.square(speed)
    pressure = plenums.curve.from_opening(opening) * stiffness
    spread = pressure.take(plenums.plenum_of, axis=-1)
    per_area = plenums.thrust_per_area * spread
    thrust = per_area * area
    fall = (plenums.curve.slope(opening) * stiffness).take(plenums.plenum_of, axis=-1)

    columns = wrench_from.T
    # Wrench of each plenum per pressure, and the same for each of its nozzles.
    of_plenum = (columns * (plenums.thrust_per_area * area)[..., None, :]) @ plenums.members
    shared = of_plenum.take(plenums.plenum_of, axis=-1) * fall[..., None, :]
    coefficient = plenums.discharge_coefficient

    by_area = columns * per_area[..., None, :] + shared * (2.0 * coefficient)
    moves = (area > 0.0) & (area < plenums.largest_area)
    area_slope = np.where(moves, plenums.area_per_cosine * np.sin(angle), 0.0)
    by_coefficient = (
        columns * (2.0 * thrust / coefficient)[..., None, :]
        + shared * (2.0 * area)[..., None, :]
    )
    # dP is proportional to N^2, so nothing is divided by a speed that may be 0.
    per_speed = plenums.curve.from_opening(opening) * (2.0 * plenums.pressure_scale * speed)
    return Jacobians(
        by_area * area_slope[..., None, :],
        of_plenum * per_speed[..., None, :],
        by_coefficient,
        (thrust @ wrench_from)[..., None] / thrust_scale,
    )


class Truncation:
    """Commanded minus applied wrench where angles were truncated to servo counts.

    What truncation took from a count is spread evenly over 0 to 1. A count of 0 is mostly a
    nozzle that was meant to be shut: of those on one line, one always is. With z of them on its
    line a nozzle is the shut one with probability 1/z, and any other truncated to 0.

    Parameters
    ----------
    plenums : Plenums
        The nozzles.
    params : ModulesParams
        For the angle of a count and the lines.
    """

    def __init__(self, plenums: Plenums, params: ModulesParams) -> None:
        self._plenums, self._params = plenums, params
        self._on_line = np.zeros((len(params.nozzles.names), len(params.lines)))
        for column, line in enumerate(params.lines):
            self._on_line[line, column] = 1.0
        self._step = (params.max_angle - params.min_angle) / COUNTS
        self._shut = plenums.angle(np.zeros(len(params.nozzles.names)))

    def moments(
        self, wrench_from: FloatArray, count: IntArray, speed: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean (..., 6) and covariance (..., 6, 6).

        Parameters
        ----------
        wrench_from : FloatArray
            Wrench per thrust, (n, 6).
        count : IntArray
            Servo counts as sent, (..., n).
        speed : FloatArray
            [rad/s], (..., m).
        """
        is_zero = np.asarray(count) == 0
        zeros = (is_zero @ self._on_line) @ self._on_line.T
        chance = np.where(is_zero, 1.0 - 1.0 / np.maximum(zeros, 1.0), 1.0)
        variance = chance / 3.0 - np.square(0.5 * chance)

        applied = angle_from_count(count, self._params)
        middle = applied + 0.5 * self._step
        # A nozzle that was meant to be shut leaks at the closed stop.
        wanted = chance * middle + (1.0 - chance) * self._shut
        by_angle = jacobians(self._plenums, wrench_from, wanted, speed, 1.0).angle
        scaled = by_angle * (self._step * np.sqrt(variance))[..., None, :]
        mean = self._wrench(wrench_from, wanted, speed) - self._wrench(wrench_from, applied, speed)
        return mean, scaled @ np.swapaxes(scaled, -1, -2)

    def _wrench(
        self, wrench_from: FloatArray, angle: FloatArray, speed: FloatArray
    ) -> FloatArray:
        area = self._plenums.area(angle)
        pressure = self._plenums.pressure(area, speed)
        return np.asarray(self._plenums.thrust(area, pressure) @ wrench_from)
