# SPDX-License-Identifier: Apache-2.0
"""The flight computer inside RocketPy: its sensors in, its parachutes out; flights as files.

Nothing here but `SpecificForce` imports RocketPy, whose objects are taken as they are.
"""
from __future__ import annotations

from propulsion_ros.settings.imports import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from propulsion_ros.rocketpy.computer import FlightComputer, write_bag, write_logs
    from propulsion_ros.rocketpy.sensors import SensorFault
    from propulsion_ros.rocketpy.specific_force import SpecificForce

__all__ = ['FlightComputer', 'SensorFault', 'SpecificForce', 'write_bag', 'write_logs']

__getattr__, __dir__ = late(__name__, {
    'computer': 'FlightComputer write_bag write_logs',
    'sensors': 'SensorFault',
    'specific_force': 'SpecificForce',
})
