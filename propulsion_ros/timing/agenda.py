# SPDX-License-Identifier: Apache-2.0
"""What is done at places in the order of stamped inputs."""
from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple

NEVER, FOREVER = -(2**63), 2**63
"""Before and after every stamp [ns]."""


class Place(NamedTuple):
    """A place in the order in which inputs are applied."""

    stamp_ns: int
    source: str = ''
    """Behind the inputs of this source with this stamp; '' for behind all of the stamp."""


class Agenda:
    """What is done at places in the order of the inputs, by the loop that passes them.

    Parameters
    ----------
    sources : sequence of str
        Inputs, in the order in which equal stamps apply.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self._order = {source: i for i, source in enumerate(sources)}
        self._waiting: list[tuple[int, int, int, Callable[[], None]]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def clear(self) -> None:
        """Forget everything."""
        self._waiting.clear()

    def add(self, place: Place, act: Callable[[], None]) -> None:
        """Do something behind a place, and behind what was added for it before."""
        order = self._order.get(place.source, len(self._order))
        self._count += 1
        heapq.heappush(self._waiting, (place.stamp_ns, order, self._count, act))

    def pass_to(self, stamp_ns: int, source: str = '') -> None:
        """Do what is due before the inputs of a source with this stamp, before a tick for ''."""
        here = stamp_ns, self._order.get(source, len(self._order))
        while self._waiting and self._waiting[0][:2] < here:
            heapq.heappop(self._waiting)[3]()
