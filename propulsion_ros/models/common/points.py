# SPDX-License-Identifier: Apache-2.0
"""Curves that a parameter has as a text of numbers."""
from __future__ import annotations

import numpy as np

from propulsion_ros.models.common.thrust_curve import check_cells
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray

_LARGEST = 1e12


def numbers_of(key: str, text: str, index: int | None = None) -> list[float]:
    """Return the numbers of a text, apart by blanks or commas.

    Raises `ConfigError` for what is no number, not finite, or larger than 1e12.
    """
    try:
        values = [float(word) for word in text.replace(',', ' ').split()]
    except ValueError as error:
        raise ConfigError(key, f'expected numbers: {error}', index) from None
    check_cells(key, [len(values)])
    if not all(abs(value) <= _LARGEST for value in values):
        raise ConfigError(key, f'expected finite numbers of at most {_LARGEST:g}', index)
    return values


def pairs_of(
    key: str, values: list[float], parts: str, index: int | None = None, least: int = 2
) -> tuple[FloatArray, FloatArray]:
    """Return the places and the values of 'x0 y0 x1 y1 ...', (k,) each.

    ``parts`` is what they are. Raises `ConfigError` for half a pair, or fewer than ``least``, which
    is one or two.
    """
    if len(values) < 2 * least or len(values) % 2:
        most = ', at least two' if least == 2 else ''
        raise ConfigError(
            key, f'expected pairs of {parts}{most}, got {len(values)} numbers', index
        )
    return np.array(values[::2]), np.array(values[1::2])


def points_of(
    key: str, values: list[float], part: str, index: int
) -> tuple[FloatArray, FloatArray]:
    """Return places, which rise from 0 to 1, and values of 'x0 y0 x1 y1 ...', (k,) each.

    ``part`` is what the places are. Raises `ConfigError` for anything else.
    """
    places, heights = pairs_of(key, values, f'{part} and value', index)
    if places[0] != 0.0 or places[-1] != 1.0 or np.any(np.diff(places) <= 0.0):
        first, last = places[0], places[-1]
        hint = f'; write ({part} - {first:g}) / {last - first:g}' if last > first else ''
        raise ConfigError(
            key, f'expected {part}s that rise from 0 to 1, got {first:g} to {last:g}{hint}', index
        )
    return places, heights
