# SPDX-License-Identifier: Apache-2.0
"""Launch the actuators of any robot: one node for each plugin block of its description.

ros2 launch propulsion_ros bringup.launch.py model:=/path/to/robot.urdf.xacro
"""
from launch import LaunchDescription

from propulsion_ros.graph.launch_actions import robot_launch


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return robot_launch()
