# SPDX-License-Identifier: Apache-2.0
"""A node that plays a bag, each message at its time."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock

from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.messages.qos import profile_of
from propulsion_ros.replay.bags import Recorded
from propulsion_ros.settings.names import class_of

_DEPTH = 10_000  # of a queue [messages]
_POLL = 0.05  # time between two checks of the graph [s]
_SETTLED = 0.5  # time without new endpoints after which discovery is over [s]
_LEAD = 1.0  # wait before the first message, as nodes may discover the player later [s]
_FLUSH = 60.0  # longest wait until all messages are received [s]


class Player(Node):
    """Publishes the messages of a bag at ``rate`` times the speed of their recording.

    Parameters
    ----------
    rate : float
        Seconds of the bag per second of wall time.
    clock_rate : float
        Rate of /clock in wall time [Hz]; 0 for no /clock.

    Attributes
    ----------
    played : dict of str
        Type of each topic that is played, as `choose` found it.
    """

    def __init__(
        self, rate: float = 1.0, clock_rate: float = 0.0, context: rclpy.Context | None = None
    ) -> None:
        super().__init__('player', context=context, start_parameter_services=False)
        self._rate = rate
        self._publishers_of: dict[str, Any] = {}
        self.played: dict[str, str] = {}
        self._time = self.create_publisher(Clock, '/clock', 10) if clock_rate else None
        self._clock_period = 1.0 / clock_rate if clock_rate else 0.0
        self._published = 0.0

    def choose(
        self, topics: Mapping[str, str], executor: Executor, limit: float, insists: bool = False
    ) -> None:
        """Wait until the topics have subscriptions, and open those that no other node publishes.

        Nodes are discovered one by one: discovery is over once no more appear, or after a limit
        [s]. Raises `LookupError` for a message type that is not installed.

        Parameters
        ----------
        insists : bool
            True to open topics that another node publishes too.
        """
        kinds = {topic: class_of(kind) for topic, kind in topics.items()}
        end = time.monotonic() + limit
        known: dict[str, tuple[int, int]] = {}
        changed = time.monotonic()
        while (now := time.monotonic()) < end:
            found = {topic: (self._publishing(topic), self._subscribing(topic)) for topic in topics}
            if found != known:
                known, changed = found, now
            elif all(map(any, known.values())) and now - changed >= _SETTLED:
                break
            executor.spin_once(timeout_sec=_POLL)
        self.played = {
            topic: kind for topic, kind in topics.items() if insists or not self._publishing(topic)
        }
        self._publishers_of = {
            topic: self.create_publisher(kinds[topic], topic, self._profile(topic))
            for topic in self.played
        }
        while time.monotonic() < end and any(
            publisher.get_subscription_count() < self._subscribing(topic)
            for topic, publisher in self._publishers_of.items()
        ):
            executor.spin_once(timeout_sec=_POLL)
        begin = time.monotonic() + _LEAD
        while time.monotonic() < begin:
            executor.spin_once(timeout_sec=_POLL)

    def _publishing(self, topic: str) -> int:
        """Return how many publishers of a topic other nodes have."""
        return self._others(self.get_publishers_info_by_topic(topic))

    def _subscribing(self, topic: str) -> int:
        """Return how many subscriptions to a topic other nodes have."""
        return self._others(self.get_subscriptions_info_by_topic(topic))

    def _others(self, endpoints: Iterable[Any]) -> int:
        return sum(info.node_name != self.get_name() for info in endpoints)

    def _profile(self, topic: str) -> QoSProfile:
        """Return a quality of service that is compatible with every subscription to a topic."""
        latched = any(
            info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            for info in self.get_subscriptions_info_by_topic(topic)
        )
        return profile_of(_DEPTH, True, latched)

    def unmatched(self) -> list[str]:
        """Return the topics without a subscription."""
        return [
            topic for topic, publisher in self._publishers_of.items()
            if not publisher.get_subscription_count()
        ]

    def play(
        self,
        messages: Iterable[Recorded],
        executor: Executor,
        progress: Callable[[Recorded], None] = lambda message: None,
    ) -> list[str]:
        """Publish all messages of its topics, and return when all have been received.

        Returns
        -------
        list of str
            Topics with a subscription that has not received all messages within `_FLUSH`.
        """
        begun = time.monotonic()
        first_ns: int | None = None
        stamp_ns = 0
        for message in messages:
            publisher = self._publishers_of.get(message.topic)
            if publisher is None:
                continue
            stamp_ns = message.stamp_ns
            first_ns = stamp_ns if first_ns is None else first_ns
            self._wait(stamp_ns, first_ns, begun, executor)
            publisher.publish(message.data)
            progress(message)
        publishers = dict(self._publishers_of)
        if self._time is not None and first_ns is not None:
            # Without it, nodes that step on /clock would not run their last steps.
            self._time.publish(Clock(clock=ns_to_stamp(stamp_ns)))
            publishers['/clock'] = self._time
        end = time.monotonic() + _FLUSH
        return [
            topic for topic, publisher in publishers.items()
            if not publisher.wait_for_all_acked(
                Duration(seconds=max(end - time.monotonic(), 0.0))
            )
        ]

    def _wait(self, stamp_ns: int, first_ns: int, begun: float, executor: Executor) -> None:
        """Spin until it is time for a message, and publish the time until then."""
        due = begun + (stamp_ns - first_ns) * 1e-9 / self._rate
        while True:
            now = time.monotonic()
            if self._time is not None and now - self._published >= self._clock_period:
                self._published = now
                # Never later than the next message, even if that is behind schedule.
                passed_ns = round((now - begun) * self._rate * 1e9)
                self._time.publish(Clock(clock=ns_to_stamp(min(first_ns + passed_ns, stamp_ns))))
            if now >= due:
                return
            rest = due - now
            executor.spin_once(timeout_sec=min(rest, self._clock_period or rest))
