# SPDX-License-Identifier: Apache-2.0
"""What a flight computer receives: samples, and what comes beside them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from propulsion_ros.flight.events.variables import NAN, UNKNOWN_ROTATION, Sample
from propulsion_ros.loops.decoders import msg_to_motion, stamp_of
from propulsion_ros.loops.ports import Host
from propulsion_ros.models.common.atmosphere import altitude_of_pressure
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.flight_clock import SampleTime
from propulsion_ros.timing.stamped_inputs import Ordering, StampedInputs
from propulsion_ros.timing.stamps import REANCHOR_NS, Arrival, StampJudge, StampLimits

CONTINUITY, REQUEST = 'continuity', 'request'
_SAMPLE = 'sample'
_DELAYS_NS = {CONTINUITY: 100_000_000, REQUEST: 1}
"""How long after its stamp an input takes effect: longer than it travels, so not late."""
_LONGEST_AGE_NS = 10_000_000_000
"""What is stamped farther back is of another time."""
_STAMPS = StampLimits(
    behind_ns=_LONGEST_AGE_NS, ahead_ns=1_000_000_000, agreeing=None, reanchor_ns=REANCHOR_NS
)
"""Of circuits, against the samples: if they are steadily off they are moved."""


def read_odometry(message: Any) -> tuple[float, ...]:
    """Return what an Odometry measures of the motion along and aside."""
    position, velocity = message.pose.pose.position, message.twist.twist.linear
    return position.x, position.y, position.z, velocity.x, velocity.y, velocity.z


def read_pressure(message: Any) -> float:
    """Return what a FluidPressure measures."""
    return float(message.fluid_pressure)


def sample_of_odometry(stamp_ns: int, message: Any) -> tuple[Sample, str]:
    """Return the sample in an Odometry, and why it has no velocity, '' where it has one."""
    position, q = message.pose.pose.position, message.pose.pose.orientation
    rotation, problem = (q.x, q.y, q.z, q.w), ''
    try:
        motion = msg_to_motion(message, message.child_frame_id)
        east, north, up = (motion.rotation @ motion.velocity).tolist()
    except CommandError as error:
        east = north = up = NAN
        rotation, problem = UNKNOWN_ROTATION, str(error)
    return Sample(
        stamp_ns, position.z, up,
        horizontal_position=(position.x, position.y), horizontal_velocity=(east, north),
        rotation=rotation,
    ), problem


def sample_of_pressure(stamp_ns: int, message: Any) -> Sample:
    """Return the sample in a FluidPressure."""
    pascal = read_pressure(message)
    return Sample(stamp_ns, float(altitude_of_pressure(pascal)), pressure=pascal)


class SideInputs:
    """Applies inputs by their stamps, and not by when they arrive, as samples pass them.

    Parameters
    ----------
    apply : callable
        ``apply(source, measured_ns, payload)``, when an input takes effect.
    reanchors : bool
        Whether what is steadily ahead or behind is moved to the time of the samples.
    """

    def __init__(
        self,
        host: Host,
        time: SampleTime,
        apply: Callable[[str, int, Any], None],
        reanchors: bool = False,
    ) -> None:
        self._host, self._time, self._apply = host, time, apply
        self._judge = StampJudge(_STAMPS)
        self._reanchors = reanchors
        self.reset()

    def reset(self) -> None:
        """Forget every input and the time."""
        self._judge.reset()
        self._sample_ns: int | None = None
        self._inputs = StampedInputs(
            Ordering(wait_for=(_SAMPLE,), jump_back_ns=_LONGEST_AGE_NS),
            (CONTINUITY, REQUEST, _SAMPLE), self._apply_due,
            trusted=(_SAMPLE,), delays_ns=_DELAYS_NS,
        )

    @property
    def waiting(self) -> int:
        """How many wait for a sample."""
        return self._inputs.waiting

    @property
    def late(self) -> int:
        """How many came after the sample before which they should have taken effect."""
        return self._inputs.counts['late']

    def drop_requests(self) -> list[Any]:
        """Forget the requests that wait, and return them."""
        return self._inputs.drop(REQUEST)

    def push(self, source: str, message: Any, payload: Any) -> bool:
        """Take an input with the stamp of its message, or complain; return whether it is taken."""
        stamp_ns = stamp_of(self._host, source, message)
        if stamp_ns is None:
            return False
        stamp_ns -= self._offset_ns(source, stamp_ns)
        is_taken = self._inputs.push(source, stamp_ns, payload)
        if not is_taken:
            self._host.complain(
                'other_time', f'{source} not taken: stamped {stamp_ns * 1e-9:.3f} s, '
                f'but the time is {self._time.stamp_ns * 1e-9:.3f} s',
            )
        return is_taken

    def _offset_ns(self, source: str, stamp_ns: int) -> int:
        """Return how far a source is steadily ahead of the samples [ns]."""
        judge = self._judge
        if source != CONTINUITY or not self._reanchors or self._sample_ns is None:
            return 0
        if judge.follow(stamp_ns, self._sample_ns) is Arrival.REANCHORED:
            self._host.complain('reanchored', (
                f'{source} is steadily {judge.offset_ns * 1e-9:+.3f} s from the samples, and is '
                'taken to be of the same time'
            ))
        return judge.offset_ns

    def pass_sample(self, stamp_ns: int) -> None:
        """Apply what takes effect before a sample."""
        self._sample_ns = stamp_ns
        self._inputs.push(_SAMPLE, stamp_ns)
        self._inputs.note(stamp_ns)

    def _apply_due(self, source: str, due_ns: int, payload: Any) -> None:
        self._apply(source, due_ns - _DELAYS_NS[source], payload)
