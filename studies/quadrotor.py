# SPDX-License-Identifier: Apache-2.0
"""The guidance of the quadrotor's demo as a controller of a study: it takes off, and hovers."""
from __future__ import annotations

from propulsion_ros.demos.quadrotor import QuadrotorGuidance, QuadrotorTarget


class Controller:
    """Flies one metre up; the fields of `QuadrotorGuidance` can be varied.

    Parameters
    ----------
    seed : int
        Of the case, for what is drawn in flight; nothing is here.
    **guidance
        What varies, by ``controller.<name>``.
    """

    def __init__(self, seed, **guidance):
        self._guidance = QuadrotorGuidance(**guidance)
        self._target = QuadrotorTarget(0.0, (0.0, 0.0, 1.0))

    def steer(self, time, motion):
        """Return the commands of a step by topic."""
        wrench = self._guidance.wrench(self._target, motion)
        return {'rotors_allocator/wrench_command': wrench}
