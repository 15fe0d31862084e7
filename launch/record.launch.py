# SPDX-License-Identifier: Apache-2.0
"""Record a robot into a bag that replays exactly: every message, latched ones too.

ros2 launch propulsion_ros record.launch.py output:=flight use_sim_time:=true
"""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from propulsion_ros.graph.launch_actions import record_actions


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return LaunchDescription([
        DeclareLaunchArgument('output', description='name of the bag, a folder to make'),
        DeclareLaunchArgument(
            'topics', default_value='', description='topics, separated by commas; empty: all'
        ),
        DeclareLaunchArgument(
            'use_sim_time', default_value='true', choices=['true', 'false'],
            description='take the time from /clock; false on a robot',
        ),
        DeclareLaunchArgument(
            'storage', default_value='mcap', choices=['mcap', 'sqlite3'],
            description='format of the bag',
        ),
        OpaqueFunction(function=record_actions),
    ])
