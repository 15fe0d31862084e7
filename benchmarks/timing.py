# SPDX-License-Identifier: Apache-2.0
"""CPU time of functions that are measured side by side."""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

_BLOCK_TIME = 3e-3
_BLOCKS = 61


def cpu_medians(
    calls: Mapping[str, Callable[[], object]], blocks: int = _BLOCKS
) -> dict[str, float]:
    """Return the median CPU time of one call of each function [s].

    Blocks of calls take turns, so that what else the machine does falls on all of them alike.

    Parameters
    ----------
    calls : mapping of str to callable
        What is measured, by name.
    blocks : int
        Number of blocks for each function.
    """
    counts = {name: _calls_per_block(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(blocks):
        for name, call in calls.items():
            # What the other functions left in the caches is not this one's cost.
            call()
            times[name].append(_block(call, counts[name]) / counts[name])
    return {name: statistics.median(values) for name, values in times.items()}


def _block(call: Callable[[], object], count: int) -> float:
    started = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - started


def _calls_per_block(call: Callable[[], object]) -> int:
    """Return how many calls last about `_BLOCK_TIME`; this also warms up what is lazy."""
    call()
    count = 1
    while (spent := _block(call, count)) < _BLOCK_TIME:
        count = max(2 * count, int(count * _BLOCK_TIME / max(spent, 1e-6)))
    return max(1, int(count * _BLOCK_TIME / spent))
