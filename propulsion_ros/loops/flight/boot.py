# SPDX-License-Identifier: Apache-2.0
"""The boot of the computer, and the clock that runs since then and is never set."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Boot:
    """Which boot this is, and how long ago it was.

    Attributes
    ----------
    id : str
        Another one after each boot; '' where it is unknown.
    now_ns : callable
        Time since boot, sleep included [ns].
    """

    id: str = ''
    now_ns: Callable[[], int] = lambda: 0

    def age(self, boot_id: str, boot_ns: int) -> float:
        """Return how long ago a time of a boot was [s], infinity where it is unknown."""
        elapsed_ns = self.now_ns() - boot_ns
        is_known = bool(self.id) and boot_id == self.id and elapsed_ns >= 0
        return elapsed_ns * 1e-9 if is_known else math.inf

    def least_age(self, boot_id: str) -> float:
        """Return how old at least something of another boot is [s], NaN where that is unknown."""
        is_other = bool(self.id) and bool(boot_id) and boot_id != self.id
        return self.now_ns() * 1e-9 if is_other else math.nan
