# SPDX-License-Identifier: Apache-2.0
"""What events may do now."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.flight.events.signs import LiveValue, Slope
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.phases.progress import Mark
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

_COMMANDED = ('abort', 'override')
LONGEST = 300.0
"""Longest hold of charges by a climb after a command, without a backup timer [s]."""
_STUCK = 0.5  # a speed that has not changed for so long is unknown [s]
_FALL = 5.0  # downward speed of a certain fall [m/s]
_FALL_WINDOW = 2.0  # time over which a fall is measured [s]
_READING_NS = 50_000_000  # least time between two readings of the altitude [ns]


class Permits(NamedTuple):
    """What the flight allows its events, whatever their conditions are.

    Attributes
    ----------
    deploy : bool
        Whether deployers may act.
    first : bool
        Whether an engine may be lit by the time since ignition, to leave the pad.
    ascent : bool
        Whether any engine may be lit.
    landing : bool
        Whether an engine of the landing may be lit.
    is_over : bool
        Whether the ascent is over, so that engines themselves refuse all but those of the landing.
    climb : float
        Upward speed that holds events whose limit is lower [m/s]; minus infinity if none waits.
    """

    deploy: bool = True
    first: bool = True
    ascent: bool = True
    landing: bool = True
    is_over: bool = False
    climb: float = -math.inf


ANYTHING = Permits()
"""What a flight without protection would allow."""


class Standing(NamedTuple):
    """All that decides what a flight allows.

    Attributes
    ----------
    phase : Phase
        Present phase.
    has_lifted_off : bool
        Whether a liftoff was seen, or an override counts as one.
    is_free : bool
        Whether likely nothing holds the vehicle, nor did before a fall that is still short.
    hovers : bool
        Whether its own engine may hold the vehicle.
    is_ascending : bool
        Whether it certainly climbs.
    is_commanded : bool
        Whether ignition was commanded.
    is_rearmed : bool
        Whether it was armed again after a restart on the pad.
    is_first : bool
        Whether no engine was lit yet, or the first of them only just.
    """

    phase: Phase
    has_lifted_off: bool
    is_free: bool
    hovers: bool
    is_ascending: bool
    is_commanded: bool
    is_rearmed: bool
    is_first: bool


def permits_of(now: Standing) -> Permits:
    """Return what a flight of such a standing allows."""
    flies = now.has_lifted_off and now.phase in (Phase.FLIGHT, Phase.RECOVERY)
    # If the first engine does not lift it off, people come near: no other may be lit.
    leaves_pad = now.phase is Phase.LAUNCH and now.is_first
    burns_on = flies and (now.is_free or now.hovers)
    may_stage = now.is_commanded or not now.is_rearmed
    return Permits(
        deploy=flies and now.is_free,
        first=leaves_pad and now.is_commanded and not now.is_rearmed,
        ascent=burns_on and may_stage and now.phase is Phase.FLIGHT and now.is_ascending,
        landing=burns_on,
        is_over=now.phase is Phase.RECOVERY,
    )


class Speed(NamedTuple):
    """An upward speed [m/s], and when it was measured, on the flight clock [ns]."""

    clock_ns: int
    value: float


class ClimbHold:
    """Upward speed that holds charges after a command has ended the ascent.

    An apogee that was detected, or assumed by the timer, holds none, as the speed may be wrong.
    After a command a live speed counts, since a solid motor burns on after an abort. If the speed
    is unknown or stuck, gravity reduces its last value, for as long as a vehicle that was so fast
    can climb.

    The hold also ends when the altitude certainly falls, and when the backup timer would have
    ended the ascent, or `LONGEST` after the command without one, in case the speed is wrong.

    Parameters
    ----------
    max_ascent_time : float
        Time of the backup timer after liftoff [s]; 0 for none.

    Attributes
    ----------
    latest : Speed or None
        Last known speed.
    """

    def __init__(self, max_ascent_time: float = 0.0) -> None:
        self._longest_ascent_ns = round(max_ascent_time * 1e9)
        self._speed = LiveValue(_STUCK)
        self._slope = Slope(_FALL_WINDOW)
        self.reset()

    def reset(self, latest: Speed | None = None) -> None:
        """Forget the flight, but for the last speed before a restart."""
        self._speed.reset()
        self.latest = latest
        self._forget_command()

    def _forget_command(self) -> None:
        self._slope.reset()
        self._read_ns: int | None = None
        self._end_ns: int | None = None
        self._falls = False

    def update(
        self,
        clock_ns: int,
        velocity: float,
        apogee: Mark | None,
        altitude: float = math.nan,
        liftoff_ns: int | None = None,
    ) -> float:
        """Take upward speed [m/s] and altitude [m] and return `Permits.climb`.

        Parameters
        ----------
        clock_ns : int
            On the flight clock [ns].
        velocity : float
            NaN where unknown.
        apogee : Mark or None
            Of this flight.
        altitude : float
            NaN where unknown.
        liftoff_ns : int or None
            On the flight clock [ns].
        """
        self._speed.update(clock_ns, velocity)
        if math.isfinite(velocity) and (self.latest is None or self._speed.is_alive(clock_ns)):
            self.latest = Speed(clock_ns, velocity)
        if apogee is None or apogee.source not in _COMMANDED:
            self._forget_command()
            return -math.inf
        if self.latest is None:
            return -math.inf
        self._watch_fall(clock_ns, altitude)
        then_ns, speed = self.latest
        end_ns = then_ns + round(max(speed, 0.0) / STANDARD_GRAVITY * 1e9)
        self._end_ns = end_ns if self._end_ns is None else max(self._end_ns, end_ns)
        if self._falls or clock_ns >= min(self._end_ns, self._limit_ns(liftoff_ns, apogee)):
            return -math.inf
        return speed - STANDARD_GRAVITY * (clock_ns - then_ns) * 1e-9

    def _watch_fall(self, clock_ns: int, altitude: float) -> None:
        """Detect a certain fall of the altitude, by readings `_READING_NS` apart."""
        is_due = self._read_ns is None or clock_ns - self._read_ns >= _READING_NS
        if self._falls or not is_due or not math.isfinite(altitude):
            return
        self._read_ns = clock_ns
        self._slope.update(clock_ns, altitude)
        self._falls = self._slope.value < 0.0 and self._slope.exceeds(_FALL)

    def _limit_ns(self, liftoff_ns: int | None, apogee: Mark) -> int:
        """Return when the hold ends whatever the speed is, on the flight clock [ns]."""
        if liftoff_ns is not None and self._longest_ascent_ns:
            return liftoff_ns + self._longest_ascent_ns
        return apogee.clock_ns + round(LONGEST * 1e9)
