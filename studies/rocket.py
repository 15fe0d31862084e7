# SPDX-License-Identifier: Apache-2.0
"""The pilot of the rocket's demo as a controller of a study, until after the apogee."""
from __future__ import annotations

import math
from typing import ClassVar

from propulsion_ros.demos.rocket import RocketGuidance, RocketPilot

_AFTER_APOGEE = 1.0
"""How long the flight goes on after flight_state has decided on the apogee [s]."""


class Controller(RocketPilot):
    """Follows the launch sequence of `RocketGuidance`; its fields can be varied."""

    units: ClassVar = {'delay': 's', 'apogee': 'm'}

    def __init__(self, seed, **guidance):
        super().__init__(RocketGuidance(**guidance))
        self._top = (math.nan, -math.inf)
        self._decided = math.nan

    def take(self, topic, message):
        """Receive what `topics` names, and note when flight_state decided on the apogee."""
        super().take(topic, message)
        if self._phase == 'recovery' and math.isnan(self._decided):
            stamp = message.header.stamp
            self._decided = stamp.sec + stamp.nanosec * 1e-9

    def steer(self, time, motion):
        """Return thrust and gimbal angles; None ends the flight."""
        if motion.position[2] > self._top[1]:
            self._top = (time, float(motion.position[2]))
        if time > self._decided + _AFTER_APOGEE:
            return None
        return super().steer(time, motion)

    def results(self):
        """Return what is a column of the results."""
        return {'delay': self._decided - self._top[0], 'apogee': self._top[1]}
