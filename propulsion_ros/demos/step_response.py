# SPDX-License-Identifier: Apache-2.0
"""How a controlled value follows a step of its target."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

BAND = 0.02
"""Part of the step within which a value has settled."""


@dataclass(frozen=True)
class StepResponse:
    """The usual figures of a step response; NaN where the step was not reached."""

    size: float
    """Of the step, in the unit of the value."""
    settling_time: float
    """From the step until the value stays within `BAND` [s]; NaN where it does not."""
    overshoot: float
    """Largest excess over the target, as a part of the step."""
    error: float
    """Value minus target at the end, in the unit of the value."""


def step_response(rows: FloatArray, start: float, target: float) -> StepResponse:
    """Return the figures of the response to a step from ``start`` to ``target``.

    Parameters
    ----------
    rows : FloatArray
        Times [s] from the step on and values, (n, 2).
    start, target : float
        In the unit of the value.
    """
    size = target - start
    if not len(rows):
        return StepResponse(size, np.nan, np.nan, np.nan)
    progress = (rows[:, 1] - start) / size
    outside = np.flatnonzero(np.abs(progress - 1.0) > BAND)
    first = int(outside[-1]) + 1 if len(outside) else 0
    settled = float(rows[first, 0] - rows[0, 0]) if first < len(rows) else np.nan
    overshoot = max(float(progress.max()) - 1.0, 0.0)
    return StepResponse(size, settled, overshoot, float(rows[-1, 1] - target))
