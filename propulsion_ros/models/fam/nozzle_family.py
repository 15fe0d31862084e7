# SPDX-License-Identifier: Apache-2.0
"""What the families of nozzles on plenums have in common."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.family import Command, Output
from propulsion_ros.models.common.layout import ThrustLayout, placed_rows
from propulsion_ros.models.common.wrench import in_link_axes, unit_rows
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import PolynomialCurve
from propulsion_ros.models.fam.params import ModulesParams
from propulsion_ros.models.fam.plenum import Plenums
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray


class NozzleFamily:
    """n nozzles and m impellers, whose state is an angle of each, then a speed of each."""

    uses_body: bool = False
    tank_names: tuple[str, ...] = ()

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

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the thrust of each nozzle in its link; see `Family.link_wrenches`."""
        return in_link_axes(self._rotation, output.forces)


class CommandedNozzles(NozzleFamily):
    """Nozzles whose commands are their flap angles (position) and the speeds (velocity)."""

    def __init__(self, params: ModulesParams) -> None:
        super().__init__(params)
        n, m = self._n, self._m
        self._modules = params
        self.command_names = self.state_names
        self.command_fields = ('position',) * n + ('velocity',) * m
        self.safe_command: FloatArray = np.array([params.min_angle] * n + [0.0] * m)
        self.nan_is_safe = (False,) * (n + m)
        self._never_commanded = np.full(n + m, np.nan)

    def thrust_layout(self) -> ThrustLayout:
        """Return where and which way the nozzles push; see `Drawable`."""
        return layout_of_nozzles(self._modules)

    def check_command(self, command: Command) -> None:
        """Raise `CommandError` for a negative speed."""
        if command.velocity is None:
            return
        negative = command.velocity < 0.0
        if np.count_nonzero(negative):
            i = int(np.flatnonzero(negative)[0])
            raise CommandError(
                f'{self.command_names[i]}: velocity {command.velocity[i]:g} rad/s is negative, '
                'an impeller turns one way'
            )

    def _given(self, command: Command) -> tuple[FloatArray, FloatArray]:
        """Return angles (..., n) and speeds (..., m) of a command, NaN where there is none."""
        command.refuse_other(self.command_names, self.command_fields)
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


_TOP_SPEED = astrobee.COUNTS * astrobee.MEASURED_SPEED_PER_COUNT
"""Of an impeller [rad/s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NozzleLayout(ThrustLayout):
    """Nozzles on plenums; the flap is what has limits."""

    plenums: Plenums
    """What turns a flap angle into an open area."""

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how far each nozzle is open; see `ThrustLayout.load`."""
        return np.asarray(self.plenums.area(angles) / self.plenums.largest_area)


def layout_of_nozzles(params: ModulesParams) -> NozzleLayout:
    """Return how nozzles are drawn."""
    nozzles, impellers = params.nozzles, params.impellers
    plenums = Plenums(params, PolynomialCurve(impellers.zero_thrust_area))
    # A nozzle pushes hardest when it alone is open.
    area = np.diag(plenums.largest_area)
    speed = np.full(len(impellers.names), _TOP_SPEED)
    highest = np.diag(plenums.thrust(area, plenums.pressure(area, speed)))
    return NozzleLayout(
        **placed_rows(nozzles), lowest=np.zeros(len(nozzles.names)), highest=highest,
        angle_names=nozzles.names, unknown_angle=0.0, plume='air', plenums=plenums,
    )
