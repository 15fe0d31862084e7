# SPDX-License-Identifier: Apache-2.0
"""A node that outlives what is wrong with messages, clocks and publishers, and complains of it."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.qos import DurabilityPolicy
from rclpy.utilities import get_rmw_implementation_identifier
from rosgraph_msgs.msg import Clock

from propulsion_ros.loops.complaints import Complaints
from propulsion_ros.loops.decoders import checked_clock
from propulsion_ros.messages.rclpy_private import LenientLifecycleNode, RCLError, reason_of
from propulsion_ros.settings.errors import CommandError

_COUNTING = ('rmw_fastrtps_cpp', 'rmw_fastrtps_dynamic_cpp', 'rmw_cyclonedds_cpp', 'rmw_connextdds')
"""Middlewares that count every subscription which receives what is published."""


class RobustNode(LenientLifecycleNode):
    """A lifecycle node that counts by kind, and logs, what would end another one."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._complaints = Complaints(lambda line: self.get_logger().warning(line), self.steady_ns)
        self.counts = self._complaints.counts
        super().__init__(name, **kwargs)

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Subscribe; drop times at which rclpy's own clock would end."""
        if msg_type is not Clock:
            return super().create_subscription(msg_type, topic, callback, *args, **kwargs)

        def on_clock(message: Clock) -> None:
            try:
                checked_clock(message.clock)
            except CommandError as error:
                self.complain('refused', f'clock refused: {error}')
            else:
                callback(message)

        return super().create_subscription(msg_type, topic, on_clock, *args, **kwargs)

    def create_lifecycle_publisher(self, *args: Any, **kwargs: Any) -> Any:
        """Create a publisher that publishes while the node is active, and does not raise."""
        return self.steadfast(super().create_lifecycle_publisher(*args, **kwargs))

    def steadfast(self, publisher: Any) -> Any:
        """Let a publisher complain where it would raise, so that overload ends no node."""
        publisher.publish = self._complaining(publisher.topic_name, publisher.publish)
        return publisher

    def _complaining(self, topic: str, send: Callable[..., None]) -> Callable[..., None]:
        """Return what sends to a topic, and complains where that fails."""
        def try_send(*args: Any) -> None:
            try:
                send(*args)
            except RCLError as error:
                self.complain('unsent', f'{topic} not published: {reason_of(error)}')

        return try_send

    def sender(
        self, publisher: Any, encode: Callable[[int, Any], Any]
    ) -> Callable[[int, Any], None]:
        """Return what encodes a stamp and a payload, and publishes them while active.

        Without a subscription nothing is encoded, unless a later one would still receive it, or the
        middleware is none of which it is known that it counts every subscription.
        """
        handle, publish = publisher.handle, publisher.publish
        # What the layers above it would do again for each message is done here once.
        publish_bytes, subscriptions = handle.publish_raw, handle.get_subscription_count
        is_kept = publisher.qos_profile.durability != DurabilityPolicy.VOLATILE
        always = is_kept or get_rmw_implementation_identifier() not in _COUNTING

        def send(stamp_ns: int, payload: Any) -> None:
            if not publisher.is_activated:
                return
            with handle:
                if not (always or subscriptions()):
                    return
                message = encode(stamp_ns, payload)
                if type(message) is bytes:
                    publish_bytes(message)
                else:
                    publish(message)

        return self._complaining(publisher.topic_name, send)

    def complain(self, key: str, line: str) -> None:
        """Count what is wrong, and warn: once for the same text, else at most 5 times in 5 s."""
        self._complaints.add(key, line)

    def now_ns(self) -> int:
        """Return the time of messages [ns]: that of /clock with ``use_sim_time``."""
        return int(self.get_clock().now().nanoseconds)

    def steady_ns(self) -> int:
        """Return a time that is never set back [ns]."""
        return time.monotonic_ns()
