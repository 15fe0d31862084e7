# SPDX-License-Identifier: Apache-2.0
"""Recordings that pages are made of."""
from __future__ import annotations

import math

from propulsion_ros.drawing.figure import COMMAND
from propulsion_ros.models.common.rotation import quaternion_of_rpy
from propulsion_ros.pictures.bag import add_motion
from propulsion_ros.pictures.signals import Channel, Placed, Signals

HOSTILE = '</script><script>alert("1")</script><!-- \u2028 \' " & <b>'


def flown(until=10.0, step=0.1):
    """Return a quadrotor that climbs at 1 m/s and turns once in 10 s, its thrusts apart."""
    signals = Signals('a/flight.csv')
    names = ['front_left', 'front_right', 'rear_left', 'rear_right']
    for i in range(round(until / step) + 1):
        t = i * step
        q = quaternion_of_rpy([0.0, 0.0, 2.0 * math.pi * t / 10.0])
        placed = Placed(t, 1.0, 2.0, t, *q.tolist())
        add_motion(signals, 'vehicle', placed, (0.0, 0.0, 1.0), (0.0, 0.0, 0.2 * math.pi))
        for k, name in enumerate(names):
            signals.add(Channel('rotors', 'effort', name), t, 3.0 + k)
            signals.add(Channel('rotors', 'effort', name, COMMAND), t, 4.0)
            signals.add(Channel('rotors', 'velocity', name), t, 100.0 + t)
    return signals
