# SPDX-License-Identifier: Apache-2.0
"""How a family is drawn: as it declares itself, or by the placement of its rows."""
from __future__ import annotations

from typing import Any

import numpy as np

from propulsion_ros.models.common.family import Allocatable, Family
from propulsion_ros.models.common.layout import Drawable, ThrustLayout, placed_rows
from propulsion_ros.settings.quantity import FloatArray

_UNLIMITED = 1e9
"""A limit beyond this [N] is there for the arithmetic and limits no actuator."""
_PLACED = ('names', 'position', 'axis', 'link', 'rotation')


def layout_of(params: Any, family: Family) -> ThrustLayout | None:
    """Return how the actuators of a family are drawn, None for one that has no place for them.

    Parameters
    ----------
    params : object
        Configuration of the family.
    family : Family
        Built from it.
    """
    if isinstance(family, Drawable):
        return family.thrust_layout()
    if not all(hasattr(params, key) for key in _PLACED):
        return None
    limits = family.thrust_limits if isinstance(family, Allocatable) else (np.nan, np.nan)
    lowest, highest = (_known(limit, len(params.names)) for limit in limits)
    return ThrustLayout(**placed_rows(params), lowest=lowest, highest=highest)


def _known(limit: Any, n: int) -> FloatArray:
    """Return limits, (n,), NaN where they are none."""
    limits = np.broadcast_to(limit, n)
    return np.where(np.abs(limits) < _UNLIMITED, limits, np.nan)
