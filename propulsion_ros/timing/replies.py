# SPDX-License-Identifier: Apache-2.0
"""Which sources reply to the steps of a simulation, and which count as nothing until they do."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

_BACK_NS = 1_000_000_000
"""A source that was left out is back with a message that is no older than this [ns]."""


class Replies:
    """Keeps what each awaited source has sent last, and which of them are not waited for.

    Parameters
    ----------
    pushing : sequence of str
        Sources of wrenches: without any of them there is nothing to simulate.
    weighing : sequence of str
        Sources of masses.
    """

    def __init__(self, pushing: Sequence[str], weighing: Sequence[str]) -> None:
        self._pushing, self._sources = tuple(pushing), (*pushing, *weighing)
        self.restart()

    def restart(self) -> None:
        """Wait for every source again, and forget what they have sent."""
        self.left_out: dict[str, None] = {}
        self._ended: set[str] = set()
        self._last: dict[str, tuple[int, int | None]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether neither a wrench nor a mass is waited for."""
        return all(source in self.left_out for source in self._sources)

    def note(self, source: str, stamp_ns: int) -> None:
        """Note the stamp of a message."""
        before = self._last.get(source)
        if before is None or stamp_ns != before[0]:
            self._last[source] = stamp_ns, before and before[0]

    def has_sent(self, source: str, stamp_ns: int) -> bool:
        """Return whether the last message of a source has this stamp."""
        last = self._last.get(source)
        return last is not None and last[0] == stamp_ns

    def end(self, source: str) -> None:
        """Note that a source has published its last wrench, as an actuator does that is paused."""
        self._ended.add(source)

    def is_back(self, source: str, stamp_ns: int, now_ns: int) -> bool:
        """Return whether a message makes a source that was left out be waited for again."""
        if source not in self.left_out or not 0 <= now_ns - stamp_ns <= _BACK_NS:
            return False
        del self.left_out[source]
        self._ended.discard(source)
        return True

    def leave_out(self, sources: Iterable[str]) -> None:
        """Wait no longer for some sources."""
        self.left_out.update(dict.fromkeys(sources))

    def can_leave_out(self, silent: Sequence[str], has_publisher: Callable[[str], bool]) -> bool:
        """Return whether a simulation makes sense without the sources that are silent.

        An actuator that was paused ends nothing; but one that has vanished does, and so do
        actuators that are all silent without having been paused: then their commands are missing.
        """
        present = [source for source in self._pushing if has_publisher(source)]
        vanished = [
            source for source in silent
            if source in self._pushing and source not in present and source not in self._ended
        ]
        absent = {*silent, *self.left_out}
        are_paused = all(source in self._ended for source in self._pushing if source in silent)
        replied = any(source not in absent for source in self._pushing)
        return bool(present) and not vanished and (replied or are_paused)

    def period_ns(self, source: str) -> int | None:
        """Return how far apart the last two stamps of a source lie, None before the second."""
        last = self._last.get(source)
        return None if last is None or last[1] is None else last[0] - last[1]
