#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stop a tumbling satellite by the momentum that its jets can give in one of their periods."""
import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

INERTIA = np.array([0.0333, 0.0333, 0.0067])
PERIOD = 0.1
"""Of the jets' pulses [s]."""
THRUST, SHORTEST = 0.02, 0.01
ARMS = np.array([0.05, 0.15, 0.05])
"""Of the couples about x, y and z [m]."""
BEGIN = 2.0
"""Until then it tumbles [s]."""


class Detumble(Node):
    """Replies to each odometry with the wrench of the same stamp."""

    def __init__(self):
        super().__init__('detumble')
        self.command = self.create_publisher(WrenchStamped, 'jets_allocator/wrench_command', 10)
        self.create_subscription(Odometry, 'vehicle/odometry', self.reply, 10)

    def reply(self, odometry):
        """Publish the torque that takes the momentum away in one period."""
        rate = odometry.twist.twist.angular
        momentum = INERTIA * [rate.x, rate.y, rate.z]
        # Less than the shortest pulse of a couple gives cannot be taken away.
        least, most = 2.0 * ARMS * THRUST * SHORTEST, 2.0 * ARMS * THRUST
        torque = np.where(np.abs(momentum) > least, -momentum / PERIOD, 0.0)
        time = odometry.header.stamp.sec + 1e-9 * odometry.header.stamp.nanosec

        message = WrenchStamped()
        message.header.stamp = odometry.header.stamp
        message.header.frame_id = 'base_link'
        if time >= BEGIN:
            turn = message.wrench.torque
            turn.x, turn.y, turn.z = np.clip(torque, -most, most).tolist()
        self.command.publish(message)


def main():
    """Run until the simulation ends."""
    try:
        with rclpy.init():
            rclpy.spin(Detumble())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
