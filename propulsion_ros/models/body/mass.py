# SPDX-License-Identifier: Apache-2.0
"""Mass of a body and how it lies, and of several bodies as one."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from propulsion_ros.models.common.family import numbers_of
from propulsion_ros.models.common.points import LARGEST
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray

_ORIGIN, _UNIT = np.zeros(3), np.eye(3)


@dataclass(frozen=True)
class MassProperties:
    """The ``mass`` of a body [kg] and how it lies, in base_link axes.

    Its centre ``com`` from the origin of base_link [m] is (3,), and its ``inertia`` about that
    [kg m^2] (3, 3).
    """

    mass: float
    com: FloatArray
    inertia: FloatArray

    def __post_init__(self) -> None:
        for key in ('com', 'inertia'):
            if type(given := getattr(self, key)) is not np.ndarray:
                object.__setattr__(self, key, numbers_of(given, partial(ConfigError, key)))

    @staticmethod
    def total(parts: Sequence[MassProperties]) -> MassProperties:
        """Return several parts as one (parallel axis theorem)."""
        mass = sum(part.mass for part in parts)
        if mass <= 0.0:
            return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
        com = sum((part.mass * part.com for part in parts), _ORIGIN) / mass
        inertia = np.zeros((3, 3))
        for part in parts:
            r = part.com - com
            inertia += part.inertia + part.mass * (r @ r * _UNIT - r[:, None] * r)
        return MassProperties(mass, com, inertia)

    @functools.cached_property
    def inverse(self) -> FloatArray:
        """Inverse of the inertia, (3, 3)."""
        return np.asarray(np.linalg.inv(self.inertia))

    @functools.cached_property
    def moments(self) -> tuple[float, float, float]:
        """Moments about the axes of base_link."""
        (x, _, _), (_, y, _), (_, _, z) = self.inertia.tolist()
        return x, y, z

    @functools.cached_property
    def least_moment(self) -> float:
        """What no principal moment is below, by Gershgorin's circles; it may be negative."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.inertia.tolist()
        xy, xz, yz = abs(xy), abs(xz), abs(yz)
        return float(min(xx - xy - xz, yy - xy - yz, zz - xz - yz))

    @property
    def is_possible(self) -> bool:
        """Whether this is the mass of something, or 0: finite, and no negative moment."""
        values = (self.mass, *self.com.tolist(), *self.inertia.ravel().tolist())
        if not all(abs(value) <= LARGEST for value in values) or self.mass < 0.0:
            return False
        if self.least_moment >= 0.0:
            return True
        moments = np.linalg.eigvalsh(self.inertia)
        return bool(moments[0] >= -1e-9 * max(moments[-1], 0.0))

    def require_solid(self, key: str) -> None:
        """Raise `ConfigError` where forces cannot move and turn a body of this mass."""
        for name, shape in (('mass', ()), ('com', (3,)), ('inertia', (3, 3))):
            got = numbers_of(getattr(self, name), partial(ConfigError, name)).shape
            if got != shape:
                raise ConfigError(name, f'expected shape {shape}, got {got}')
        if not np.allclose(self.inertia, self.inertia.T, 0.0, 1e-6 * np.abs(self.inertia).max()):
            raise ConfigError('inertia', f'expected it symmetric, got {self.inertia.tolist()}')
        if not self.is_solid:
            raise ConfigError(
                key, f'expected links with mass and positive inertia, got {self.mass:g} kg in all; '
                + ('the <inertia> of a link must be above 0 about each axis' if self.mass
                   else 'give base_link an <inertial>'),
            )

    @property
    def is_solid(self) -> bool:
        """Whether forces can move and turn a body of this mass."""
        if not self.is_possible or self.mass <= 0.0:
            return False
        return bool(np.linalg.eigvalsh(self.inertia)[0] > 0.0)
