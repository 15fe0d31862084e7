# SPDX-License-Identifier: Apache-2.0
"""What the families of nozzles on plenums have in common."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.family import Command, Output, refuse_negative
from propulsion_ros.models.common.layout import ThrustLayout, placed_rows
from propulsion_ros.models.common.placed import ActuatorFamily
from propulsion_ros.models.common.wrench import product, unit_rows
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import OpeningCurve, PolynomialCurve
from propulsion_ros.models.fam.params import ModulesParams
from propulsion_ros.settings.quantity import FloatArray


class Plenums:
    """n nozzles on m plenums: A = 2 W (H - L cos a), r = sum 2 Cd A, dP = rho d^2 N^2 C(r).

    A nozzle's thrust is T = thrust_scale * 2 Cd^2 A dP, along its axis. Equations 2 to 5, 8 and 9
    of Ekal (2023).

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

    def pressure(self, area: FloatArray, speed: FloatArray) -> FloatArray:
        """Return the rise of pressure [Pa], (..., m), from areas (..., n) and speeds (..., m)."""
        coefficient = self.curve.from_opening(product(area, self.opening_per_area))
        return np.asarray(coefficient * (self._pressure_scales * np.square(speed)))

    def thrust(self, area: FloatArray, pressure: FloatArray) -> FloatArray:
        """Return the thrust of each nozzle [N], (..., n)."""
        spread = pressure.take(self.plenum_of, axis=-1)
        return np.asarray(self.thrust_per_area * area * spread)


class NozzleFamily(ActuatorFamily):
    """n nozzles and m impellers, whose state is an angle of each, then a speed of each."""

    params: ModulesParams

    def __init__(self, params: ModulesParams) -> None:
        nozzles = params.nozzles
        self._n, self._m = len(nozzles.names), len(params.impellers.names)
        self._blanks = np.full((3, self._n + self._m), np.nan)
        self._axes = unit_rows('nozzles.axis', nozzles.axis)
        self._rotation = nozzles.rotation
        self.state_names = (*nozzles.names, *params.impellers.names)
        self.actuator_names, self.actuator_frames = nozzles.names, nozzles.link

    def rest(self) -> None:
        """Do nothing: there is no state that moves."""

    def _blank(self, count: int, batch: tuple[int, ...]) -> FloatArray:
        """Return some fields of the state, NaN everywhere."""
        # Of one robot a copy is made in half the time.
        return np.full((count, *batch, self._n + self._m), np.nan) if batch else (
            self._blanks[:count].copy()
        )


class CommandedNozzles(NozzleFamily):
    """Nozzles whose commands are their flap angles (position) and the speeds (velocity)."""

    def __init__(self, params: ModulesParams) -> None:
        super().__init__(params)
        n, m = self._n, self._m
        self.command_names = self.state_names
        self.command_fields = ('position',) * n + ('velocity',) * m
        self.safe_command: FloatArray = np.array([params.min_angle] * n + [0.0] * m)
        self.nan_is_safe = (False,) * (n + m)
        self._never_commanded = np.full(n + m, np.nan)

    def thrust_layout(self) -> ThrustLayout:
        """Return where and which way the nozzles push; see `Drawable`."""
        params, nozzles = self.params, self.params.nozzles
        plenums = Plenums(params, PolynomialCurve(params.impellers.zero_thrust_area))
        # A nozzle pushes hardest when it alone is open.
        area, speed = np.diag(plenums.largest_area), np.full(self._m, astrobee.MAX_SPEED)
        highest = np.diag(plenums.thrust(area, plenums.pressure(area, speed)))
        return NozzleLayout(
            **placed_rows(nozzles), lowest=np.zeros(self._n), highest=highest,
            angle_names=nozzles.names, unknown_angle=0.0, plume='air', plenums=plenums,
        )

    def check_command(self, command: Command) -> None:
        """Raise `CommandError` for a negative speed."""
        refuse_negative(
            command.velocity, self.command_names, 'velocity', 'rad/s', 'an impeller turns one way'
        )

    def _given(self, command: Command) -> tuple[FloatArray, FloatArray]:
        """Return angles (..., n) and speeds (..., m) of a command, NaN where there is none."""
        position = self._never_commanded if command.position is None else command.position
        velocity = self._never_commanded if command.velocity is None else command.velocity
        return position[..., : self._n], velocity[..., self._n:]

    def _output(
        self, wrench: FloatArray, thrust: FloatArray, angle: FloatArray, speed: FloatArray
    ) -> Output:
        """Return what a step gives, with angles, speeds and thrusts as the state."""
        states = self._blank(3, thrust.shape[:-1])
        states[0][..., : self._n] = angle
        states[1][..., self._n:] = speed
        states[2][..., : self._n] = thrust
        return Output(
            wrench=wrench,
            thrusts=thrust,
            axes=self._axes,
            position=states[0],
            velocity=states[1],
            effort=states[2],
            computed=thrust,
            applied=thrust,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class NozzleLayout(ThrustLayout):
    """Nozzles on plenums; the flap is what has limits."""

    plenums: Plenums
    """What turns a flap angle into an open area."""

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how far each nozzle is open; see `ThrustLayout.load`."""
        return np.asarray(self.plenums.area(angles) / self.plenums.largest_area)
