"""What a run of refused innovations means: an outlier, a step of the sensor, or a lost filter."""
from __future__ import annotations

import math
from enum import Enum

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
        self._patience_ns = round(patience * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget all innovations."""
        self._good_ns: int | None = None
        self._good = 0.0
        self._since_ns: int | None = None
        self._anchor = 0.0
        self._anchor_ns = 0
        self._stepped = False

    @property
    def is_refusing(self) -> bool:
        """Whether the latest innovation was refused."""
        return self._since_ns is not None

    def accept(self, stamp_ns: int, innovation: float) -> None:
        """Take an innovation within the gate."""
        self._good_ns = stamp_ns
        self._good = innovation
        self._since_ns = None

    def refuse(self, stamp_ns: int, innovation: float, width: float) -> Verdict:
        """Take an innovation beyond the gate.

        Parameters
        ----------
        stamp_ns : int
            Of the measurement [ns].
        innovation : float
            Measured less predicted.
        width : float
            Half width of the gate.
        """
        if self._since_ns is None:
            self._since_ns = self._anchor_ns = stamp_ns
            self._anchor = innovation
            is_fresh = self._good_ns is not None and stamp_ns - self._good_ns < _FRESH_NS
            self._stepped = is_fresh and abs(innovation - self._good) > 0.5 * width
            return Verdict.WAIT
        if abs(innovation - self._anchor) > max(_STEADY * abs(self._anchor), 0.5 * width):
            self._anchor, self._anchor_ns = innovation, stamp_ns
        if not self._stepped:
            is_over = stamp_ns - self._since_ns >= self._patience_ns
            return Verdict.LOST if is_over else Verdict.WAIT
        if stamp_ns - self._anchor_ns >= self._patience_ns:
            return Verdict.STEP
        is_over = stamp_ns - self._since_ns >= _PATIENCE * self._patience_ns
        return Verdict.LOST if is_over else Verdict.WAIT


def width_of(innovation: float, surprise: float, gate: float) -> float:
    """Return half the width of a gate, from an innovation and its normalised square."""
    return gate * abs(innovation) / math.sqrt(surprise) if surprise > 0.0 else math.inf
