# SPDX-License-Identifier: Apache-2.0
"""How a sensor is mounted: which of its axes is which axis of the body."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.rotation import Vector
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, IntArray, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class MountingParams:
    """Axes and flips, as the ``Sensors`` block of a flight configuration has them."""

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
    """Turns vectors in a sensor's axes into vectors in the body's.

    Component i of the body is component ``axes[i]`` of the sensor, times -1 where ``flips[i]``.

    Parameters
    ----------
    params : MountingParams
        Axes and flips. Together they must be a rotation: a mirror image turns the sense of
        angular rates, and no sensor that is right-handed can be mounted so.
    rotation : FloatArray, optional
        From the axes of the board, which the above lead to, to the body's, (3, 3).
    may_mirror : bool
        Whether the sensor may be left-handed, as some magnetometers are.

    Attributes
    ----------
    matrix : FloatArray
        From the sensor's axes to the body's, shape (3, 3).

    Raises
    ------
    ConfigError
        Where they mirror and must not.
    """

    def __init__(
        self,
        params: MountingParams | None = None,
        *,
        rotation: FloatArray | None = None,
        may_mirror: bool = False,
    ) -> None:
        params = MountingParams() if params is None else params
        self._axes: list[int] = params.axes.tolist()
        self._signs: list[float] = (1.0 - 2.0 * np.asarray(params.flips)).tolist()
        turned = self._on_board() if rotation is None else rotation @ self._on_board()
        self._rows = None if rotation is None else [tuple(row) for row in turned.tolist()]
        self.matrix: FloatArray = turned
        if not may_mirror and np.linalg.det(turned) < 0.0:
            flips = np.asarray(params.flips).tolist()
            raise ConfigError(
                'flips', f'axes {self._axes} with flips {flips} mirror: turn one flip over'
            )

    def _on_board(self) -> FloatArray:
        """Return what leads from the sensor's axes to the board's, shape (3, 3)."""
        matrix = np.zeros((3, 3))
        matrix[range(3), self._axes] = self._signs
        return matrix

    def to_body(self, vector: Sequence[float]) -> Vector:
        """Return a vector of the sensor in the axes of the body."""
        if self._rows is not None:
            a, b, c = vector
            first, second, third = (p * a + q * b + r * c for p, q, r in self._rows)
            return first, second, third
        x, y, z = self._axes
        sx, sy, sz = self._signs
        return sx * vector[x], sy * vector[y], sz * vector[z]
