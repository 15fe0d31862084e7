# SPDX-License-Identifier: Apache-2.0
"""The inverse of Astrobee's force allocation: the wrench that flap angles and speeds apply.

After Ekal, "Inverting Astrobee's Force Allocation Module" (2023): the openings of a plenum's
nozzles give its pressure, pressure and area the thrust of each nozzle, saturation included.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from propulsion_ros.models.common.facts import ESTIMATES, FamilyFacts
from propulsion_ros.models.common.family import BodyState, Command, Output
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import OpeningCurve, PolynomialCurve, TableCurve, paper_curve
from propulsion_ros.models.fam.nozzle_family import CommandedNozzles, Plenums
from propulsion_ros.models.fam.params import WrenchParams, torque_shift
from propulsion_ros.settings.quantity import FloatArray, quantity


@dataclass(frozen=True, kw_only=True, eq=False)
class InverseFamParams(WrenchParams):
    """Configuration of the inverse."""

    method: str = quantity(
        'closed_form', kind=str, choices=('closed_form', 'polynomial', 'paper'),
        doc='closed_form: exactly what the allocation assumed; polynomial: the measured curve '
        'with the leakage of each plenum; paper: linear interpolation as published',
    )
    speed_source: str = quantity(
        'command', kind=str, choices=('command', 'preset', 'measured'),
        doc='speed of the impellers: as commanded, the nearest flight mode as the allocation '
        'assumes, or as measured where it was',
    )
    impeller_speeds: FloatArray = quantity(
        astrobee.IMPELLER_SPEEDS, 'rad/s', lo=1.0, hi=1e6, shape=(3,),
        doc='presets, in rising order'
    )
    angle_std: float = quantity(
        0.0, 'rad', doc='standard deviation of each flap angle', lo=0.0
    )
    speed_std: float = quantity(
        0.0, 'rad/s', doc='standard deviation of each impeller speed', lo=0.0
    )
    discharge_coefficient_std: float = quantity(
        0.0, doc='standard deviation of each discharge coefficient', lo=0.0
    )
    thrust_scale_std: float = quantity(
        0.0, doc='standard deviation of thrust_scale, which all nozzles share', lo=0.0
    )


class Estimate(NamedTuple):
    """What is applied; rows (..., n) for nozzles, (..., m) for plenums."""

    wrench: FloatArray
    """Force [N] and torque [N m] about the point of `torque_about`, (..., 6)."""
    thrust: FloatArray
    """Thrust of each nozzle [N], (..., n)."""
    pressure: FloatArray
    """Rise of pressure in each plenum [Pa], (..., m)."""
    area: FloatArray
    """Open area of each nozzle [m^2]."""


class InverseFam(CommandedNozzles):
    """Turns flap angles and impeller speeds into the wrench that they apply.

    Commands are the flap angle of each nozzle (position) and the speed of each impeller
    (velocity); NaN counts as shut and as standing still, so that a module that never published or
    fell silent has no thrust. The wrench of `Output` is about the origin of base_link.

    There is no state; a batch is accepted as in other families.

    Attributes
    ----------
    to_origin : FloatArray
        Moves a wrench about the point of `torque_about` to base_link's origin, (6, 6).
    """

    Params: ClassVar[type] = InverseFamParams
    params: InverseFamParams
    start_states: ClassVar[tuple[str, ...]] = ()
    facts: ClassVar[FamilyFacts] = FamilyFacts(
        loop=ESTIMATES, pushes=False, commanded_by='fam',
        shared_inputs=('wrench_command', 'inertia'),
    )

    def __init__(self, params: InverseFamParams, batch: tuple[int, ...] = ()) -> None:
        super().__init__(params)
        self._tuned = params
        self._plenums = Plenums(params, _curve(params))
        self._matrix = params.allocation_matrix
        self._presets = np.array([0.0, *np.sort(params.impeller_speeds)])
        self._between = 0.5 * (self._presets[1:] + self._presets[:-1])
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Return to the configured centre of mass and forget measured speeds.

        Where only some environments are reset, the centre of mass, which is that of all, stays; see
        `Restartable.reset`.
        """
        Start(indices, self.batch, state, self.start_states)
        if indices is None:
            self.retune(self._tuned)
            self._measured: FloatArray | None = None
        elif self._measured is not None:
            m = self._measured.shape[-1]
            measured = np.broadcast_to(self._measured, (*self.batch, m)).copy()
            measured[indices] = np.nan
            self._measured = measured

    def retune(self, params: InverseFamParams) -> None:
        """Take the centre of mass of a configuration."""
        self._tuned = params
        self.set_com(params.com)

    def set_com(self, com: FloatArray) -> None:
        """Take the centre of mass [m], (3,), in base_link, that torques are about."""
        point = self.params.torque_point(com)
        self._wrench_from = (torque_shift(point) @ self._matrix).T
        self.to_origin = torque_shift(-point)

    def set_measured_speed(self, speed: FloatArray | None) -> None:
        """Take measured impeller speeds [rad/s], (m,); None or NaN where they are not known.

        They replace the commanded ones with ``speed_source: measured``.
        """
        self._measured = None if speed is None else np.asarray(speed, dtype=float)

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Estimate from the command; ``body``, ``dt`` and ``tick`` have no influence."""
        angle, speed = self.commanded(command)
        area = self._plenums.area(angle)
        thrust = self._plenums.thrust(area, self._plenums.pressure(area, speed))
        return self._output(thrust @ self._matrix.T, thrust, angle, speed)

    def commanded(self, command: Command) -> tuple[FloatArray, FloatArray]:
        """Return the flap angles [rad], (..., n), and speeds [rad/s], (..., m), of a command.

        An angle is NaN where none was commanded; such a nozzle counts as shut.
        """
        angle, speed = self._given(command)
        # fmax takes the other where one is NaN.
        return angle, np.minimum(self.speed(np.fmax(speed, 0.0)), astrobee.MAX_SPEED)

    def speed(self, command: FloatArray) -> FloatArray:
        """Return the speeds that the pressure follows from, by `speed_source`, (..., m)."""
        source = self.params.speed_source
        if source == 'preset':
            return np.asarray(self._presets.take(self._between.searchsorted(command)))
        if source == 'measured' and self._measured is not None:
            return np.where(np.isnan(self._measured), command, self._measured)
        return command

    def estimate(self, angle: FloatArray, speed: FloatArray) -> Estimate:
        """Return what is applied.

        ``angle`` is in [rad], (..., n); ``speed`` of the impellers in [rad/s], (..., m), is used
        as given.
        """
        area = self._plenums.area(angle)
        pressure = self._plenums.pressure(area, speed)
        thrust = self._plenums.thrust(area, pressure)
        return Estimate(thrust @ self._wrench_from, thrust, pressure, area)

    @property
    def knows_errors(self) -> bool:
        """Whether any standard deviation is configured, so that there is a covariance."""
        params = self.params
        return any((
            params.angle_std, params.speed_std, params.discharge_coefficient_std,
            params.thrust_scale_std,
        ))

    def jacobians(self, angle: FloatArray, speed: FloatArray) -> Jacobians:
        """Return how the wrench of `estimate` changes with angles, speeds and constants.

        With T_i = k_i A_i dP and dP = rho d^2 N^2 C(r), a nozzle j changes its own thrust, and that
        of all nozzles of its plenum by dT_i = T_i C'/C dr, where dr = 2 Cd_j dA_j + 2 A_j dCd_j.
        """
        plenums = self._plenums
        area = plenums.area(angle)
        opening = area @ plenums.opening_per_area
        stiffness = plenums.pressure_scale * np.square(speed)
        coefficient = plenums.curve.from_opening(opening)
        spread = (coefficient * stiffness).take(plenums.plenum_of, axis=-1)
        per_area = plenums.thrust_per_area * spread
        thrust = per_area * area
        fall = (plenums.curve.slope(opening) * stiffness).take(plenums.plenum_of, axis=-1)

        columns = self._wrench_from.T
        # Wrench of each plenum per pressure, and the same for each of its nozzles.
        of_plenum = (columns * (plenums.thrust_per_area * area)[..., None, :]) @ plenums.members
        shared = of_plenum.take(plenums.plenum_of, axis=-1) * fall[..., None, :]
        discharge = plenums.discharge_coefficient

        by_area = columns * per_area[..., None, :] + shared * (2.0 * discharge)
        moves = (area > 0.0) & (area < plenums.largest_area)
        area_slope = np.where(moves, plenums.area_per_cosine * np.sin(angle), 0.0)
        by_coefficient = (
            columns * (2.0 * thrust / discharge)[..., None, :]
            + shared * (2.0 * area)[..., None, :]
        )
        # dP is proportional to N^2, so nothing is divided by a speed that may be 0.
        per_speed = coefficient * (2.0 * plenums.pressure_scale * speed)
        return Jacobians(
            by_area * area_slope[..., None, :],
            of_plenum * per_speed[..., None, :],
            by_coefficient,
            (thrust @ self._wrench_from)[..., None] / self.params.thrust_scale,
        )

    def covariance(self, angle: FloatArray, speed: FloatArray) -> FloatArray:
        """Return the covariance of the wrench of `estimate`, (..., 6, 6).

        To first order, from the standard deviations of the configuration.
        """
        params = self.params
        by = self.jacobians(angle, speed)
        deviations = (
            (by.angle, params.angle_std),
            (by.speed, params.speed_std),
            (by.discharge_coefficient, params.discharge_coefficient_std),
            (by.thrust_scale, params.thrust_scale_std),
        )
        scaled = np.concatenate([jacobian * std for jacobian, std in deviations], axis=-1)
        return np.asarray(scaled @ np.swapaxes(scaled, -1, -2))


def _curve(params: InverseFamParams) -> OpeningCurve:
    if params.method == 'paper':
        return paper_curve()
    if params.method == 'polynomial':
        return PolynomialCurve(params.impellers.zero_thrust_area)
    return TableCurve()


class Jacobians(NamedTuple):
    """Derivatives of a wrench."""

    angle: FloatArray
    """Derivative of the wrench by the flap angles, per rad, (..., 6, n); 0 at a stop."""
    speed: FloatArray
    """Derivative of the wrench by the speeds of the impellers, per rad/s, (..., 6, m)."""
    discharge_coefficient: FloatArray
    """Derivative of the wrench by the discharge coefficients, (..., 6, n)."""
    thrust_scale: FloatArray
    """Derivative of the wrench by the thrust scale, (..., 6, 1)."""
