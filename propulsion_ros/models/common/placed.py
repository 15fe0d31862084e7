# SPDX-License-Identifier: Apache-2.0
"""Bases of families, of which most have actuators with a command, state and place by one name."""
from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.models.common.family import Command, Output, require_counts, shown
from propulsion_ros.models.common.start import State
from propulsion_ros.models.common.wrench import in_link_axes
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray


class ActuatorFamily:
    """Base of families, which are made of their own `Params` and a batch."""

    Params: ClassVar[type]
    params: Any
    """The configuration that it was made of, and the leading shape of its state."""
    batch: tuple[int, ...]
    uses_body: bool = False
    tank_names: tuple[str, ...] = ()
    _rotation: FloatArray
    """From the axes of each link to base_link, (n, 3, 3)."""
    _reaction: FloatArray | None = None
    """Torque about its axis over the force of each actuator [m], (n,); None for none."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        """Return what is to be made; raise `ConfigError` for what it is not made of."""
        made = super().__new__(cls)
        # A copy is made of nothing.
        if given or named:
            own = inspect.signature(cls.__init__).bind(made, *given, **named).arguments
            params, batch, kind = own['params'], own.get('batch', ()), cls.Params
            if not isinstance(params, kind):
                raise ConfigError('params', f'expected {kind.__name__}, got {shown(params)}')
            counts = batch if isinstance(batch, tuple) else ('none',)
            require_counts('batch', '(64,) or (8, 8)', batch, counts)
            vars(made).update(params=params, batch=batch)
        return made

    def check_command(self, command: Command) -> None:
        """Accept every finite value: what is beyond the limits is clamped."""

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each actuator in its link; see `Family.link_wrenches`."""
        forces = output.forces
        torques = None if self._reaction is None else self._reaction[:, None] * forces
        return in_link_axes(self._rotation, forces, torques)


class PlacedActuators(ActuatorFamily):
    """n actuators that push along axes of their own; what a family has beyond that, it overrides.

    The configuration has ``names``, and ``link`` and ``rotation`` by `placement`; the command field
    is 'position', 'velocity' or 'effort'.
    """

    def __init__(self, params: Any, command_field: str) -> None:
        n = len(params.names)
        self.command_names: tuple[str, ...] = params.names
        self.state_names = self.actuator_names = self.command_names
        self.command_fields = (command_field,) * n
        self.nan_is_safe = (False,) * n
        self.safe_command: FloatArray = np.zeros(n)
        self.actuator_frames: tuple[str, ...] = params.link
        self._rotation = params.rotation

    def rest(self) -> None:
        """Do as `reset` does: nothing outlasts a stop, as propellant would."""
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Restore the state at construction; see `Restartable.reset`."""
        raise NotImplementedError
