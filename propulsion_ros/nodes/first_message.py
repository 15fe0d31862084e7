# SPDX-License-Identifier: Apache-2.0
"""A first message: one latched text that is waited for, and why nothing has come yet.

To ROS a wrong name or type of a topic is no fault.
"""
from __future__ import annotations

import difflib
import time
from collections.abc import Mapping
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from std_msgs.msg import String

from propulsion_ros.loops.ports import OK, WARN
from propulsion_ros.messages import qos
from propulsion_ros.messages.graph_names import full_name, type_name


def _is_best_effort(end: Any) -> bool:
    return bool(end.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT)


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


_PATIENCE = 10
"""Looks before a log line that nothing is published."""
_SURE = 5
"""Looks in a row that must see a mistake: a graph that forms has topics without subscription."""
_ALIKE = 0.8
"""How alike a topic must be to be one that is misspelt; of 1."""


class FirstMessage:
    """Finds in the graph why no message has come, until the first one.

    Parameters
    ----------
    node : Node
        Who waits.
    topics : mapping of str to type
        Where it can come from, and as which message class.
    what : str
        What is waited for.
    """

    def __init__(self, node: Node, topics: Mapping[str, Any], what: str = 'command') -> None:
        self._node, self._what = node, what
        self._kinds = {
            node.resolve_topic_name(topic): type_name(kind) for topic, kind in topics.items()
        }
        self._looks = self._seen = 0
        self._suspected = self._logged = ''

    def look(self) -> tuple[str, str]:
        """Return level and text for the diagnostics: WARN where a publication has no subscription.

        To be called once a second. The log has it too, once: a mistake that lasts, and what is
        missing after ten looks.
        """
        mistakes = [text for topic in self._kinds if (text := self._mistake(topic))]
        why = mistakes or [self._absence(topic) for topic in self._kinds]
        text = f'no {self._what} yet: {"; ".join(why)}'
        self._looks += 1
        self._seen = self._seen + 1 if text == self._suspected else 1
        self._suspected = text
        log = self._node.get_logger()
        if mistakes and self._seen == _SURE and text != self._logged:
            self._logged = text
            log.warning(text)
        elif self._looks == _PATIENCE and not mistakes:
            log.info(text)
        return WARN if mistakes else OK, text

    def _mistake(self, topic: str) -> str:
        """Return what is published in vain and probably meant for a topic, '' for nothing."""
        kind, ends = self._kinds[topic], self._node.get_publishers_info_by_topic(topic)
        others = {end.topic_type for end in ends} - {kind}
        if others:
            return f'{topic} is published as {min(others)}, expected {kind}'
        weak = [full_name(end) for end in ends if _is_best_effort(end)]
        own = [end for end in self._node.get_subscriptions_info_by_topic(topic)
               if full_name(end) == self._node.get_fully_qualified_name()]
        if weak and own and not any(map(_is_best_effort, own)):
            return f'{weak[0]} publishes {topic} as best effort, expected reliable'
        names = [
            name for name, kinds in self._node.get_topic_names_and_types()
            if kind in kinds and name != topic
        ]
        near = difflib.get_close_matches(topic, names, cutoff=_ALIKE)
        for name in (*near, *(name for name in names if name.endswith(topic))):
            if self._has_no_subscription(name):
                return f'{name} is published without a subscription, expected {topic}'
        return ''

    def _has_no_subscription(self, topic: str) -> bool:
        """Return whether another node publishes a topic that has no subscription."""
        own = self._node.get_fully_qualified_name()
        publishers = {full_name(end) for end in self._node.get_publishers_info_by_topic(topic)}
        return bool(publishers - {own}) and not self._node.count_subscribers(topic)

    def _absence(self, topic: str) -> str:
        """Return who should have published."""
        ends = self._node.get_publishers_info_by_topic(topic)
        if not ends:
            return f'{topic} has no publisher'
        return f'{topic} has had none from {", ".join(sorted(set(map(full_name, ends))))}'
