# SPDX-License-Identifier: Apache-2.0
"""How far the clocks of sensors and pyro receivers are from this computer's."""
from __future__ import annotations

from collections.abc import Iterator

OLDEST_NS, NEWEST_NS = -200_000_000, 100_000_000
"""How far behind and ahead of this computer's time a live stamp may be [ns]."""
_WINDOW_NS = 1_000_000_000


class ClockOffsets:
    """Measures by the messages that came fastest: travel makes a stamp older, never newer."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget what was measured."""
        self._best: dict[str, tuple[int, int]] = {}

    def note(self, source: str, stamp_ns: int, now_ns: int, steady_ns: int) -> None:
        """Take the stamp of a message that comes now."""
        offset_ns = stamp_ns - now_ns
        begun_ns, best_ns = self._best.get(source, (steady_ns, offset_ns))
        if steady_ns - begun_ns > _WINDOW_NS:
            begun_ns, best_ns = steady_ns, offset_ns
        self._best[source] = begun_ns, max(best_ns, offset_ns)

    @property
    def problem(self) -> str:
        """Which clocks are off, '' for none."""
        return '; '.join(self._problems())

    def _problems(self) -> Iterator[str]:
        for source, (_, offset_ns) in self._best.items():
            if not OLDEST_NS <= offset_ns <= NEWEST_NS:
                yield f"the clock of {source} is {offset_words(offset_ns)} this computer's"


def offset_words(offset_ns: int) -> str:
    """Return how far ahead or behind something is, in words."""
    return f'{abs(offset_ns) * 1e-9:.3f} s {"ahead of" if offset_ns > 0 else "behind"}'
