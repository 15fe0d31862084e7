# SPDX-License-Identifier: Apache-2.0
"""A node that writes the topics of a graph into a bag, as they are on the wire."""
from __future__ import annotations

import functools
import struct
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.client import Client
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.messages.rclpy_private import RCLError, reason_of
from propulsion_ros.replay.bags import Recorded
from propulsion_ros.replay.plain import SECOND, STAMP
from propulsion_ros.settings.names import class_of, full_name

RECORDER = 'recorder'
"""Name of the node."""
RECORDED = f'/{RECORDER}/recorded'
"""Topic with the stamp up to which a recorder has all that a simulation waits for."""
_DEPTH = 10_000  # of a queue [messages]
_SEARCH = 0.2  # time between two searches for new topics [s]
_SETTLED = 1.0  # time without new topics after which discovery is over [s]
_QUESTION = 'get_parameters'
_REPEAT = 1.0  # time after which a request without a response is repeated [s]
_PATIENCE = 10.0  # longest wait for a node whose topics are not needed [s]


class Pace:
    """Publishes on `RECORDED` the stamp up to which pairs of a reader and a topic have come."""

    def __init__(self, node: Node, paced: Collection[tuple[str, str]]) -> None:
        self.newest_ns = dict.fromkeys(paced, -1)
        self._published_ns = -1
        self._publisher = node.create_publisher(Clock, RECORDED, qos.LOCKSTEP)

    def take(self, reader: str, topic: str, stamp_ns: int, now_ns: int = 0) -> None:
        """Note the stamp of a message that a reader has, at a time of the clock."""
        newest_ns, key = self.newest_ns, (reader, topic)
        if key in newest_ns and stamp_ns == 0 and now_ns > 0:
            # A topic without stamps cannot be assigned to steps.
            del newest_ns[key]
        elif key in newest_ns:
            newest_ns[key] = stamp_ns
        pace_ns = min(newest_ns.values(), default=-1)
        if pace_ns not in (-1, self._published_ns):
            self._published_ns = pace_ns
            self._publisher.publish(Clock(clock=ns_to_stamp(pace_ns)))


class Recorder(Node):
    """Subscribes to every topic, or some, and passes each message on with the time of its arrival.

    Parameters
    ----------
    write : callable
        ``write(recorded, offered)`` gets each message, with increasing stamps, and the qualities of
        service with which its topic was offered when it was found.
    topics : collection of str
        Full names; empty for all topics, including those that appear later.
    sim_time : bool
        True to take the time from /clock instead of the system clock.
    last : str
        Topic that is subscribed to at the end of `settle`: a node that waits for this
        subscription begins when all else is recorded.
    pace : Pace or None
        Has the full names of topics with a header, whose publishers must not be faster than this.

    Attributes
    ----------
    counts, lost : collections.Counter
        Numbers of messages of each topic that were recorded, and that the middleware dropped.
    """

    def __init__(
        self,
        write: Callable[[Recorded, Sequence[QoSProfile]], None],
        topics: Collection[str] = (),
        sim_time: bool = False,
        context: rclpy.Context | None = None,
        last: str = '',
        pace: Pace | None = None,
    ) -> None:
        super().__init__(RECORDER, context=context, start_parameter_services=False)
        self._write, self._topics, self._sim_time = write, frozenset(topics), sim_time
        self._last, self._pace = last, pace
        self._subscribed: dict[str, Any] = {}
        self._last_ns = 0
        self._clock_ns: int | None = None
        self._early: list[tuple[str, str, Sequence[QoSProfile], bytes]] = []
        self._is_full = False
        self.counts: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        if sim_time:
            # Gazebo publishes it best effort.
            self.create_subscription(Clock, '/clock', self._on_clock, qos.SENSOR)
        self._search()
        self.create_timer(_SEARCH, self._search)

    @property
    def topics(self) -> frozenset[str]:
        """Topics that are recorded."""
        return frozenset(self._subscribed)

    def settle(
        self,
        executor: Executor,
        needed: Collection[str],
        limit: float,
        absent: Callable[[], str] = lambda: '',
    ) -> None:
        """Spin until needed topics are received, no new ones appear, and publishers know of it.

        New are topics, and nodes to call, that the graph had not reported before. A node of other
        topics that does not reply is named in a warning. Raises `TimeoutError` if something does
        not appear, or the publisher of a needed topic does not reply.

        Parameters
        ----------
        limit : float
            Longest wait, in wall time [s].
        absent : callable
            Returns what else is missing, '' for nothing; an exception of it ends the wait.
        """
        begun = changed = time.monotonic()
        known: tuple[int, set[str]] = -1, set()
        while (now := time.monotonic()) - changed < _SETTLED or self._missing(needed, absent):
            if now - begun > limit:
                missing = self._missing(needed, absent) or 'new topics without end'
                raise TimeoutError(f'not recorded within {limit:g} s: {missing}')
            if (found := (len(self._subscribed), self._publishing_nodes())) != known:
                known, changed = found, now
            executor.spin_once(timeout_sec=_SEARCH)
        required = self._publishing_nodes(needed)
        for name in sorted(self._publishing_nodes(), key=lambda name: (name not in required, name)):
            end = begun + limit if name in required else time.monotonic() + _PATIENCE
            if not self._has_reply(name, executor, end, absent):
                problem = f'{name}/{_QUESTION}: expected a response, got none'
                if name in required:
                    raise TimeoutError(problem)
                self.get_logger().warning(f'{problem}, so its first messages may be missing')
        self._last = ''
        self._search()

    def _missing(self, needed: Collection[str], absent: Callable[[], str]) -> str:
        return absent() or ', '.join(sorted(set(needed) - self.topics - {self._last}))

    def _publishing_nodes(self, topics: Collection[str] | None = None) -> set[str]:
        """Return the names of the nodes with a service to call that publish some topics, or any."""
        nodes = {
            full_name(info)
            for topic in self._subscribed if topics is None or topic in topics
            for info in self.get_publishers_info_by_topic(topic)
        }
        services = {name for name, _ in self.get_service_names_and_types()}
        return {name for name in nodes if f'{name}/{_QUESTION}' in services}

    def _has_reply(
        self, node: str, executor: Executor, end: float, absent: Callable[[], str]
    ) -> bool:
        """Spin until a node replies, which shows that its publishers know the subscriptions here.

        A node discovers readers in the order of their creation, so that of the response comes last;
        a response that is sent before that is lost, and requested again.
        """
        client: Client[Any, Any] = self.create_client(GetParameters, f'{node}/{_QUESTION}')
        responses: list[Any] = []
        called = -_REPEAT
        while not any(each.done() for each in responses) and (now := time.monotonic()) < end:
            absent()
            if now - called >= _REPEAT:
                called = now
                responses.append(client.call_async(GetParameters.Request()))
            executor.spin_once(timeout_sec=_SEARCH)
        self.destroy_client(client)
        return any(each.done() for each in responses)

    def _search(self) -> None:
        """Subscribe to the topics that are new."""
        for topic, types in self.get_topic_names_and_types():
            is_wanted = topic in self._topics or not self._topics
            publishers = self.get_publishers_info_by_topic(topic)
            others = self._last, RECORDED
            if topic in (*self._subscribed, *others) or not is_wanted or not publishers:
                continue
            self._subscribed[topic] = None
            try:
                kind = class_of(types[0])
            except LookupError as error:
                self.get_logger().warning(f'{topic} is not recorded: {error}')
                continue
            offers = [info.qos_profile for info in publishers]
            are_reliable = all(p.reliability == ReliabilityPolicy.RELIABLE for p in offers)
            are_latched = all(p.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in offers)
            profile = qos.profile_of(_DEPTH, are_reliable, are_latched)
            receive = functools.partial(self._on_message, topic, types[0], offers)
            try:
                self._subscribed[topic] = self.create_subscription(
                    kind, topic, receive, profile, raw=True,
                    event_callbacks=SubscriptionEventCallbacks(
                        message_lost=functools.partial(self._on_lost, topic)
                    ),
                )
            except RCLError as error:
                # Access control may forbid it, or this process use the topic with another type.
                self.get_logger().warning(f'{topic} is not recorded: {reason_of(error)}')

    def _on_clock(self, message: Clock) -> None:
        self._clock_ns = stamp_to_ns(message.clock)
        # Latched messages came before the first /clock.
        early, self._early = self._early, []
        for topic, kind, offers, data in early:
            self._on_message(topic, kind, offers, data)

    def report_lost(self) -> None:
        """Warn of published messages that are missing in the recording."""
        if self.lost:
            each = ', '.join(f'{count} of {topic}' for topic, count in sorted(self.lost.items()))
            self.get_logger().warning(
                f'{self.lost.total()} messages were lost: {each}; they came faster than they were '
                'recorded, and the queue of their publisher was full'
            )

    def _on_lost(self, topic: str, event: Any) -> None:
        self.lost[topic] += event.total_count_change

    def _on_message(
        self, topic: str, kind: str, offers: Sequence[QoSProfile], data: bytes
    ) -> None:
        if not self._sim_time:
            now_ns = self.get_clock().now().nanoseconds
        elif self._clock_ns is None:
            self._keep_early(topic, kind, offers, data)
            return
        else:
            now_ns = self._clock_ns
        # Messages keep the order in which they came.
        self._last_ns = max(now_ns, self._last_ns + 1)
        self.counts[topic] += 1
        self._write(Recorded(topic, kind, self._last_ns, bytes(data)), offers)
        if self._pace and (RECORDER, topic) in self._pace.newest_ns:
            seconds, part = struct.unpack('<iI', data[STAMP])
            self._pace.take(RECORDER, topic, seconds * SECOND + part, self._clock_ns or 0)

    def _keep_early(
        self, topic: str, kind: str, offers: Sequence[QoSProfile], data: bytes
    ) -> None:
        """Keep messages that came before the first /clock, up to `_DEPTH` of them."""
        if len(self._early) < _DEPTH:
            self._early.append((topic, kind, offers, data))
        elif not self._is_full:
            self._is_full = True
            self.get_logger().warning('no /clock yet, so no more is kept until it comes')
