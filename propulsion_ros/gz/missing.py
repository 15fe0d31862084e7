# SPDX-License-Identifier: Apache-2.0
"""Systems that a world lacks: without them no model moves, or a sensor publishes nothing."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import Pose

_SENSORS = {
    'imu': ('imu', 'Imu'), 'air_pressure': ('air-pressure', 'AirPressure'),
    'magnetometer': ('magnetometer', 'Magnetometer'), 'navsat': ('navsat', 'NavSat'),
    'altimeter': ('altimeter', 'Altimeter'),
}
"""Systems of gz-sim for the sensors that flight software reads, by a part of the sensor's name."""


class Rest:
    """Whether a model that is pushed never moves."""

    def __init__(self) -> None:
        self._first: list[FloatArray] = []
        self._left_ns = 1_000_000_000

    def lasts(self, poses: Iterable[Pose], pushed_ns: int) -> str:
        """Return, once, the line that it was pushed for a second and none of its links moved."""
        if self._left_ns <= 0:
            return ''
        now = [each for pose in poses for each in (pose.position, pose.rotation)]
        self._first = self._first or now
        if not all(map(np.array_equal, self._first, now)):
            self._left_ns = 0
            return ''
        self._left_ns -= pushed_ns
        return '' if self._left_ns > 0 else (
            'has not moved in the first second in which it was pushed; where it neither rests on '
            'something nor is joined to the world, the world has no '
            f'{_plugin("physics", "Physics")}, add it'
        )


def silent_sensors(gz: Any, links: Iterable[int], ecm: Any) -> Iterator[str]:
    """Yield a line for each sensor whose system the world lacks.

    Parameters
    ----------
    gz : module
        gz.sim.
    links : iterable of int
        Entities of the links that may have sensors. gz-sim's Python gives no type of a sensor, so
        its name has to contain it.
    ecm : gz.sim.EntityComponentManager
        After some steps: the system of a sensor gives it its topic in the first one.
    """
    for link in map(gz.Link, links):
        for sensor in map(gz.Sensor, link.sensors(ecm)):
            name = str(sensor.name(ecm))
            system = next((system for kind, system in _SENSORS.items() if kind in name), None)
            if system is not None and sensor.topic(ecm) is None:
                yield (
                    f'sensor {name!r} of link {str(link.name(ecm))!r} publishes nothing, because '
                    f'the world has no {_plugin(*system)}, add it'
                )


def _plugin(library: str, name: str) -> str:
    """Return the line of a world for a system."""
    return f'<plugin filename="gz-sim-{library}-system" name="gz::sim::systems::{name}"/>'
