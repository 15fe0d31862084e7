# SPDX-License-Identifier: Apache-2.0
"""Arms the flight computer and commands the ignition, and ends where that ends the flight."""
import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger


class Pilot:
    """Calls services of the flight computer when it is time."""

    def __init__(self, node):
        self.due = [
            (at, node.create_client(Trigger, f'flight_state/{name}'))
            for at, name in ((3.0, 'launch'), (5.0, 'ignition'))
        ]
        self.end, self.is_armed = Future(), False
        node.create_subscription(Odometry, 'vehicle/odometry', self.call, 10)
        for name in ('phase', 'subphase'):
            node.create_subscription(String, f'flight_state/{name}', self.look, 10)

    def call(self, odometry):
        """Call what is due at the stamp of an odometry."""
        stamp = odometry.header.stamp
        while self.due and stamp.sec + 1e-9 * stamp.nanosec >= self.due[0][0]:
            self.due.pop(0)[1].call_async(Trigger.Request())

    def look(self, phase):
        """End with the landing, or where a flight that failed was stood down."""
        self.is_armed |= phase.data == 'launch'
        if phase.data == 'landed' or (self.is_armed and phase.data == 'preflight'):
            self.end.set_result(None)


def main():
    """Run until the flight has ended."""
    try:
        with rclpy.init():
            node = rclpy.create_node('pilot')
            rclpy.spin_until_future_complete(node, Pilot(node).end)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
