# SPDX-License-Identifier: Apache-2.0
"""What a run of refused innovations means: an outlier, a step of the sensor, or a lost filter."""
from __future__ import annotations

import math
from enum import Enum

from propulsion_ros.timing.dwell import Dwell

_FRESH_NS = 300_000_000  # a measurement this soon after a good one shows where a step began
_STEADY = 0.25  # change of a stepped innovation, relative to it, that is still the same step
_PATIENCE = 5.0  # gate times after which a step that does not settle is none


class Verdict(Enum):
    """What to do after a refused innovation."""

    WAIT = 'wait'
    STEP = 'step'  # the sensor has stepped and goes on from there
    LOST = 'lost'  # the estimate has left the measurement: believe the measurement


class InnovationJudge:
    """Tells a sensor that stepped from an estimate that went astray.

    An innovation that leaps beyond the gate between two messages and then stays is a step of the
    sensor. One that grows through the gate, or is beyond it when the sensor returns, says that
    the estimate, and so the inertial sensor, went astray.

    Parameters
    ----------
    patience : float
        How long refusals must last before either is believed [s].
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._refused = Dwell(patience, counts_gaps=True)
        self._settled = Dwell(patience, counts_gaps=True)
        self.reset()

    def reset(self) -> None:
        """Forget all innovations."""
        self._good_ns: int | None = None
        self._good = 0.0
        self._refused.reset()
        self._settled.reset()
        self._anchor = 0.0
        self._stepped = False

    @property
    def is_refusing(self) -> bool:
        """Whether the latest innovation was refused."""
        return self._refused.start_ns is not None

    def accept(self, stamp_ns: int, innovation: float) -> None:
        """Take an innovation within the gate."""
        self._good_ns = stamp_ns
        self._good = innovation
        self._refused.reset()

    def refuse(
        self, stamp_ns: int, innovation: float, width: float, *, may_step: bool = True
    ) -> Verdict:
        """Take an innovation beyond the gate.

        Parameters
        ----------
        stamp_ns : int
            Of the measurement [ns].
        innovation : float
            Measured less predicted.
        width : float
            Half width of the gate.
        may_step : bool
            Whether the estimate is good enough to separate a step of the sensor from a motion.
        """
        is_first = not self.is_refusing
        has_lasted = self._refused.update(stamp_ns, True)
        if is_first:
            self._move_anchor(stamp_ns, innovation)
            is_fresh = self._good_ns is not None and stamp_ns - self._good_ns < _FRESH_NS
            self._stepped = is_fresh and abs(innovation - self._good) > 0.5 * width
            return Verdict.WAIT
        if abs(innovation - self._anchor) > max(_STEADY * abs(self._anchor), 0.5 * width):
            self._move_anchor(stamp_ns, innovation)
        if not (self._stepped and may_step):
            return Verdict.LOST if has_lasted else Verdict.WAIT
        if self._settled.update(stamp_ns, True):
            return Verdict.STEP
        is_over = self._refused.has_lasted(_PATIENCE * self._patience)
        return Verdict.LOST if is_over else Verdict.WAIT

    def _move_anchor(self, stamp_ns: int, innovation: float) -> None:
        """Let the innovation settle about another value from now on."""
        self._anchor = innovation
        self._settled.reset()
        self._settled.update(stamp_ns, True)


def width_of(innovation: float, surprise: float, gate: float) -> float:
    """Return half the width of a gate, from an innovation and its normalised square."""
    return gate * abs(innovation) / math.sqrt(surprise) if surprise > 0.0 else math.inf
