#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hover at 2 m in a wind, then 1.5 m further: height and place by tilt, tilt by torque."""
import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

MASS, GRAVITY = 2.4, 9.80665
INERTIA = np.array([0.032, 0.032, 0.057])


def rotation(q):
    """Return the matrix from the body to the world."""
    x, y, z, w = q.x, q.y, q.z, q.w
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


def array(vector):
    """Return a Vector3 or a Point as an array."""
    return np.array([vector.x, vector.y, vector.z])


class Hover(Node):
    """Replies to each odometry with the wrench of the same stamp."""

    def __init__(self):
        super().__init__('hover')
        self.command = self.create_publisher(WrenchStamped, 'rotors_allocator/wrench_command', 10)
        self.create_subscription(Odometry, 'vehicle/odometry', self.reply, 10)

    def reply(self, odometry):
        """Publish the wrench that brings the body to its target."""
        time = odometry.header.stamp.sec + 1e-9 * odometry.header.stamp.nanosec
        target = np.array([0.0, 0.0, 2.0] if time < 8.0 else [1.5, 0.0, 2.0])
        turned = rotation(odometry.pose.pose.orientation)
        position, rate = array(odometry.pose.pose.position), array(odometry.twist.twist.angular)
        velocity = turned @ array(odometry.twist.twist.linear)

        # In the world: the acceleration that is wanted, and so the direction of the thrust.
        pull = np.clip(2.0 * (target - position) - 2.6 * velocity, -3.0, 3.0)
        pull[2] += GRAVITY
        lean = np.cross(turned[:, 2], pull / np.linalg.norm(pull))
        lean[2] = np.cross(turned[:, 0], [1.0, 0.0, 0.0])[2]

        message = WrenchStamped()
        message.header.stamp = odometry.header.stamp
        message.header.frame_id = 'base_link'
        message.wrench.force.z = float(MASS * pull @ turned[:, 2])
        torque = INERTIA * (60.0 * turned.T @ lean - 14.0 * rate)
        message.wrench.torque.x, message.wrench.torque.y, message.wrench.torque.z = torque.tolist()
        self.command.publish(message)


def main():
    """Run until the simulation ends."""
    try:
        with rclpy.init():
            rclpy.spin(Hover())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
