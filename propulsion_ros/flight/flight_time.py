# SPDX-License-Identifier: Apache-2.0
"""The time of a flight: message stamps, on a robot within limits about its steady clock."""
from __future__ import annotations

from propulsion_ros.timing.flight_clock import FlightClock, Stamp

LEAD_NS = 100_000_000
"""How far flight time may be ahead of the steady clock, because messages come in bursts [ns]."""

LAG_NS = 1_000_000_000
"""How far it may be behind, because messages come late: the backup timer must not wait [ns]."""


class FlightTime:
    """A `FlightClock` that goes with a steady clock, but for `LEAD_NS` and `LAG_NS`.

    The limits count from an anchor. The anchor is set again at each moment from which times are
    counted, such as liftoff. So the time since such a moment is never more than `LEAD_NS` too
    long, also if the stamps were slow before it, and never more than `LAG_NS` too short, as it
    would be where a queue of messages grows. Within these limits stamps that come in bursts or
    late lose no time. Without steady time, as in simulation and replay, only stamps count.

    Parameters
    ----------
    longest_step : float
        No gap between two stamps counts for more [s].
    reanchors : bool
        See `FlightClock`.

    Attributes
    ----------
    now_ns : int
        The time of the flight; it runs backward only when time restarts.
    """

    def __init__(self, longest_step: float, *, reanchors: bool = False) -> None:
        self._clock = FlightClock(longest_step, reanchors=reanchors)
        self.reset()

    def reset(self) -> None:
        """Start again at 0, without a stamp; the counts go on."""
        self._clock.reset()
        self._steady_ns: int | None = None
        self._set(0)

    def _set(self, now_ns: int) -> None:
        """Set the time, and count the limit from it."""
        self.now_ns = now_ns
        self._ahead_ns = self._clock.now_ns - now_ns
        self._anchor: tuple[int, int] | None = None
        if self._steady_ns is not None:
            self._anchor = self._steady_ns, now_ns

    @property
    def stamp_ns(self) -> int | None:
        """Last stamp that was accepted [ns]."""
        return self._clock.stamp_ns

    @property
    def counts(self) -> dict[Stamp, int]:
        """How many stamps were of each kind."""
        return self._clock.counts

    def note(self, steady_ns: int | None) -> None:
        """Take the steady time [ns] of something that is no sample; None where it is unknown."""
        if steady_ns is not None:
            self._steady_ns = steady_ns

    def anchor(self) -> None:
        """Count the limit from now, because times will be counted from now."""
        self._set(self.now_ns)

    def begin_flight(self) -> None:
        """Take the last stamp as the first of a flight."""
        self._clock.begin_flight()
        self.anchor()

    def resume(self, now_ns: int, first_ns: int) -> None:
        """Continue at the time that a flight before a restart has now; see `FlightClock.resume`."""
        self._clock.resume(now_ns, first_ns)
        self._set(now_ns)

    def advance(
        self,
        stamp_ns: int,
        steady_ns: int | None,
        *,
        may_restart: bool,
        is_silence: bool = False,
    ) -> Stamp:
        """Take a stamp and classify it; time advances if it is accepted.

        Parameters
        ----------
        stamp_ns : int
            Of a sample [ns].
        steady_ns : int or None
            When it came, on a steady clock [ns]; None where only stamps count.
        may_restart : bool
            Whether stamps that are earlier than the flight mean that time has started again.
        is_silence : bool
            Whether no sample has this stamp.
        """
        if is_silence:
            verdict = self._clock.pass_silence(stamp_ns)
        else:
            verdict = self._clock.advance(stamp_ns, may_restart=may_restart)
        self._steady_ns = steady_ns
        if not verdict.is_accepted:
            return verdict
        if verdict is Stamp.RESTARTED:
            self._set(self._clock.now_ns)
        elif steady_ns is not None and self._anchor is None:
            # At the first steady time there is nothing to limit the stamps until now.
            self._set(max(self._clock.now_ns - self._ahead_ns, self.now_ns))
        else:
            self._advance_to(self._clock.now_ns - self._ahead_ns, steady_ns)
        return verdict

    def _advance_to(self, wanted_ns: int, steady_ns: int | None) -> None:
        if steady_ns is not None and self._anchor is not None:
            begun_ns, since_ns = self._anchor
            steady_now_ns = since_ns + steady_ns - begun_ns
            wanted_ns = min(max(wanted_ns, steady_now_ns - LAG_NS), steady_now_ns + LEAD_NS)
        self.now_ns = max(self.now_ns, wanted_ns)
