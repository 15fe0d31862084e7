# SPDX-License-Identifier: Apache-2.0
"""The pilot of the rocket's demo as a controller of a study: it arms, lights, and steers."""
from __future__ import annotations

import math
from typing import ClassVar

from propulsion_ros.demos.rocket_guidance import RocketGuidance

_COMMAND = 'boosters/command'
_ARMING = 0.5
"""Time at which flight_state is armed [s]."""
_AFTER_APOGEE = 1.0
"""How long the flight goes on after flight_state has decided on the apogee [s]."""


class Controller:
    """Follows the launch sequence of `RocketGuidance`; its fields can be varied."""

    topics = ('boosters/tanks/main_tank', 'flight_state/flags')
    units: ClassVar = {'delay': 's', 'apogee': 'm'}

    def __init__(self, seed, **guidance):
        self._guidance = RocketGuidance(**guidance)
        self._propellant, self._phase = math.inf, ''
        self._is_armed = False
        self._top = (math.nan, -math.inf)
        self._decided = math.nan

    def take(self, topic, message):
        """Receive what `topics` names."""
        if topic == 'boosters/tanks/main_tank':
            self._propellant = message.inertia.m
            return
        self._phase = message.status[0].message
        if self._phase == 'recovery' and math.isnan(self._decided):
            stamp = message.header.stamp
            self._decided = stamp.sec + stamp.nanosec * 1e-9

    def requests(self, time):
        """Return the services to call at a step."""
        if self._is_armed or time < _ARMING:
            return []
        self._is_armed = True
        return ['flight_state/launch']

    def steer(self, time, motion):
        """Return thrust and gimbal angles; None ends the flight."""
        if motion.position[2] > self._top[1]:
            self._top = (time, float(motion.position[2]))
        if time > self._decided + _AFTER_APOGEE:
            return None
        fuel = self._propellant, self._phase
        thrust = self._guidance.thrust(time, *fuel) / 2.0
        angles = self._guidance.gimbals(time, motion, *fuel)
        return {_COMMAND: {
            f'booster_{i + 1}_{name}': value
            for i in (0, 1)
            for name, value in (
                ('gimbal_x.position', angles[i, 0]), ('gimbal_y.position', angles[i, 1]),
            )
        } | {f'booster_{i}.effort': thrust for i in (1, 2)}}

    def results(self):
        """Return what is a column of the results."""
        return {'delay': self._decided - self._top[0], 'apogee': self._top[1]}
