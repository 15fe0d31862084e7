# SPDX-License-Identifier: Apache-2.0
"""Vehicles that fly closed loop through real ROS nodes, each with its pilot and its picture."""
from __future__ import annotations

from typing import Any

from propulsion_ros.demos.demo import Demo
from propulsion_ros.demos.freeflyer import FreeflyerDemo
from propulsion_ros.demos.quadrotor import QuadrotorDemo
from propulsion_ros.demos.rocket import RocketDemo
from propulsion_ros.demos.rov import RovDemo

DEMOS: dict[str, Demo[Any]] = {
    'rocket': RocketDemo(),
    'quadrotor': QuadrotorDemo(),
    'rov': RovDemo(),
    'freeflyer': FreeflyerDemo(),
}
"""Demo of each vehicle of `vehicles.VEHICLES`."""
