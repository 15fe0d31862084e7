# SPDX-License-Identifier: Apache-2.0
"""Constants of rotors that are fixed, or drawn anew for every rotor and environment."""
from __future__ import annotations

from typing import Any

import numpy as np

from propulsion_ros.settings.quantity import FloatArray, quantity


def drawn_range(name: str, unit: str) -> Any:
    """Return the quantity of the ends of the ranges of a constant, (n, 2)."""
    doc = f'low and high end to draw {name} from; 0 0 keeps the fixed value'
    return quantity((0.0, 0.0), unit, lo=0.0, shape=('n', 2), doc=doc)


class RotorConstants:
    """Named constants of n rotors, some of them drawn evenly from ranges.

    Parameters
    ----------
    fixed : dict of str to FloatArray
        Values without a range, each (n,).
    ranges : dict of str to FloatArray
        Low and high ends, each (n, 2), under the same names; 0 0 keeps the fixed value.
    shape : tuple of int
        Of what is drawn, (..., n).
    seed : int
        Equal seeds give equal draws.
    """

    def __init__(
        self,
        fixed: dict[str, FloatArray],
        ranges: dict[str, FloatArray],
        shape: tuple[int, ...],
        seed: int,
    ) -> None:
        self._generator = np.random.default_rng(seed)
        self._values: dict[str, FloatArray] = dict(fixed)
        self._ends: dict[str, tuple[FloatArray, FloatArray]] = {}
        for name, ends in ranges.items():
            drawn = ends[:, 1] > 0.0
            if drawn.any():
                low, high = (np.where(drawn, end, fixed[name]) for end in ends.T)
                self._ends[name] = low, high
                self._values[name] = np.empty(shape)
        self.draw(...)

    def __getitem__(self, name: str) -> FloatArray:
        """Return the present values, (n,), or (..., n) where they are drawn."""
        return self._values[name]

    def draw(self, indices: Any) -> None:
        """Draw new values in place for some of the leading axes."""
        for name, (low, high) in self._ends.items():
            values = self._values[name]
            values[indices] = self._generator.uniform(low, high, values[indices].shape)
