# SPDX-License-Identifier: Apache-2.0
"""Health of one sensor: whether each of its messages may be used, and if not, why."""
from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum

from propulsion_ros.timing.dwell import Held
from propulsion_ros.timing.stamps import Arrival, StampJudge, StampLimits


class Status(str, Enum):
    """State of a sensor, or the reason why a message was refused."""

    ABSENT = 'absent'  # no message yet
    OK = 'ok'
    STALE = 'stale'  # no message for the timeout
    LATE = 'late'  # older than the one before, or much older than the estimate
    DUPLICATE = 'duplicate'  # has the stamp of the one before
    INVALID = 'invalid'  # NaN or infinite
    RANGE = 'range'  # beyond what the sensor can read
    STEP = 'step'  # changed by more than the largest step, and not yet confirmed
    FROZEN = 'frozen'  # repeats itself while the vehicle moves
    INNOVATION = 'innovation'  # contradicts the estimate
    LOCKOUT = 'lockout'  # not used at this Mach number


class SensorMonitor:
    """Checks the messages of one sensor, and counts the refused ones by reason.

    A single refused message is only counted. If no message has been good for the timeout, the
    sensor is at fault: its status is the reason of the last refusal, or STALE if no message
    arrives. The first good message ends the fault.

    Parameters
    ----------
    timeout : float
        Largest age of the last good message of a sensor without fault [s].
    limits : sequence of float
        Largest magnitude of each value, in its unit; () for none.
    steps : sequence of float
        Largest change of each value between two messages; () for none.
    frozen_time : float
        Values that have stayed the same for longer are held [s].

    Attributes
    ----------
    counts : dict of Status to int
        Number of good messages, and of refused ones by reason.
    good_ns : int or None
        Stamp of the last good message [ns].
    """

    def __init__(
        self, timeout: float, limits: Sequence[float] = (), steps: Sequence[float] = (),
        frozen_time: float = 0.0,
    ) -> None:
        self._timeout_ns = round(timeout * 1e9)
        # The caller removes jumps of the clock, so any older stamp is late.
        self._stamps = StampJudge(StampLimits(behind_ns=None, silent_ns=self._timeout_ns))
        self._held = Held(round(frozen_time * 1e9))
        self._limits = tuple(limits)
        self._steps = tuple(steps)
        self.counts = dict.fromkeys(Status, 0)
        self.reset()

    def reset(self) -> None:
        """Forget all messages, but not the counts."""
        self._stamps.reset()
        self._held.reset()
        self._suspect: tuple[float, ...] = ()  # values that changed too fast
        self._fault = Status.ABSENT  # reason of the last refusal
        self.good_ns: int | None = None

    def arrive(self, stamp_ns: int, values: tuple[float, ...]) -> Status:
        """Take a message; return OK, or the reason why it is refused."""
        status = self._status_of(stamp_ns, values)
        if status is Status.OK:
            self._held.repeats(stamp_ns, values)
        else:
            self.refuse(status)
        return status

    def use(self, stamp_ns: int) -> None:
        """Count a message that was used as good."""
        self.good_ns = stamp_ns
        self.counts[Status.OK] += 1

    def refuse(self, status: Status) -> None:
        """Count a message that was refused, with the reason."""
        self._fault = status
        self.counts[status] += 1

    def is_held(self, now_ns: int) -> bool:
        """Return whether the values have stayed the same for longer than ``frozen_time``."""
        return self._held.is_held(now_ns)

    def is_good(self, now_ns: int) -> bool:
        """Return whether a message was good within the timeout."""
        return self.good_ns is not None and now_ns - self.good_ns <= self._timeout_ns

    def status(self, now_ns: int) -> Status:
        """Return the state of the sensor at a time."""
        if self._stamps.newest_ns is None or self.is_good(now_ns):
            return Status.OK if self._stamps.newest_ns is not None else self._fault
        if self._stamps.is_silent(now_ns) or self._fault is Status.ABSENT:
            return Status.STALE
        return self._fault

    def _status_of(self, stamp_ns: int, values: tuple[float, ...]) -> Status:
        arrival = self._stamps.take(stamp_ns)
        if not arrival.advances:
            return Status.DUPLICATE if arrival is Arrival.DUPLICATE else Status.LATE
        if not math.isfinite(sum(values)):
            return Status.INVALID
        for value, limit in zip(values, self._limits, strict=False):
            if abs(value) > limit:
                return Status.RANGE
        last = self._held.value
        if self._steps and last is not None and self._is_step(values, last):
            # A second message that agrees with the first confirms the step.
            confirmed = bool(self._suspect) and not self._is_step(values, self._suspect)
            self._suspect = values
            return Status.OK if confirmed else Status.STEP
        self._suspect = ()
        return Status.OK

    def _is_step(self, values: tuple[float, ...], others: tuple[float, ...]) -> bool:
        return any(
            abs(a - b) > step for a, b, step in zip(values, others, self._steps, strict=True)
        )
