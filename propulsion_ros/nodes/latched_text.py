# SPDX-License-Identifier: Apache-2.0
"""One latched text, waited for while a node is configured."""
from __future__ import annotations

import time

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from propulsion_ros.messages import qos


def wait_for_text(node: Node, topic: str, timeout: float) -> str | None:
    """Return the latched String of a topic, None where none comes within ``timeout`` [s].

    A helper node subscribes, since the node itself does not spin while it is configured.
    """
    received: list[str] = []
    helper = Node(
        f'{node.get_name()}_description', namespace=node.get_namespace(), context=node.context,
        use_global_arguments=False, start_parameter_services=False,
    )
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(helper)
    try:
        helper.create_subscription(
            String, topic, lambda message: received.append(message.data), qos.LATCHED
        )
        node.get_logger().info(f'waits for the robot description on {topic}')
        end = time.monotonic() + timeout
        while not received and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
    finally:
        executor.shutdown()
        helper.destroy_node()
    return received[0] if received else None
