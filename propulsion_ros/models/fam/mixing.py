# SPDX-License-Identifier: Apache-2.0
"""Sharing a wrench among nozzles that can only push."""
from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from propulsion_ros.models.common.wrench import product
from propulsion_ros.models.fam.params import torque_shift
from propulsion_ros.settings.quantity import FloatArray, IntArray


class Mixing:
    """The smallest thrusts that make a wrench, lifted until none is below 0.

    Equal thrusts of the nozzles on one line cancel, so each line is lifted by its lowest thrust
    where that is below 0, and the wrench stays. Equation 1 of Ekal (2023), with the signs and the
    lines of Astrobee's code.

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
        # Lines as rows of one array, the short ones filled up by repetition.
        self._lines = np.array(
            [np.pad(line, (0, width - len(line)), mode='edge') for line in lines]
        )
        self._slot = np.empty(matrix.shape[1], int)
        self._slot[self._lines.ravel()] = np.arange(self._lines.size)
        self.set_com(np.zeros(3))

    def set_com(self, com: FloatArray) -> None:
        """Take the point [m], (3,), that the torques of wrenches to share are about.

        The smallest thrusts for a wrench are the same whatever point describes it, so it is moved
        to the origin, and no point needs a pseudoinverse of its own.
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
