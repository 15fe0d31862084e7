# SPDX-License-Identifier: Apache-2.0
"""What is demanded of the free-flyer: a sequence of wrenches, as numbers."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class Pulse:
    """A wrench, and then the opposite one for as long, so that it comes to rest again."""

    wrench: tuple[float, float, float, float, float, float]
    """Force [N] and torque about the centre of mass [N m], (6,)."""
    duration: float = 1.0
    """Of each of both [s]."""


WITHIN_LIMITS = (
    Pulse((0.2, 0.0, 0.0, 0.0, 0.0, 0.0)),
    Pulse((0.0, 0.15, 0.0, 0.0, 0.0, 0.0)),
    Pulse((0.0, 0.0, 0.2, 0.0, 0.0, 0.0)),
    Pulse((0.0, 0.0, 0.0, 0.02, 0.0, 0.0)),
    Pulse((0.0, 0.0, 0.0, 0.0, 0.02, 0.0)),
    Pulse((0.0, 0.0, 0.0, 0.0, 0.0, 0.02)),
)
"""One axis after the other."""
BEYOND_LIMITS = (
    Pulse((0.6, 0.0, 0.0, 0.0, 0.0, 0.0), 1.5),
    Pulse((0.0, 0.4, 0.4, 0.0, 0.0, 0.0), 1.5),
    Pulse((0.0, 0.0, 0.0, 0.06, 0.05, 0.0), 1.5),
    Pulse((0.25, 0.0, 0.1, 0.0, 0.0, 0.06), 1.5),
)
"""More than the nozzles can give."""


@dataclass(frozen=True)
class WrenchSequence:
    """Pulses one after the other, with a pause after each."""

    start: float = 16.0
    """When the first begins: the impellers have settled at their speed by then [s]."""
    pause: float = 0.5
    """[s]."""
    pulses: tuple[Pulse, ...] = WITHIN_LIMITS + BEYOND_LIMITS
    """The pulses."""

    @property
    def beginnings(self) -> tuple[float, ...]:
        """When each pulse begins, and at last when the sequence ends [s]."""
        lengths = [2.0 * pulse.duration + self.pause for pulse in self.pulses]
        return tuple(float(at) for at in self.start + np.cumsum([0.0, *lengths]))

    @property
    def end(self) -> float:
        """When nothing more is demanded [s]."""
        return self.beginnings[-1]

    def wrench(self, time: float) -> FloatArray:
        """Return the wrench to demand at a time [s], (6,)."""
        for begin, pulse in zip(self.beginnings, self.pulses, strict=False):
            part = np.floor((time - begin) / pulse.duration + 1e-9)
            if part in (0.0, 1.0):
                return np.asarray(np.array(pulse.wrench) * (1.0 - 2.0 * part))
        return np.zeros(6)
