# SPDX-License-Identifier: Apache-2.0
"""Numbers and texts for the data of a page."""
from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

_DIGITS = 5  # significant digits
_ESCAPED = {ord(c): f'\\u{ord(c):04x}' for c in '<>&\u2028\u2029'}
"""Characters that could end a script, or begin a comment or an entity."""


def flat(values: Any, digits: int = _DIGITS) -> list[float | None]:
    """Return numbers in one row, rounded to some digits; None for one that is not finite."""
    row: Iterable[float] = np.ravel(np.asarray(values, float)).tolist()
    # Adding 0 turns -0 into 0, which is shorter.
    return [
        _short(float(f'{value:.{digits}g}') + 0.0) if abs(value) < np.inf else None
        for value in row
    ]


def column(values: FloatArray) -> list[float | None]:
    """Return the values of all frames, or a single one if all are the same."""
    rows = flat(values)
    return rows[:1] if rows.count(rows[0]) == len(rows) else rows


def as_json(value: Any) -> str:
    """Return JSON that cannot end a script element, whatever its texts contain."""
    text = json.dumps(value, allow_nan=False, separators=(',', ':'))
    return text.translate(_ESCAPED)


def _short(value: float) -> float:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def thinned(time: FloatArray, value: FloatArray, limit: int) -> tuple[FloatArray, FloatArray]:
    """Return a series thinned to a number of points: lowest and highest of each part."""
    if len(time) <= limit:
        return time, value
    edges = np.linspace(0, len(time), limit // 2 + 1).astype(int)
    kept: list[int] = []
    for begin, end in itertools.pairwise(edges):
        part = value[begin:end]
        if np.isnan(part).all():
            kept.append(int(begin))
            continue
        kept += sorted({int(begin + np.nanargmin(part)), int(begin + np.nanargmax(part))})
    chosen = sorted({0, *kept, len(time) - 1})
    return time[chosen], value[chosen]
