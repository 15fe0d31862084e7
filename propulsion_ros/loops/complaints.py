# SPDX-License-Identifier: Apache-2.0
"""What is wrong, counted each time and logged a few times."""
from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

from propulsion_ros.settings.errors import one_line

_COMPLAINTS, _COMPLAINT_NS = 5, 5_000_000_000


class Complaints:
    """Counts complaints by kind, and logs each line once, at most 5 of a kind in 5 s.

    Parameters
    ----------
    warn : callable
        Logs a line.
    steady_ns : callable
        Returns a time that is never set back [ns].

    Attributes
    ----------
    counts : collections.Counter
        How often each kind was added.
    """

    def __init__(self, warn: Callable[[str], object], steady_ns: Callable[[], int]) -> None:
        self._warn, self._steady_ns = warn, steady_ns
        self.counts: Counter[str] = Counter()
        self._logged: dict[str, deque[tuple[int, str]]] = {}

    def add(self, key: str, text: str) -> None:
        """Count a complaint of a kind, and log it unless that was done often already."""
        self.counts[key] += 1
        line = one_line(' '.join(text.split()))
        logged = self._logged.setdefault(key, deque(maxlen=_COMPLAINTS))
        now_ns = self._steady_ns()
        is_full = len(logged) == _COMPLAINTS and now_ns - logged[0][0] < _COMPLAINT_NS
        if not is_full and line not in [text for _, text in logged]:
            logged.append((now_ns, line))
            self._warn(line)
