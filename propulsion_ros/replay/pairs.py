# SPDX-License-Identifier: Apache-2.0
"""Times and values in a tenth of the memory that a list of pairs takes."""
from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from propulsion_ros.settings.quantity import FloatArray


class Pairs(Sequence[tuple[float, float]]):
    """Times [s] and values, as a list of pairs has them."""

    def __init__(self) -> None:
        self._numbers = array('d')

    def add(self, time: float, value: float) -> None:
        """Append a pair."""
        self._numbers.extend((time, value))

    def __len__(self) -> int:
        return len(self._numbers) // 2

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return zip(self._numbers[::2], self._numbers[1::2], strict=True)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [*self][index]
        at = 2 * range(len(self))[index]
        return self._numbers[at], self._numbers[at + 1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """Return a copy, (t, 2)."""
        return np.array(self._numbers, dtype).reshape(-1, 2)
