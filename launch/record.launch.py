# SPDX-License-Identifier: Apache-2.0
"""Record a robot into a bag that replays exactly: every message, latched ones too.

ros2 launch propulsion_ros record.launch.py output:=flight
"""
from launch import LaunchDescription

from propulsion_ros.graph.launch_actions import record_launch


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return record_launch()
