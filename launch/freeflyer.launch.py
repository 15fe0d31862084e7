# SPDX-License-Identifier: Apache-2.0
"""Launch the free-flyer: force allocation, its inverse, the modules and its simulated body.

ros2 launch propulsion_ros freeflyer.launch.py
ros2 topic pub -r 20 /fam/wrench_command geometry_msgs/msg/WrenchStamped \
        "{wrench: {force: {x: 0.2}}}"
"""
from launch import LaunchDescription

from propulsion_ros.graph.launch_actions import vehicle_launch


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return vehicle_launch('freeflyer')
