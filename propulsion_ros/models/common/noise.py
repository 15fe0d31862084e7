# SPDX-License-Identifier: Apache-2.0
"""Noise that is a function of the tick alone, so that replays repeat it."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.quantity import FloatArray, IntArray

_BLOCK = 1024


class TickNoise:
    """Standard normal noise of n independent channels, drawn by tick number.

    Each channel has a counter-based generator (Philox) keyed by its seed; the counter is the
    number of a block of ticks. What a tick gets depends on the seed and the tick, not on which
    ticks were drawn before.
    """

    def __init__(self, seeds: IntArray, batch: tuple[int, ...] = ()) -> None:
        self._seeds = [int(seed) for seed in seeds]
        self._batch = batch
        self._length = max(1, _BLOCK // max(1, int(np.prod(batch, dtype=int))))
        self._number: int | None = None
        self._block = np.empty(0)

    def at(self, tick: int) -> FloatArray:
        """Return the noise of one tick, shape (*batch, n)."""
        number, offset = divmod(tick, self._length)
        if number != self._number:
            self._number = number
            self._block = self._draw(number)
        sample: FloatArray = self._block[offset]
        return sample

    def _draw(self, number: int) -> FloatArray:
        shape = (self._length, *self._batch)
        # The high counter word holds the block, so that no two blocks can overlap.
        counter = np.array([0, 0, 0, number % 2**64], dtype=np.uint64)
        streams = [
            np.random.Generator(np.random.Philox(key=seed, counter=counter)).standard_normal(shape)
            for seed in self._seeds
        ]
        return np.stack(streams, axis=-1) if streams else np.empty((*shape, 0))
