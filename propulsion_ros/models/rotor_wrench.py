"""Wrench of thrusts along fixed axes, fast for large batches."""
from __future__ import annotations

import numpy as np

from propulsion_ros.models.allocation import allocation_matrix
from propulsion_ros.models.wrench import unit_rows
from propulsion_ros.quantity import FloatArray

# Thrusts per matrix product: BLAS shares larger ones among threads, which costs more than it saves.
_BLOCK = 32768


class RotorWrench:
    """What n thrusts do to the body they are fixed to.

    Parameters
    ----------
    position : FloatArray
        Where the thrusts act [m], shape (n, 3).
    axis : FloatArray
        Their directions, any length above 0, shape (n, 3).
    moment_constant : FloatArray
        Torque on the body about the axis over the thrust [m], right-handed, shape (n,).
    batch : tuple of int
        Leading batch shape of the thrusts.

    Attributes
    ----------
    axis : FloatArray
        Directions of length 1, shape (n, 3).

    Raises
    ------
    ConfigError
        Where an axis has no direction.
    """

    def __init__(
        self,
        position: FloatArray,
        axis: FloatArray,
        moment_constant: FloatArray,
        batch: tuple[int, ...],
    ) -> None:
        self.axis = unit_rows('axis', axis)
        self._shape = (*batch, len(self.axis))
        self._per_thrust = np.ascontiguousarray(
            allocation_matrix(position, self.axis, moment_constant).T
        )

    def wrench(self, thrust: FloatArray) -> FloatArray:
        """Return the net wrench about the origin, (..., 6), for thrusts [N], (..., n)."""
        rows = thrust.reshape(-1, self._shape[-1])
        wrench: FloatArray = np.empty((len(rows), 6))
        count = max(1, _BLOCK // max(1, self._shape[-1]))
        for start in range(0, len(rows), count):
            block = slice(start, start + count)
            np.matmul(rows[block], self._per_thrust, out=wrench[block])
        return np.asarray(wrench.reshape((*self._shape[:-1], 6)))
