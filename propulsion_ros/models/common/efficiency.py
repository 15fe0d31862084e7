# SPDX-License-Identifier: Apache-2.0
"""Faults of actuators: a live factor on what each of them gives, alike in every family."""
from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.settings.quantity import BoolArray, FloatArray, per_row

T = TypeVar('T', bound=NDArray[Any])


def live_factor(doc: str) -> Any:
    """Return the quantity of factors from 0 to 1 that may change while running, (n,).

    ``doc`` names what they act on.
    """
    return per_row(1.0, doc=doc, lo=0.0, hi=1.0, live=True)


class Degrading:
    """Base of a family whose actuators may each give less than they should.

    Its configuration has a `live_factor` named ``efficiency``, for which no command makes up. The
    family calls `retune` when it is made, and passes what its actuators give to `_degrade`. Those
    with an efficiency below 1 are ``degraded``, (n,); it is their ``effectiveness``, (n,).
    """

    def retune(self, params: Any) -> None:
        """Take the ``efficiency`` of a configuration."""
        efficiency: FloatArray = params.efficiency
        self.degraded: BoolArray = efficiency < 1.0
        self.effectiveness: FloatArray = efficiency
        # Nothing is multiplied while all are healthy.
        self._efficiency = efficiency if self.degraded.any() else None

    def _degrade(self, values: T) -> T:
        """Multiply values of the actuators, (..., n), by their efficiency in place; return them."""
        if self._efficiency is not None:
            np.multiply(values, self._efficiency, out=values)
        return values
