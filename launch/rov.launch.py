# SPDX-License-Identifier: Apache-2.0
"""Launch the underwater vehicle: thrusters, their allocator, fins, and its simulated body.

ros2 launch propulsion_ros rov.launch.py
ros2 topic pub -r 20 /thrusters_allocator/wrench_command geometry_msgs/msg/WrenchStamped \
        "{wrench: {force: {x: 20.0}}}"
"""
from launch import LaunchDescription

from propulsion_ros.graph.launch_actions import vehicle_launch


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return vehicle_launch('rov')
