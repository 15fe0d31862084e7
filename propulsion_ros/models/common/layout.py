# SPDX-License-Identifier: Apache-2.0
"""Where actuators push and how hard they can, for pictures."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from propulsion_ros.models.common.wrench import unit_rows
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ThrustLayout:
    """n actuators that push along axes of their own, each between two thrusts."""

    names: tuple[str, ...]
    links: tuple[str, ...]
    """The actuators and the link that each acts on."""
    position: FloatArray
    axis: FloatArray
    """Where and which way a positive thrust pushes in base_link with all joints at 0, (n, 3);
    the axes are unit vectors."""
    rotation: FloatArray
    """Rotation from the axes of each link to base_link with all joints at 0, (n, 3, 3)."""
    lowest: FloatArray
    highest: FloatArray
    """Limits of the thrust [N], (n,); NaN where they are not known."""
    angle_names: tuple[str, ...] = ()
    """Joints whose position the other methods take, k of them."""
    unknown_angle: float = np.nan
    """Stands for a position that is NaN [rad]; itself NaN where there must be one."""
    plume: str = ''
    """What leaves the actuators against their thrust: 'flame', 'air', or '' for nothing to see."""

    @property
    def largest(self) -> float:
        """Largest thrust of any of them [N], 0 where none is known."""
        sizes = np.abs(np.concatenate((self.lowest, self.highest, [0.0])))
        return float(np.nanmax(sizes))

    def in_base(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and axes in base_link, (n, 3) each, at joint angles [rad], (k,)."""
        return self.position, self.axis

    def in_links(self, angles: FloatArray) -> FloatArray:
        """Return the axes in each actuator's link, (n, 3), at joint angles [rad], (k,)."""
        return np.asarray(np.einsum('ni,nij->nj', self.axis, self.rotation))

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how near each actuator is to its limit: 0 at rest, 1 there, NaN unknown, (n,)."""
        limit = np.where(thrust < 0.0, -self.lowest, self.highest)
        at_once = np.where(thrust == 0.0, 0.0, 1.0)
        share = np.abs(thrust) / np.where(limit == 0.0, 1.0, limit)
        return np.asarray(np.where(limit == 0.0, at_once, share))


@runtime_checkable
class Drawable(Protocol):
    """A family that declares how it is drawn.

    Without it, a family is drawn by the placement of its rows, and one without rows is not drawn.
    """

    def thrust_layout(self) -> ThrustLayout:
        """Return where the actuators push, with the names of the state that have the thrusts."""


def placed_rows(params: Any) -> dict[str, Any]:
    """Return the fields of a layout that a configuration of rows has."""
    return {
        'names': params.names, 'links': params.link, 'position': params.position,
        'axis': unit_rows('axis', params.axis), 'rotation': params.rotation,
    }
