# SPDX-License-Identifier: Apache-2.0
"""Distribution of a wrench over nozzles, which can only push."""
from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from propulsion_ros.models.common.wrench import product
from propulsion_ros.models.fam.params import torque_shift
from propulsion_ros.settings.quantity import FloatArray, IntArray


class Mixing:
    """The smallest thrusts that make a wrench, increased until none is below 0.

    Equal thrusts of all nozzles on one line cancel. So if the lowest thrust of a line is below 0,
    it is subtracted from all thrusts of the line, which does not change the wrench. This is
    equation 1 of Ekal (2023), with the signs and the lines of Astrobee's code.

    Parameters
    ----------
    matrix : FloatArray
        Wrench about the origin per thrust, (6, n).
    lines : sequence of IntArray
        Nozzles that push along the same direction.
    """

    def __init__(self, matrix: FloatArray, lines: Sequence[IntArray]) -> None:
        self._inverse = np.linalg.pinv(matrix)
        width = max(len(line) for line in lines)
        # Lines are the rows of one array; shorter lines repeat their last nozzle.
        self._lines = np.array(
            [np.pad(line, (0, width - len(line)), mode='edge') for line in lines]
        )
        self._slot = np.empty(matrix.shape[1], int)
        self._slot[self._lines.ravel()] = np.arange(self._lines.size)
        self.set_com(np.zeros(3))

    def set_com(self, com: FloatArray) -> None:
        """Set the point [m], (3,), about which the torques of the demanded wrenches are.

        The smallest thrusts do not depend on the point that describes a wrench. So a wrench is
        moved to the origin, and one pseudoinverse is enough for all points.
        """
        thrust_from = self._inverse @ torque_shift(-np.asarray(com, dtype=float))
        self._line_from = np.ascontiguousarray(thrust_from[self._lines].reshape(-1, 6).T)

    def share(self, wrench: FloatArray) -> FloatArray:
        """Return thrusts [N], (..., n), at least 0, for wrenches (..., 6)."""
        flat = product(wrench, self._line_from)
        lines = flat.reshape(*wrench.shape[:-1], *self._lines.shape)
        lowest: FloatArray
        if flat.ndim == 1:
            lowest = np.minimum.reduce(lines, axis=-1, initial=0.0)
        else:
            # Column by column: several times faster in batches than a minimum over a short axis.
            lowest = np.minimum(reduce(np.minimum, lines.T).T, 0.0)
        lines -= lowest[..., None]
        return np.asarray(flat.take(self._slot, axis=-1))
