# SPDX-License-Identifier: Apache-2.0
"""What a pilot aims at, from one time on to the next."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar


class _Timed(Protocol):
    @property
    def time(self) -> float: ...


TargetT = TypeVar('TargetT', bound=_Timed)


def target_at(plan: Sequence[TargetT], time: float) -> TargetT:
    """Return the last target of a plan that begins no later than a time [s]."""
    return [target for target in plan if target.time <= time + 1e-9][-1]
