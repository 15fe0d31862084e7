# SPDX-License-Identifier: Apache-2.0
"""The vehicles that come with the package."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VehicleKit:
    """Parts of a vehicle of the package beside its actuators."""

    flight_config: str = ''
    """Configuration of its flight software in config/; '' for none."""
    allocated: tuple[str, ...] = ()
    """Plugin blocks that can be commanded by a wrench."""
    world: str = 'rocket_pad'
    """World of Gazebo that it belongs to, in worlds/."""


ENGINE_TAG = 'booster'
"""Tag of the actuators that the engines of a flight computer drive."""
THRUSTER_TAG = 'thruster'
"""Tag of the actuators that push in a liquid."""
VEHICLES = {
    'rocket': VehicleKit(flight_config='rocket_flight.jsonc'),
    'quadrotor': VehicleKit(allocated=('rotors',)),
    'rov': VehicleKit(allocated=('thrusters',), world='pool'),
    'freeflyer': VehicleKit(world='free_flight'),
    'cubesat': VehicleKit(allocated=('jets',), world='free_flight'),
}
"""Vehicles that come with the package: urdf/<name>.urdf.xacro and config/<name>.yaml."""
