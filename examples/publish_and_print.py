#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command the rotors of the quadrotor 50 times a second, and print their wrench each second."""
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState

ROTORS = ['front_left', 'front_right', 'rear_left', 'rear_right']


class PublishAndPrint(Node):
    """Publishes 3.8 N for each rotor, without a stamp: it takes effect on arrival."""

    def __init__(self):
        super().__init__('publish_and_print')
        self.command = self.create_publisher(JointState, 'rotors/command', 10)
        self.create_timer(0.02, self.publish)
        self.create_subscription(WrenchStamped, 'rotors/wrench', self.receive, 10)
        self.printed = -1

    def publish(self):
        """Publish the command."""
        if self.context.ok():
            self.command.publish(JointState(name=ROTORS, effort=[3.8] * len(ROTORS)))

    def receive(self, message):
        """Print the force of the first wrench of each second."""
        if message.header.stamp.sec != self.printed:
            self.printed = message.header.stamp.sec
            print(f'{self.printed:4d} s  force.z {message.wrench.force.z:.3f} N', flush=True)


def main():
    """Run until Ctrl-C or SIGTERM."""
    try:
        with rclpy.init():
            rclpy.spin(PublishAndPrint())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
