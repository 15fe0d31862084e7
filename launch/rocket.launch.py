# SPDX-License-Identifier: Apache-2.0
"""Launch the rocket: boosters, fins and flight_state, and its simulated body.

ros2 launch propulsion_ros rocket.launch.py
ros2 service call /flight_state/launch std_srvs/srv/Trigger
ros2 topic pub -r 20 /boosters/command sensor_msgs/msg/JointState \
        "{name: [booster_1, booster_2], effort: [1300.0, 1300.0]}"
"""
from launch import LaunchDescription

from propulsion_ros.graph.launch_actions import vehicle_launch


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return vehicle_launch('rocket')
