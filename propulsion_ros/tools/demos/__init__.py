"""Vehicles that fly closed loop through real ROS nodes, each with its pilot and its picture."""
from __future__ import annotations

from typing import Any

from propulsion_ros.tools.demos.demo import Demo
from propulsion_ros.tools.demos.freeflyer import FreeflyerDemo
from propulsion_ros.tools.demos.quadrotor import QuadrotorDemo
from propulsion_ros.tools.demos.rocket import RocketDemo
from propulsion_ros.tools.demos.rov import RovDemo

DEMOS: dict[str, Demo[Any]] = {
    'rocket': RocketDemo(),
    'quadrotor': QuadrotorDemo(),
    'rov': RovDemo(),
    'freeflyer': FreeflyerDemo(),
}
"""Demo of each vehicle of `wiring.VEHICLES`."""
