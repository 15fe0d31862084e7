# SPDX-License-Identifier: Apache-2.0
"""What the sensors themselves measured, before any filter."""
from __future__ import annotations

import math
from typing import NamedTuple

Vector = tuple[float, float, float]
_UNKNOWN = (math.nan, math.nan, math.nan)


class Readings(NamedTuple):
    """What the sensors measured since the last sample; NaN where they did not.

    Attributes
    ----------
    height : float
        By a barometer or a position, above the pad [m].
    speed : float
        Upward [m/s].
    force : Vector
        Specific force in any axes [m/s^2].
    rate : Vector
        Rate of turn in any axes [rad/s].
    """

    height: float = math.nan
    speed: float = math.nan
    force: Vector = _UNKNOWN
    rate: Vector = _UNKNOWN
