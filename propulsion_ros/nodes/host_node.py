# SPDX-License-Identifier: Apache-2.0
"""The ROS host of a loop: connects its ports, outlets, requests and timers, and reports silence."""
from __future__ import annotations

import difflib
import functools
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden
from std_msgs.msg import String

from propulsion_ros.graph.executables import LOOPS
from propulsion_ros.loops.ports import OK, WARN, Health, Loop, Outlet, Port, Request, Timer
from propulsion_ros.messages import qos
from propulsion_ros.messages.encoders import make_encoder
from propulsion_ros.messages.fields import KINDS, MessageReader
from propulsion_ros.messages.rclpy_private import overrides_of
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.parameters import LiveParameters
from propulsion_ros.nodes.spin import run
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.names import class_of, full_name, is_installed, type_name

_CLOCK = 'clock'
_LEAD_NS = 500_000_000
"""If a player waits so long for the nodes, no message is lost [ns]."""
_UNKNOWN_NODE = '_NODE_NAME_UNKNOWN_'
"""Name in the graph of a node of which only an endpoint has been discovered."""
_LATCHED = ('latched', 'latched_history')
"""Classes of quality of service with which the first messages need not be received."""
_PATIENCE = 10
"""Number of checks before a log line that nothing is published."""
_SURE = 5
"""Checks in a row that must find a mistake: at first a graph has topics without subscription."""
_ALIKE = 0.8
"""Least similarity of a topic to one that is misspelt, at most 1."""


class HostNode(PropulsionNode):
    """A node that runs a loop; it is the `Host` of the loop, and the `Parameters`."""

    executable: ClassVar[str]
    """Name of the executable, which decides what loop the node runs."""
    default_name: ClassVar[str] = ''
    """Name if none is given; '' for that of the executable without ``_node``."""
    follows_links = False

    def __init__(self, name: str = '', **kwargs: Any) -> None:
        self.loop: Loop | None = None
        self._live: LiveParameters | None = None
        self._outlets: dict[Outlet, tuple[Any, Callable[[int, Any], None]]] = {}
        self.awaited: dict[str, FirstMessage] = {}
        self._received: Counter[str] = Counter()
        self._takes_lossy_clock = False
        super().__init__(
            name or self.default_name or self.executable.removesuffix('_node'), **kwargs
        )

    @classmethod
    def main(cls, args: Sequence[str] | None = None) -> None:
        """Run one node of this kind until it is stopped, by the process's command line."""
        sys.exit(run(lambda options: [cls()], args))

    def make_loop(self) -> Loop:
        """Return the loop, configured by the parameters of this node; raise `ConfigError`."""
        return LOOPS[self.executable](self, self)

    # Lifecycle.

    def setup(self) -> None:
        """Make the loop and connect it."""
        self.loop = loop = self.make_loop()
        for outlet in loop.outlets:
            self._open_outlet(outlet)
        for request in loop.requests:
            self._open_request(request)
        for port in loop.ports:
            self.connect(port)
        for timer in loop.timers:
            self._open_timer(timer)

    def started(self) -> None:
        """Start the loop."""
        if self.loop is not None:
            self.loop.start()

    def stopping(self) -> None:
        """Have the loop publish its last messages."""
        if self.loop is not None:
            self.loop.stop()

    def teardown(self) -> None:
        """Close the topics and forget the loop."""
        super().teardown()
        if self._live is not None:
            self._live.close()
        self.loop = self._live = None
        self._outlets.clear()
        self.awaited.clear()
        self._received.clear()
        self._takes_lossy_clock = False

    def health(self) -> Iterable[Health]:
        """Yield the diagnostic statuses of the loop, with messages missed at the start."""
        missed = self.counts['missed']
        for component, level, text, values in () if self.loop is None else self.loop.health():
            if not missed:
                yield component, level, text, values
            elif level == OK:
                yield component, WARN, 'inputs began in mid-stream', {**values, 'missed': missed}
            else:
                yield component, level, text, {**values, 'missed': missed}

    # Connections.

    def connect(self, port: Port) -> None:
        """Subscribe to the topic of a port."""
        events = None
        if port.qos == _CLOCK:
            events = SubscriptionEventCallbacks(
                incompatible_qos=lambda event: self._take_lossy_clock(port)
            )
        self._subscribe(port, qos.profile(port.qos, port.lossless), events)

    def _subscribe(self, port: Port, profile: Any, events: Any = None) -> None:
        kind = class_of(port.kind)
        receive = self._receiver(port, kind)
        is_replay = self.has_parameter('replay') and self.get_parameter('replay').value is True
        if is_replay and port.lossless and port.qos not in (*_LATCHED, _CLOCK):
            receive, events = self._noting_start(port, receive)
        self.entities.append(self.create_subscription(
            kind, port.topic, receive, profile, raw=kind in KINDS, event_callbacks=events,
            qos_overriding_options=qos.OVERRIDABLE if port.overridable else None,
        ))

    def _noting_start(
        self, port: Port, receive: Callable[[Any], None]
    ) -> tuple[Callable[[Any], None], SubscriptionEventCallbacks]:
        """Return callbacks that complain if the first message comes as soon as its publisher.

        Earlier messages are lost then. The number of a message would show that, but rclpy's events
        executor ends the process if a callback takes it.
        """
        found_ns: list[int] = []
        is_first = True

        def on_match(event: Any) -> None:
            found_ns.append(self.steady_ns())

        def on_message(message: Any) -> None:
            nonlocal is_first
            if is_first:
                is_first = False
                if not found_ns or self.steady_ns() - found_ns[0] < _LEAD_NS:
                    self.complain('missed', (
                        f'{port.topic}: began in mid-stream, its publisher did not wait for this '
                        'node; start the nodes first, and play with --delay 5'
                    ))
            receive(message)

        return on_message, SubscriptionEventCallbacks(matched=on_match)

    def _take_lossy_clock(self, port: Port) -> None:
        """Subscribe to a best-effort clock too, such as that of rosbag2."""
        if not self._takes_lossy_clock:
            self._takes_lossy_clock = True
            self._subscribe(port, qos.SENSOR)

    def _receiver(self, port: Port, kind: Any) -> Callable[[Any], None]:
        """Return a callback that passes messages, or their bytes, to a port."""
        take, is_always, received = port.take, port.while_inactive, self._received
        topic = self.resolve_topic_name(port.topic)

        def on_message(message: Any) -> None:
            if self.is_active or is_always:
                received[topic] += 1
                take(message)

        if kind not in KINDS:
            return on_message
        read = MessageReader(kind).read

        def on_bytes(data: bytes) -> None:
            try:
                message = read(data)
            except CommandError as error:
                received[topic] += 1
                self.complain('refused', f'{port.topic} refused: {error}')
                return
            on_message(message)

        return on_bytes

    def _open_outlet(self, outlet: Outlet) -> None:
        # A simulation may be faster than a recorder; of a latched topic only the last one counts.
        is_lossless = outlet.lossless or (self.is_simulated and outlet.qos not in _LATCHED)
        publisher = self.create_lifecycle_publisher(
            class_of(outlet.kind), outlet.topic, qos.profile(outlet.qos, is_lossless),
            qos_overriding_options=qos.OVERRIDABLE if outlet.overridable else None,
        )
        self.entities.append(publisher)
        self._outlets[outlet] = publisher, self.sender(publisher, make_encoder(outlet))

    def _open_request(self, request: Request) -> None:
        def on_request(message: Any, response: Any) -> Any:
            response.success, response.message = request.serve(getattr(message, 'data', True))
            return response

        kind = class_of(request.kind)
        self.entities.append(self.create_service(kind, request.topic, on_request))

    def _open_timer(self, timer: Timer) -> None:
        def on_time() -> None:
            if self.is_active:
                timer.call()

        # A timer on the system's clock would sleep while that is set back.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.entities.append(self.create_timer(timer.period, on_time, clock=steady))

    # The host of the loop, beside `complain`, `now_ns`, `steady_ns`, `counts` and `is_active`.

    @functools.cached_property
    def is_simulated(self) -> bool:
        """Whether time comes from /clock; the parameter is read-only."""
        return bool(self.get_parameter('use_sim_time').value)

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Publish a payload, while active and if any subscription can receive it."""
        self._outlets[outlet][1](stamp_ns, payload)

    def log(self, level: str, line: str) -> None:
        """Log one line at 'info', 'warn' or 'error'."""
        log = self.get_logger()
        # rclpy allows only one level for each place in the code.
        if level == 'info':
            log.info(line)
        elif level == 'warn':
            log.warning(line)
        else:
            log.error(line)

    def absence(self, ports: Sequence[Port], what: str) -> tuple[str, str]:
        """Return level and reason of the absence of messages to these ports; see `FirstMessage`."""
        if what not in self.awaited:
            topics = {port.topic: class_of(port.kind) for port in ports}
            self.awaited[what] = FirstMessage(self, topics, what, self._received)
        return self.awaited[what].look()

    def publishers_of(self, topic: str, unless: str = '') -> int:
        """Return how many publishers of a topic the graph has, without nodes that have `unless`."""
        name = self.resolve_topic_name(topic)
        if not unless:
            return self.count_publishers(name)
        return sum(
            self.count_publishers(f'{full_name(end)}/{unless}') == 0
            for end in self.get_publishers_info_by_topic(name)
        )

    def subscriptions_to(self, outlet: Outlet) -> int:
        """Return how many subscriptions match an outlet."""
        return int(self._outlets[outlet][0].get_subscription_count())

    def receivers_of(self, outlet: Outlet) -> Sequence[str]:
        """Return the full names of the nodes with a subscription that an outlet can match.

        A node whose name is not known yet is left out.
        """
        publisher = self._outlets[outlet][0]
        return [
            full_name(end) for end in self.get_subscriptions_info_by_topic(publisher.topic_name)
            if end.topic_type == outlet.kind and end.node_name != _UNKNOWN_NODE
            and qos.can_match(publisher.qos_profile, end.qos_profile)
        ]

    def topics_without(self, node: str) -> Sequence[str]:
        """Return the topics to which a node of this name could subscribe, but does not."""
        return [
            topic for topic, kinds in self.get_topic_names_and_types()
            if not topic_or_service_is_hidden(topic) and is_installed(kinds[0])
            and any(each.node_name != node for each in self.get_publishers_info_by_topic(topic))
            and all(each.node_name != node for each in self.get_subscriptions_info_by_topic(topic))
        ]

    def deactivate(self) -> None:
        """Stop the loop for good, after a failure."""
        self.has_failed = True
        self.finish()

    def finish(self) -> None:
        """Stop the loop for good."""
        self.has_ended = True
        self.trigger_deactivate()

    # The parameters of the loop, beside `declare`.

    @property
    def node_name(self) -> str:
        """Name of this node."""
        return self.get_name()

    @property
    def node_namespace(self) -> str:
        """Namespace of this node."""
        return self.get_namespace()

    @property
    def given(self) -> Mapping[str, Any]:
        """Values that files, launch and command line give, by key."""
        return overrides_of(self)

    def follow_live(
        self, classes: Sequence[type[Any]], values: Mapping[str, Any], loop: Any
    ) -> None:
        """Follow live parameters; see `LiveParameters`."""
        self._live = LiveParameters(self, classes, values, loop)

    def latched_text(self, topic: str, timeout: float) -> str:
        """Return the latched String of a topic, waiting for it for ``timeout`` [s].

        A helper node subscribes, since this node does not spin while it is configured.
        """
        received: list[str] = []
        helper = Node(
            f'{self.get_name()}_description', namespace=self.get_namespace(), context=self.context,
            use_global_arguments=False, start_parameter_services=False,
        )
        executor = SingleThreadedExecutor(context=self.context)
        executor.add_node(helper)
        try:
            helper.create_subscription(
                String, topic, lambda message: received.append(message.data), qos.LATCHED
            )
            self.get_logger().info(f'waits for the robot description on {topic}')
            end = time.monotonic() + timeout
            while not received and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.1)
        finally:
            executor.shutdown()
            helper.destroy_node()
        if not received:
            raise ConfigError('description_topic', f'nothing on {topic} within {timeout:g} s')
        return received[0]

    def has_type(self, kind: str) -> bool:
        """Return whether a type of messages is installed."""
        return is_installed(kind)


def _is_best_effort(end: Any) -> bool:
    return bool(end.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT)


def _alike(topic: str, names: Sequence[str]) -> list[str]:
    """Return the names that may be meant by a topic, those of other namespaces last."""
    near = difflib.get_close_matches(topic, names, cutoff=_ALIKE)
    return [*near, *(name for name in names if name.endswith(topic))]


class FirstMessage:
    """Finds in the graph why no message has come, until the first one.

    ROS does not report a wrong name or type of a topic.

    Parameters
    ----------
    topics : mapping of str to type
        Message class of each topic on which a message may come.
    received : Counter
        Number of messages that came on each topic, by full name.
    """

    def __init__(
        self, node: Node, topics: Mapping[str, Any], what: str, received: Counter[str]
    ) -> None:
        self._node, self._what, self._received = node, what, received
        self._kinds = {
            node.resolve_topic_name(topic): type_name(kind) for topic, kind in topics.items()
        }
        self._checks = self._repeats = 0
        self._suspected = self._logged = ''

    def look(self) -> tuple[str, str]:
        """Return level and text for the diagnostics: WARN if a topic is published in vain.

        Call it once a second. It also logs once a mistake that lasts, or, after ten checks, what is
        missing.
        """
        mistakes = [text for topic in self._kinds if (text := self._mistake(topic))]
        why = mistakes or [self._absence(topic) for topic in self._kinds]
        text = f'no {self._what} yet: {"; ".join(why)}'
        self._checks += 1
        self._repeats = self._repeats + 1 if text == self._suspected else 1
        self._suspected = text
        log = self._node.get_logger()
        if mistakes and self._repeats == _SURE and text != self._logged:
            self._logged = text
            log.warning(text)
        elif self._checks == _PATIENCE and not mistakes:
            log.info(text)
        return WARN if mistakes or any(self._received[topic] for topic in self._kinds) else OK, text

    def _mistake(self, topic: str) -> str:
        """Describe a topic that is published in vain, probably in place of this one; '' if none."""
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
        for name in _alike(topic, names):
            if self._has_no_subscription(name):
                return f'{name} is published without a subscription, expected {topic}'
        return self._unmatched_subscription({*map(full_name, ends)})

    def _unmatched_subscription(self, nodes: Collection[str]) -> str:
        """Describe a subscription of these nodes that no publisher matches; '' if none."""
        node = self._node
        topics = {name: (kinds, node.count_publishers(name))
                  for name, kinds in node.get_topic_names_and_types()}
        for subscribed, (kinds, count) in topics.items():
            near = [] if count else _alike(subscribed, [
                name for name, (others, some) in topics.items() if some and others == kinds
            ])
            ends = node.get_publishers_info_by_topic(subscribed) if len(kinds) > 1 else ()
            sent = {end.topic_type for end in ends}
            for end in node.get_subscriptions_info_by_topic(subscribed) if near or sent else ():
                name = full_name(end)
                if name not in nodes or subscribed.startswith(f'{name}/'):
                    # Inputs in the own namespace of a node are optional.
                    continue
                text = f'{name} listens to {subscribed}'
                if near:
                    return f'{text}, which has no publisher, expected {near[0]}'
                if sent and end.topic_type not in sent:
                    return f'{text} as {end.topic_type}, which is published as {min(sent)}'
        return ''

    def _has_no_subscription(self, topic: str) -> bool:
        """Return whether another node publishes a topic that has no subscription."""
        own = self._node.get_fully_qualified_name()
        publishers = {full_name(end) for end in self._node.get_publishers_info_by_topic(topic)}
        return bool(publishers - {own}) and not self._node.count_subscribers(topic)

    def _absence(self, topic: str) -> str:
        """Describe which nodes should have published a topic."""
        ends = self._node.get_publishers_info_by_topic(topic)
        if not ends:
            return f'{topic} has no publisher'
        count, names = self._received[topic], ', '.join(sorted(set(map(full_name, ends))))
        return f'{topic} has had {count or "none"} from {names}{", none of use" if count else ""}'
