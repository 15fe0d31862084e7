#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hop to 60 m: climb, coast without thrust, and land by a burn that begins as late as it can."""
import math

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState

MASS, GRAVITY, LEVER, INERTIA = 70.0, 9.80665, 1.0, 22.0
APOGEE, BRAKING = 60.0, 6.0
"""Height of the hop [m], and deceleration of the landing burn [m/s^2]."""


class Hop(Node):
    """Replies to each odometry with a thrust and two gimbal angles of the same stamp."""

    def __init__(self):
        super().__init__('hop')
        self.phase = 'wait'
        self.command = self.create_publisher(JointState, 'boosters/command', 10)
        self.create_subscription(Odometry, 'vehicle/odometry', self.reply, 10)

    def reply(self, odometry):
        """Publish the command of the engine."""
        time = odometry.header.stamp.sec + 1e-9 * odometry.header.stamp.nanosec
        q, twist = odometry.pose.pose.orientation, odometry.twist.twist
        x, y, z, w = q.x, q.y, q.z, q.w
        across = np.array([2 * (x * z + y * w), 2 * (y * z - x * w)])  # the nose, east and north
        to_world = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), across[0]],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), across[1]],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ])
        height = odometry.pose.pose.position.z
        velocity = to_world @ [twist.linear.x, twist.linear.y, twist.linear.z]
        self.advance(time, height, velocity[2])
        thrust = self.thrust(height, velocity[2])

        # Upright, in the landing burn leaning against the drift: the engine turns the nose there.
        lean = np.clip(-0.06 * velocity[:2], -0.1, 0.1) if self.phase == 'land' else np.zeros(2)
        lean = lean - across
        torque = INERTIA * np.array([
            -4.0 * lean[1] - 3.0 * twist.angular.x, 4.0 * lean[0] - 3.0 * twist.angular.y,
        ])
        angle = -torque / (LEVER * thrust) if thrust else np.zeros(2)
        self.command.publish(JointState(
            header=odometry.header, name=['engine', 'gimbal_x', 'gimbal_y'],
            effort=[thrust, math.nan, math.nan], position=[math.nan, *angle.tolist()],
        ))

    def advance(self, time, height, climb):
        """Go on to the next phase where it is time."""
        if self.phase == 'wait' and time > 1.0:
            self.phase = 'climb'
        elif self.phase == 'climb' and height + climb**2 / (2 * GRAVITY) > APOGEE:
            self.phase = 'coast'
        elif self.phase == 'coast' and climb < 0.0 and height < climb**2 / (2 * BRAKING) + 2.0:
            self.phase = 'land'
        elif self.phase == 'land' and height < 0.005:
            self.phase = 'done'

    def thrust(self, height, climb):
        """Return the thrust of the phase [N]."""
        if self.phase == 'climb':
            return 1200.0
        if self.phase != 'land':
            return 0.0
        braking = BRAKING if height > 0.5 else 0.0
        wanted = -math.sqrt(2 * braking * max(height - 0.5, 0.0)) - 0.5
        return float(np.clip(MASS * (GRAVITY + braking + 4.0 * (wanted - climb)), 350.0, 1600.0))


def main():
    """Run until the simulation ends."""
    try:
        with rclpy.init():
            rclpy.spin(Hop())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
