# SPDX-License-Identifier: Apache-2.0
"""Launch the cubesat: jets, their allocator, and its simulated body.

ros2 launch propulsion_ros cubesat.launch.py
ros2 topic pub -r 20 /jets_allocator/wrench_command geometry_msgs/msg/WrenchStamped \
        "{wrench: {torque: {z: 0.005}}}"
"""
from launch import LaunchDescription

from propulsion_ros.graph.launch_actions import vehicle_launch


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return vehicle_launch('cubesat')
