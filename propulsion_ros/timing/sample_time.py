# SPDX-License-Identifier: Apache-2.0
"""When the newest sample was measured, and how long ago it came."""
from __future__ import annotations


class SampleTime:
    """Follows the stamps of samples, and the steady clock on which they come.

    Parameters
    ----------
    steady_ns : int
        Now, on a clock that is never set back [ns].

    Attributes
    ----------
    stamp_ns : int
        Newest time that was taken [ns]: a sample's, or one beyond it while no sample comes.
    """

    def __init__(self, steady_ns: int = 0) -> None:
        self.reset(steady_ns)

    def reset(self, steady_ns: int) -> None:
        """Begin as if a sample of stamp 0 came now."""
        self.stamp_ns = 0
        self.take(0, steady_ns)

    def take(self, stamp_ns: int, steady_ns: int) -> None:
        """Take the stamp of a sample that came now."""
        self.stamp_ns = self._sample_ns = stamp_ns
        self._taken_ns = steady_ns

    def begin(self, stamp_ns: int, steady_ns: int) -> None:
        """Begin as if a sample of a stamp came now, which sensors that are silent do not give."""
        self.take(stamp_ns, steady_ns)

    def go_on(self, stamp_ns: int) -> None:
        """Take a time that has come without a sample."""
        self.stamp_ns = stamp_ns

    def silence_ns(self, steady_ns: int) -> int:
        """Return how long no sample has come [ns]."""
        return steady_ns - self._taken_ns

    def now_ns(self, steady_ns: int) -> int:
        """Return the stamp that a sample of now would have."""
        return self._sample_ns + self.silence_ns(steady_ns)
