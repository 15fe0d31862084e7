# SPDX-License-Identifier: Apache-2.0
"""Whether a process grows: resident memory against time."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

PAGE = 4096
SHORTEST = 480.0
"""A life of which less was seen shows no growth [s]: caches and histories fill for minutes."""
STEEPEST = 0.2
"""Growth over the second half of a life, beyond a bare node's, that is no noise [MB/min]."""


def resident(pid: int) -> float:
    """Return the resident memory of a process [MB], shared pages too."""
    pages = int(Path(f'/proc/{pid}/statm').read_text(encoding='ascii').split()[1])
    return pages * PAGE / 1e6


@dataclass
class Memory:
    """Samples of one process: seconds since the start of the run, and megabytes."""

    times: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)

    def sample(self, time: float, size: float) -> None:
        """Add one."""
        self.times.append(time)
        self.sizes.append(size)

    @property
    def slope(self) -> float | None:
        """Growth over the second half [MB/min], None where too little was seen."""
        if not self.times or self.times[-1] - self.times[0] < SHORTEST:
            return None
        times, sizes = np.array(self.times), np.array(self.sizes)
        later = times >= (times[0] + times[-1]) / 2.0
        return float(np.polyfit(times[later] / 60.0, sizes[later], 1)[0])

    def grows(self, bare: Memory) -> bool:
        """Whether it grew more than a bare node, in which DDS meets the same others come and go."""
        beside = max(bare.slope or 0.0, 0.0)
        return self.slope is not None and self.slope - beside > STEEPEST


def steepest(lives: Sequence[Memory]) -> Memory | None:
    """Return the life that grew most, None where none was seen for long enough."""
    known = [(life.slope, life) for life in lives if life.slope is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None
