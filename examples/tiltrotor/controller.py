#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Take off and hover, fly forward at 15 m/s, and come back to a hover, level all the time."""
import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

MASS, GRAVITY = 2.4, 9.80665
INERTIA = np.array([0.27, 0.1, 0.36])
LIFT = 0.083
"""Of the wing over the speed squared [N s^2/m^2]."""


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


class Transition(Node):
    """Replies to each odometry with the wrench of the same stamp."""

    def __init__(self):
        super().__init__('transition')
        self.command = self.create_publisher(WrenchStamped, 'rotors_allocator/wrench_command', 10)
        self.create_subscription(Odometry, 'vehicle/odometry', self.reply, 10)

    def reply(self, odometry):
        """Publish the wrench that holds speed and height; rotors, not the body, tilt for it."""
        time = odometry.header.stamp.sec + 1e-9 * odometry.header.stamp.nanosec
        # 2.5 m/s^2 from 5 s on to 15 m/s, and down again from 15 s on.
        speed = float(np.clip(min(2.5 * (time - 5.0), 15.0 - 2.5 * (time - 15.0)), 0.0, 15.0))
        turned = rotation(odometry.pose.pose.orientation)
        place, rate = array(odometry.pose.pose.position), array(odometry.twist.twist.angular)
        velocity = turned @ array(odometry.twist.twist.linear)

        pull = np.zeros(3)
        pull[0] = 2.0 * (speed - velocity[0])
        pull[2] = GRAVITY + 4.0 * (5.0 - place[2]) - 3.5 * velocity[2]
        pull = MASS * np.clip(pull, -4.0, 14.0)
        pull[0] += 0.02 * velocity[0] * abs(velocity[0])
        pull[2] = max(pull[2] - LIFT * velocity[0] ** 2, 1.0)
        # It leans only against what carries it aside.
        aside = -0.02 * place[1] - 0.05 * velocity[1]
        level = np.cross(turned[:, 2], [0.0, aside, 1.0])
        level[2] = np.cross(turned[:, 0], [1.0, 0.0, 0.0])[2]

        message = WrenchStamped()
        message.header.stamp = odometry.header.stamp
        message.header.frame_id = 'base_link'
        message.wrench.force.x, message.wrench.force.z = (turned.T @ pull)[[0, 2]].tolist()
        torque = INERTIA * (36.0 * turned.T @ level - 11.0 * rate)
        message.wrench.torque.x, message.wrench.torque.y, message.wrench.torque.z = torque.tolist()
        self.command.publish(message)


def main():
    """Run until the simulation ends."""
    try:
        with rclpy.init():
            rclpy.spin(Transition())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
