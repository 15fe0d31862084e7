# SPDX-License-Identifier: Apache-2.0
"""Mass of a body and how it lies, and of several bodies as one."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

_LARGEST = 1e12
"""No mass, distance or moment of inertia is larger, in SI units."""


@dataclass(frozen=True)
class MassProperties:
    """Mass of a body and how it lies, in base_link axes."""

    mass: float
    """[kg]."""
    com: FloatArray
    """Centre of mass from the origin of base_link [m], (3,)."""
    inertia: FloatArray
    """About the centre of mass [kg m^2], (3, 3)."""

    @staticmethod
    def total(parts: Sequence[MassProperties]) -> MassProperties:
        """Return several parts as one (parallel axis theorem)."""
        mass = sum(part.mass for part in parts)
        if mass <= 0.0:
            return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
        com = np.sum([part.mass * part.com for part in parts], axis=0) / mass
        inertia = np.zeros((3, 3))
        for part in parts:
            r = part.com - com
            inertia += part.inertia + part.mass * (r @ r * np.eye(3) - np.outer(r, r))
        return MassProperties(mass, com, inertia)

    @property
    def is_possible(self) -> bool:
        """Whether this is the mass of something, or 0: finite, and no negative moment."""
        values = (self.mass, *self.com, *self.inertia.ravel())
        if not (np.abs(values) <= _LARGEST).all() or self.mass < 0.0:
            return False
        moments = np.linalg.eigvalsh(self.inertia)
        return bool(moments[0] >= -1e-9 * max(moments[-1], 0.0))

    @property
    def is_solid(self) -> bool:
        """Whether forces can move and turn a body of this mass."""
        if not self.is_possible or self.mass <= 0.0:
            return False
        return bool(np.linalg.eigvalsh(self.inertia)[0] > 0.0)
