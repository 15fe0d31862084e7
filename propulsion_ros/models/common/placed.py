# SPDX-License-Identifier: Apache-2.0
"""Base of families whose actuators have a command, a state and a place each, all by one name."""
from __future__ import annotations

from typing import Any

import numpy as np

from propulsion_ros.models.common.family import Command, Output
from propulsion_ros.models.common.start import State
from propulsion_ros.models.common.wrench import in_link_axes
from propulsion_ros.settings.quantity import FloatArray


class PlacedActuators:
    """n actuators that push along axes of their own; what a family has beyond that, it overrides.

    The configuration has ``names``, and ``link`` and ``rotation`` by `placement`; the command field
    is 'position', 'velocity' or 'effort'.
    """

    uses_body: bool = False
    tank_names: tuple[str, ...] = ()
    _reaction: FloatArray | None = None
    """Torque about its axis over the force of each actuator [m], (n,); None for none."""

    def __init__(self, params: Any, command_field: str) -> None:
        n = len(params.names)
        self.command_names: tuple[str, ...] = params.names
        self.state_names = self.actuator_names = self.command_names
        self.command_fields = (command_field,) * n
        self.nan_is_safe = (False,) * n
        self.safe_command: FloatArray = np.zeros(n)
        self.actuator_frames: tuple[str, ...] = params.link
        self._rotation: FloatArray = params.rotation

    def check_command(self, command: Command) -> None:
        """Accept every finite value: what is beyond the limits is clamped."""

    def rest(self) -> None:
        """Do as `reset` does: nothing outlasts a stop, as propellant would."""
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Restore the state at construction; see `Restartable.reset`."""
        raise NotImplementedError

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each actuator in its link; see `Family.link_wrenches`."""
        forces = output.forces
        torques = None if self._reaction is None else self._reaction[:, None] * forces
        return in_link_axes(self._rotation, forces, torques)
