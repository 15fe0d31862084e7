"""Whether a recorded flight still goes on after a restart."""
from __future__ import annotations

import math

from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.snapshot import Snapshot
from propulsion_ros.timing.dwell import Dwell

_MS = 1_000_000
_LATEST_START_NS = 500 * _MS
_AGREEING = 3


class Resumption:
    """Judges from the first samples after a restart.

    The flight goes on once three samples in a row are high above the pad or move fast up or
    down. It is over when the vehicle has been at rest near the pad for a while, when the record
    is too old, or when its stamps lie ahead, as after a clock that lost the time. What is unknown
    decides nothing: without an altitude a speed can show a flight, but not a rest.

    Parameters
    ----------
    params : FlightParams
        The ``resume_`` limits.
    snapshot : Snapshot
        What was recorded.
    """

    def __init__(self, params: FlightParams, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._params = params
        self._rest = Dwell(params.resume_time)
        self._agreeing = 0

    def gap_ns(self, stamp_ns: int) -> int:
        """Return the time since the record [ns], at least 0."""
        return max(stamp_ns - self.snapshot.stamp_ns, 0)

    def judge(self, clock_ns: int, stamp_ns: int, altitude: float, velocity: float) -> str:
        """Take a sample and return 'resume', '' to wait, or why the flight is over."""
        elapsed_ns = stamp_ns - self.snapshot.stamp_ns
        if elapsed_ns > self._params.resume_age * 1e9:
            return f'it is {elapsed_ns * 1e-9:.0f} s old'
        if elapsed_ns < -_LATEST_START_NS:
            return f'it is stamped {-elapsed_ns * 1e-9:.1f} s ahead of the samples'
        is_high = altitude > self._params.resume_height
        is_fast = abs(velocity) > self._params.resume_velocity
        self._agreeing = self._agreeing + 1 if is_high or is_fast else 0
        if self._agreeing >= _AGREEING:
            return 'resume'
        if not math.isfinite(altitude):
            return ''
        at_rest = self._rest.update(clock_ns, not (is_high or is_fast))
        return 'the vehicle rests near the pad' if at_rest else ''
