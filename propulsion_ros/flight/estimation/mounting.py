# SPDX-License-Identifier: Apache-2.0
"""Rotation from the axes of a sensor to the axes of the body."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.rotation import Vector
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, IntArray, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class MountingParams:
    """Axes and flips of the ``Sensors`` block of a flight configuration."""

    axes: IntArray = quantity(
        (0, 1, 2), '', kind=int, lo=0, hi=2, shape=(3,),
        doc='axis of the sensor (0 x, 1 y, 2 z) that each axis of the body takes',
    )
    flips: IntArray = quantity(
        (0, 0, 0), '', kind=int, lo=0, hi=1, shape=(3,),
        doc='1 where that axis of the sensor points the other way',
    )

    def __post_init__(self) -> None:
        validate(self)
        axes = self.axes.tolist()
        if sorted(axes) != [0, 1, 2]:
            raise ConfigError('axes', f'expected each of 0, 1, 2 once, got {axes}')


class Mounting:
    """Rotates vectors from the axes of a sensor to those of the body.

    Component i on the circuit board is component ``axes[i]`` of the sensor, times -1 if
    ``flips[i]`` is 1.

    Parameters
    ----------
    params : MountingParams, optional
        Axes and flips. They must be a rotation, as all sensors have right-handed axes.
    rotation : FloatArray, optional
        Rotation from the axes of the board to those of the body, shape (3, 3).

    Attributes
    ----------
    matrix : FloatArray
        Rotation from the axes of the sensor to those of the body, shape (3, 3).

    Raises
    ------
    ConfigError
        If axes and flips are a mirror image.
    """

    def __init__(
        self, params: MountingParams | None = None, *, rotation: FloatArray | None = None
    ) -> None:
        params = MountingParams() if params is None else params
        board = np.zeros((3, 3))
        board[range(3), params.axes] = 1.0 - 2.0 * params.flips
        self.matrix: FloatArray = board if rotation is None else rotation @ board
        self._rows = self.matrix.tolist()
        if np.linalg.det(self.matrix) < 0.0:
            axes, flips = params.axes.tolist(), params.flips.tolist()
            raise ConfigError('flips', f'axes {axes} with flips {flips} mirror: turn one flip over')

    def to_body(self, vector: Sequence[float]) -> Vector:
        """Return a vector in the axes of the body, given in those of the sensor."""
        a, b, c = vector
        x, y, z = (p * a + q * b + r * c for p, q, r in self._rows)
        return x, y, z
