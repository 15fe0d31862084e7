#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold three poses in turn, then turn on the spot: place and heading by a force and a torque."""
import math

import rclpy
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

POSES = (
    (0.0, (0.0, 0.0, 0.0)), (5.0, (6.0, 4.0, 0.0)), (45.0, (6.0, 8.0, math.pi / 2)),
    (75.0, (6.0, 8.0, -math.pi / 2)),
)
"""From a time on [s]: east, north [m] and heading [rad]."""
DEPTH = 0.45
"""Of the propellers below base_link, about whose origin the torque is [m]."""


class HoldPose(Node):
    """Replies to each odometry with the wrench of the same stamp."""

    def __init__(self):
        super().__init__('hold_pose')
        self.command = self.create_publisher(
            WrenchStamped, 'thrusters_allocator/wrench_command', 10
        )
        self.create_subscription(Odometry, 'vehicle/odometry', self.reply, 10)

    def reply(self, odometry):
        """Publish the wrench that brings the boat to its pose."""
        time = odometry.header.stamp.sec + 1e-9 * odometry.header.stamp.nanosec
        east, north, heading = next(pose for start, pose in reversed(POSES) if time >= start)
        place, q = odometry.pose.pose.position, odometry.pose.pose.orientation
        velocity, turn = odometry.twist.twist.linear, odometry.twist.twist.angular
        yaw = math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))
        away, left, error = east - place.x, north - place.y, math.remainder(heading - yaw, math.tau)

        # A far target pulls no more than one at 2 m.
        near = 60.0 * min(1.0, 2.0 / max(math.hypot(away, left), 1e-9))
        ahead = near * (away * math.cos(yaw) + left * math.sin(yaw)) - 230.0 * velocity.x
        aside = near * (left * math.cos(yaw) - away * math.sin(yaw)) - 230.0 * velocity.y

        message = WrenchStamped()
        message.header.stamp = odometry.header.stamp
        message.header.frame_id = 'base_link'
        message.wrench.force.x, message.wrench.force.y = ahead, aside
        # What forces at the depth of the propellers make about base_link.
        message.wrench.torque.x, message.wrench.torque.y = DEPTH * aside, -DEPTH * ahead
        message.wrench.torque.z = 150.0 * max(-0.8, min(0.8, error)) - 380.0 * turn.z
        self.command.publish(message)


def main():
    """Run until the simulation ends."""
    try:
        with rclpy.init():
            rclpy.spin(HoldPose())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
