#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold depth and heading while a current carries the vehicle away; both change on the way."""
import math

import rclpy
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

FLOATS = 1.5
"""Buoyancy minus weight [N]."""


class HoldDepth(Node):
    """Replies to each odometry with the wrench of the same stamp."""

    def __init__(self):
        super().__init__('hold_depth')
        self.command = self.create_publisher(
            WrenchStamped, 'thrusters_allocator/wrench_command', 10
        )
        self.create_subscription(Odometry, 'vehicle/odometry', self.reply, 10)
        self.turned = 0.0

    def reply(self, odometry):
        """Publish the wrench that brings height and heading to their targets."""
        time = odometry.header.stamp.sec + 1e-9 * odometry.header.stamp.nanosec
        height = -3.0 if time < 5.0 else -5.0
        heading = 0.0 if time < 15.0 else math.pi / 2
        q, twist = odometry.pose.pose.orientation, odometry.twist.twist
        yaw = math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))
        pitch = math.asin(max(-1.0, min(1.0, 2 * (q.w * q.y - q.z * q.x))))
        roll = math.atan2(2 * (q.w * q.x + q.y * q.z), 1 - 2 * (q.x * q.x + q.y * q.y))
        error = math.remainder(heading - yaw, 2 * math.pi)
        # A sum of errors holds against the torque of the current; it grows near the target only.
        if abs(error) < 0.2:
            self.turned += 0.02 * error

        message = WrenchStamped()
        message.header.stamp = odometry.header.stamp
        message.header.frame_id = 'base_link'
        message.wrench.force.z = (
            40.0 * (height - odometry.pose.pose.position.z) - 60.0 * twist.linear.z - FLOATS
        )
        message.wrench.torque.x = -6.0 * roll - 4.0 * twist.angular.x
        # Made where thrusters can pitch it, as those of the ROV; auv.yaml gives it a weight of 0.
        message.wrench.torque.y = -12.0 * pitch - 4.0 * twist.angular.y
        message.wrench.torque.z = 5.0 * error + 1.5 * self.turned - 6.0 * twist.angular.z
        self.command.publish(message)


def main():
    """Run until the simulation ends."""
    try:
        with rclpy.init():
            rclpy.spin(HoldDepth())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
