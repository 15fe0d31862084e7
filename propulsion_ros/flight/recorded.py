# SPDX-License-Identifier: Apache-2.0
"""The flight that was recorded before a restart, until it is resumed or dropped."""
from __future__ import annotations

import math
from collections.abc import Callable

from propulsion_ros.flight.belief.departure import Departure
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.resumption import Outcome, Resumption
from propulsion_ros.flight.snapshot import Snapshot


class RecordedFlight:
    """Keeps the record that is offered after a restart, and decides when it is resumed.

    Parameters
    ----------
    params : FlightParams
        The ``resume_`` limits.
    notify : callable
        Receives what an operator must know.
    trusts_stamps : bool
        See `Resumption`.

    Attributes
    ----------
    was_armed : bool
        Whether the vehicle was armed on its pad before the restart, and is not now.
    """

    def __init__(
        self, params: FlightParams, notify: Callable[[str], object], *, trusts_stamps: bool
    ) -> None:
        self._params, self._notify, self._trusts_stamps = params, notify, trusts_stamps
        self.reset()

    def reset(self) -> None:
        """Forget it, without a notice."""
        self._resumption: Resumption | None = None
        self.was_armed = False

    @property
    def is_held(self) -> bool:
        """Whether a record may still be resumed, also one that was set aside."""
        return self._resumption is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a record waits to be resumed or dropped."""
        return self._resumption is not None and not self._resumption.is_aside

    def offer(
        self, snapshot: Snapshot, heartbeat_age: float = math.inf, least_age: float = math.nan
    ) -> None:
        """Take a record; see `Resumption`."""
        self._resumption = Resumption(
            self._params, snapshot, heartbeat_age, self._trusts_stamps, least_age
        )

    def judge(
        self, clock_ns: int, sample: Sample, velocity: float, departure: Departure | None
    ) -> Resumption | None:
        """Take a sample, its measured velocity and a departure; return what is to be resumed."""
        record = self._resumption
        if record is None:
            return None
        verdict = record.judge(
            clock_ns, sample.stamp_ns, sample.altitude, velocity, sample.acceleration, departure
        )
        if verdict.outcome is Outcome.RESUME:
            self._resumption = None
            return record
        if verdict.outcome is Outcome.DROP:
            self.drop(verdict.reason)
        elif verdict.outcome is Outcome.SET_ASIDE:
            record.is_aside = self.was_armed = True
            self._notify(
                f'it was armed before the restart and is not armed now: {verdict.reason}; '
                'request launch again'
            )
        return None

    def drop(self, reason: str) -> None:
        """Drop the record, with a notice unless it was set aside with one."""
        record, self._resumption = self._resumption, None
        if record is not None and not record.is_aside:
            phase = record.snapshot.phase.value
            self._notify(f'the recorded flight, in {phase}, is not resumed: {reason}')
