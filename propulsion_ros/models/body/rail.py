# SPDX-License-Identifier: Apache-2.0
"""A launch rail: until a body leaves its upper end it neither turns nor leaves the line."""
from __future__ import annotations

from typing import Any

import numpy as np

from propulsion_ros.models.common.rotation import matrix_of_rpy
from propulsion_ros.models.common.wrench import unit_rows
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray

_LEVEL = -1e-9


class Rail:
    """A straight rail from where a body begins, which bears what acts across it.

    Parameters
    ----------
    foot : FloatArray
        Origin of the body at the lower end, in the world [m], (3,).
    direction : FloatArray
        Upwards along the rail, in the world, of length 1, (3,).
    length : float
        Way of the body to the upper end [m].
    """

    def __init__(self, foot: FloatArray, direction: FloatArray, length: float) -> None:
        self.foot, self.direction, self._length = foot, direction, length

    def holds(self, position: FloatArray) -> bool:
        """Return whether a body is not past the upper end."""
        return self._way(position) < self._length

    def stops(self, position: FloatArray, velocity: FloatArray) -> bool:
        """Return whether a body has slid down to the lower end."""
        return self._way(position) < 0.0 and float(velocity @ self.direction) < 0.0

    def along(self, vector: FloatArray) -> FloatArray:
        """Return the part of a vector of the world that the rail permits."""
        return np.asarray((vector @ self.direction) * self.direction)

    def _way(self, position: FloatArray) -> float:
        return float((position - self.foot) @ self.direction)


def unit_axis(axis: FloatArray) -> FloatArray:
    """Return ``rail_axis`` (3,) with length 1; raise `ConfigError` for one of length 0."""
    return np.asarray(unit_rows('rail_axis', axis[None])[0])


def check_rail(params: Any) -> None:
    """Raise `ConfigError` where a body cannot begin on the rail of its settings."""
    if (matrix_of_rpy(params.start_rpy) @ unit_axis(params.rail_axis))[2] < _LEVEL:
        raise ConfigError('rail_axis', 'expected a direction that does not point down at the start')
    for key in ('start_velocity', 'start_angular_velocity'):
        if np.any(getattr(params, key)):
            raise ConfigError(key, 'expected 0 for a body that begins on a rail')
