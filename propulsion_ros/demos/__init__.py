# SPDX-License-Identifier: Apache-2.0
"""Vehicles that fly closed loop through real ROS nodes, each with its pilot and its picture."""
from __future__ import annotations

from propulsion_ros.demos.cubesat import CUBESAT
from propulsion_ros.demos.demo import Demo
from propulsion_ros.demos.freeflyer import FREEFLYER
from propulsion_ros.demos.quadrotor import QUADROTOR
from propulsion_ros.demos.rocket import ROCKET
from propulsion_ros.demos.rov import ROV

DEMOS: dict[str, Demo] = {
    'rocket': ROCKET, 'quadrotor': QUADROTOR, 'rov': ROV, 'freeflyer': FREEFLYER,
    'cubesat': CUBESAT,
}
"""Demo of each vehicle of `vehicles.VEHICLES`."""
