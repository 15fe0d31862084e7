# SPDX-License-Identifier: Apache-2.0
"""Health of one sensor: what of it may be used, and why the rest may not."""
from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum

from propulsion_ros.timing.dwell import Held
from propulsion_ros.timing.stamps import Arrival, StampJudge, StampLimits


class Status(str, Enum):
    """State of a sensor, or the fault of one message."""

    ABSENT = 'absent'  # never heard
    OK = 'ok'
    STALE = 'stale'  # no message
    LATE = 'late'  # older than the one before, or much older than the estimate
    DUPLICATE = 'duplicate'
    INVALID = 'invalid'  # NaN or infinite
    RANGE = 'range'  # beyond what the sensor can read
    STEP = 'step'  # changed faster than it can, and not yet confirmed
    FROZEN = 'frozen'
    INNOVATION = 'innovation'  # contradicts the estimate
    LOCKOUT = 'lockout'  # not to be believed at this speed


class SensorMonitor:
    """Checks the messages of one sensor as they come, and keeps the reason of each refusal.

    A single refused message is counted and changes nothing else. Where no message was good for
    the timeout the sensor is at fault, by the reason of its latest refusal, or stale where it
    fell silent; the first good message makes it well again.

    Parameters
    ----------
    timeout : float
        Age of the latest good message at which the sensor is at fault [s].
    limits : sequence of float
        Largest magnitude of each value.
    steps : sequence of float
        Largest change of each value between two messages; () for none.
    frozen_time : float
        For how long good values may stay the same without being held [s].

    Attributes
    ----------
    counts : dict of Status to int
        How many messages were good, or refused for each reason.
    good_ns : int or None
        Stamp of the latest good message.
    """

    def __init__(
        self,
        timeout: float,
        limits: Sequence[float] = (),
        steps: Sequence[float] = (),
        frozen_time: float = 0.0,
    ) -> None:
        self._timeout_ns = round(timeout * 1e9)
        # The caller judges jumps, so any older stamp is late here.
        self._stamps = StampJudge(StampLimits(behind_ns=None, silent_ns=self._timeout_ns))
        self._held = Held(round(frozen_time * 1e9))
        self._limits = tuple(limits)
        self._steps = tuple(steps)
        self.counts = dict.fromkeys(Status, 0)
        self.reset()

    def reset(self) -> None:
        """Forget the sensor; the counts go on."""
        self._stamps.reset()
        self._held.reset()
        self._suspect: tuple[float, ...] = ()
        self._fault = Status.ABSENT
        self.good_ns: int | None = None

    def arrive(self, stamp_ns: int, values: tuple[float, ...]) -> Status:
        """Take a message and return OK, or why it is refused."""
        status = self._judge(stamp_ns, values)
        if status is Status.OK:
            self._held.repeats(stamp_ns, values)
        else:
            self.refuse(status)
        return status

    def use(self, stamp_ns: int) -> None:
        """Note that a message was good in every respect."""
        self.good_ns = stamp_ns
        self.counts[Status.OK] += 1

    def refuse(self, status: Status) -> None:
        """Note that a message was refused, and why."""
        self._fault = status
        self.counts[status] += 1

    def is_held(self, now_ns: int) -> bool:
        """Return whether the values have not changed for longer than ``frozen_time``."""
        return self._held.is_held(now_ns)

    def is_good(self, now_ns: int) -> bool:
        """Return whether a recent message was good."""
        return self.good_ns is not None and now_ns - self.good_ns <= self._timeout_ns

    def status(self, now_ns: int) -> Status:
        """Return the state of the sensor at a time."""
        if self._stamps.newest_ns is None or self.is_good(now_ns):
            return Status.OK if self._stamps.newest_ns is not None else self._fault
        if self._stamps.is_silent(now_ns) or self._fault is Status.ABSENT:
            return Status.STALE
        return self._fault

    def _judge(self, stamp_ns: int, values: tuple[float, ...]) -> Status:
        arrival = self._stamps.take(stamp_ns)
        if not arrival.advances:
            return Status.DUPLICATE if arrival is Arrival.DUPLICATE else Status.LATE
        if not math.isfinite(sum(values)):
            return Status.INVALID
        for value, limit in zip(values, self._limits, strict=False):
            if abs(value) > limit:
                return Status.RANGE
        last = self._held.value
        if self._steps and last is not None and self._leaps(values, last):
            # The second of two samples that agree is no spike.
            confirmed = bool(self._suspect) and not self._leaps(values, self._suspect)
            self._suspect = values
            return Status.OK if confirmed else Status.STEP
        self._suspect = ()
        return Status.OK

    def _leaps(self, values: tuple[float, ...], others: tuple[float, ...]) -> bool:
        return any(
            abs(a - b) > step for a, b, step in zip(values, others, self._steps, strict=True)
        )
