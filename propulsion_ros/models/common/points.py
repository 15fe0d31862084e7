# SPDX-License-Identifier: Apache-2.0
"""Curves that a parameter has as a text of numbers."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray

LARGEST = 1e12
"""No number is larger, in SI units."""
_MOST_CELLS = 1_000_000


def check_cells(key: str, lengths: Sequence[int]) -> None:
    """Refuse rows of several lengths that take too much memory as one array."""
    cells = len(lengths) * max(lengths, default=0)
    if cells > _MOST_CELLS:
        raise ConfigError(
            key, f'{len(lengths)} rows as long as the longest, of {max(lengths)} points, are '
            f'{cells} in all, expected at most {_MOST_CELLS}'
        )


class Curves:
    """n functions, each a polynomial or lines between points, constant beyond the last ones.

    Parameters
    ----------
    rows : sequence of FloatArray
        Coefficients of each from the constant one on, (k,), or its points, (2, k).
    is_table : bool
        Whether they are points.
    """

    def __init__(self, rows: Sequence[FloatArray], is_table: bool) -> None:
        self._tables = rows if is_table else None
        size = max((len(row) for row in rows), default=1)
        # The highest power first; of rows of several lengths the others have 0 of it.
        self._factors = () if is_table else np.array(
            [np.pad(row, (0, size - len(row))) for row in rows]
        ).T[::-1]

    def at(self, x: FloatArray) -> FloatArray:
        """Return the values at x, (..., n)."""
        if self._tables is not None:
            return by_rows(x, self._tables)
        value = np.zeros(x.shape)
        for factor in self._factors:
            value = value * x + factor
        return value


def by_rows(
    x: FloatArray, rows: Sequence[FloatArray | tuple[FloatArray, FloatArray]]
) -> FloatArray:
    """Return the values at x, (..., n), of lines between the points of n rows, (2, k) each."""
    return np.stack([np.interp(x[..., i], *row) for i, row in enumerate(rows)], axis=-1)


def numbers_of(key: str, text: str, index: int | None = None) -> list[float]:
    """Return the numbers of a text, apart by blanks or commas.

    Raises `ConfigError` for what is no number, not finite, or larger than 1e12.
    """
    values = []
    for word in text.replace(',', ' ').split():
        try:
            values.append(float(word))
        except ValueError:
            raise ConfigError(key, f'expected a number, got {word!r}', index) from None
        if not abs(values[-1]) <= LARGEST:
            raise ConfigError(key, f'expected a number of at most {LARGEST:g}, got {word}', index)
    check_cells(key, [len(values)])
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
