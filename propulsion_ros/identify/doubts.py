# SPDX-License-Identifier: Apache-2.0
"""What of a recording looks wrong beside the model: commands without change, swapped actuators."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment

from propulsion_ros.identify.fit import Fit
from propulsion_ros.identify.recording import Recording
from propulsion_ros.settings.quantity import FloatArray

_STILL = 0.005
_CLEAR, _ALIKE, _BETTER = 0.3, 0.6, 0.25
"""How well thrusts explain the turning, how alike it is to the geometry, and by how much more."""
_MORE = 0.2
"""By how much more of the turning is explained by another order, where it is another one."""


def command_doubts(recording: Recording) -> Iterator[str]:
    """Yield which commands never change: they excite nothing."""
    largest = max(
        (float(np.max(np.abs(each.value))) for each in recording.commands.values()), default=0.0
    )
    still = []
    for name, each in recording.commands.items():
        kept = each.value[recording.is_kept(each.time)]
        if len(kept) and float(np.std(kept)) <= _STILL * max(largest, 1e-12):
            still.append(name)
    if still:
        yield f'no excitation: the command of {", ".join(still)} does not change'


def geometry_doubts(fit: Fit) -> Iterator[str]:
    """Yield which actuators seem to be swapped: the body turns as others would turn it."""
    turning = fit.problem.turning(fit.place)
    if turning is None:
        return
    rates, columns, geometry, names = turning
    if len(rates) < 50 * len(names) or len(names) < 2:
        return
    effect, *_ = np.linalg.lstsq(columns, rates, rcond=1e-6)
    left = rates - columns @ effect
    is_clear = 1.0 - np.square(left).sum() / max(float(np.square(rates).sum()), 1e-300) > _CLEAR
    alike = _unit(effect.T).T @ _unit(geometry)
    rows, order = linear_sum_assignment(-alike)
    as_named = float(np.trace(alike)) / len(names)
    best = float(alike[rows, order].sum()) / len(names)
    # Actuators at one place, or with the same commands, explain as much in any order.
    more = _explained(rates, columns, geometry[:, order]) - _explained(rates, columns, geometry)
    if is_clear and best > _ALIKE and as_named < best - _BETTER and more > _MORE:
        pairs = [f'{names[i]} as {names[j]}' for i, j in enumerate(order.tolist()) if i != j]
        yield (
            f'swapped? the body turns as if {", ".join(pairs)}: compare columns, names and '
            'positions'
        )


def _explained(rates: FloatArray, columns: FloatArray, geometry: FloatArray) -> float:
    """Return the share of rates, (r, 2), that thrusts explain by a geometry, (2, n)."""
    made = columns @ geometry.T
    scale = (made * rates).sum(axis=0) / np.maximum(np.square(made).sum(axis=0), 1e-300)
    left = np.square(rates - made * np.maximum(scale, 0.0)).sum()
    return float(1.0 - left / max(float(np.square(rates).sum()), 1e-300))


def _unit(rows: FloatArray) -> FloatArray:
    """Return columns of one length, each axis over its largest."""
    scaled = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    return np.asarray(scaled / np.maximum(np.linalg.norm(scaled, axis=0), 1e-300))
