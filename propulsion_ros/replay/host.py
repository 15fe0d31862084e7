# SPDX-License-Identifier: Apache-2.0
"""The host of loops in a replay: no graph, no executor, no clock but that of the messages.

Loops publish payloads, and take plain objects with the fields of messages; see
`propulsion_ros.replay.plain`.
"""
from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.ports import OK, Complaints, Loop, Outlet, Port, WithoutGraph
from propulsion_ros.replay.plain import Maker, maker_of
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import as_word

CLOCK_TOPIC = '/clock'

Emit = Callable[[str, str, Any], None]
"""``emit(topic, type, message)`` receives what is published."""


class Bus:
    """Joins the topics of loops in this process.

    Parameters
    ----------
    given : collection of str
        Topics that come from outside; what loops publish there reaches no loop.
    depth_first : bool
        Whether what follows of a message is delivered before its next port takes the message.

    Attributes
    ----------
    now_ns : int
        What a clock would show: the newest /clock where that is given, else when the newest
        message was recorded.
    steady_ns : int
        The latest time that it has shown.
    """

    def __init__(
        self, emit: Emit, given: Collection[str] = (), depth_first: bool = False
    ) -> None:
        self._emit, self.given, self._depth_first = emit, frozenset(given), depth_first
        self._takers: dict[str, list[Callable[[Any], None]]] = defaultdict(list)
        self._kinds: dict[str, str] = {}
        self._waiting: deque[tuple[str, Any]] = deque()
        self.now_ns = self.steady_ns = 0

    @property
    def wanted(self) -> frozenset[str]:
        """Topics that some loop has a port for."""
        return frozenset(self._takers)

    def takers(self, topic: str) -> int:
        """Return how many ports take a topic."""
        return len(self._takers.get(topic, ()))

    def ends_with(self, topics: Iterable[str]) -> bool:
        """Return whether what loops publish on some topics reaches no loop."""
        return all(topic in self.given or not self.takers(topic) for topic in topics)

    def pass_time(self, stamp_ns: int, is_clock: bool) -> None:
        """Take when a message was recorded, or what a clock shows."""
        if is_clock or CLOCK_TOPIC not in self.given:
            self.now_ns = stamp_ns
        self.steady_ns = max(self.steady_ns, self.now_ns)

    def subscribe(self, topic: str, kind: str, take: Callable[[Any], None]) -> None:
        """Call ``take`` with each message of a topic."""
        self._takers[topic].append(take)
        self._kinds[topic] = kind

    def wanted_of(self, kinds: Collection[str]) -> frozenset[str]:
        """Return the topics of some types that some loop has a port for."""
        return frozenset(topic for topic, kind in self._kinds.items() if kind in kinds)

    def check(self, topic: str, kind: str) -> None:
        """Raise `SourceError` where a topic is not of the type that its ports take."""
        if self._kinds.get(topic, kind) != kind:
            raise SourceError(topic, f'expected {self._kinds[topic]}, got {kind}')

    def feed(self, topic: str, message: Any, stamp_ns: int) -> None:
        """Give a message from outside to its ports in turn.

        What the first loop publishes at once, the next one knows before it takes the message:
        so a tick of a clock runs each loop with what those before it have published for it.
        """
        self._set_time(topic, message, stamp_ns)
        for take in self._takers.get(topic, ()):
            take(message)
            self._deliver()

    def feed_together(self, messages: Iterable[tuple[str, Any]], stamp_ns: int) -> None:
        """Give messages of one moment to all their ports before anything that follows of them."""
        for topic, message in messages:
            self._set_time(topic, message, stamp_ns)
            for take in self._takers.get(topic, ()):
                take(message)
        self._deliver()

    def publish(self, topic: str, kind: str, message: Any) -> None:
        """Take what a loop publishes."""
        self._emit(topic, kind, message)
        if topic in self._takers and topic not in self.given:
            self._waiting.append((topic, message))

    def _deliver(self) -> None:
        """Give what loops have published to the ports that are joined to it."""
        while self._waiting:
            topic, message = self._waiting.popleft()
            for take in self._takers[topic]:
                take(message)
                if self._depth_first:
                    self._deliver()

    def _set_time(self, topic: str, message: Any, stamp_ns: int) -> None:
        is_clock = topic == CLOCK_TOPIC
        self.pass_time(stamp_to_ns(message.clock) if is_clock else stamp_ns, is_clock)


class LoopHost(WithoutGraph):
    """Runs one loop on a bus; see `loops.ports.Host`.

    Parameters
    ----------
    name, namespace : str
        Of the node whose loop it is.
    log, note : callable
        Take a line that warns, and one that is usual; None for none of those.

    Attributes
    ----------
    counts : collections.Counter
        How often each kind of complaint was made.
    """

    def __init__(
        self,
        name: str,
        namespace: str,
        bus: Bus,
        remappings: Mapping[str, str],
        is_simulated: bool,
        log: Callable[[str], None],
        note: Callable[[str], None] | None = None,
    ) -> None:
        self.name, self.is_simulated, self._note = name, is_simulated, note
        self._prefix, self._bus, self._log = _prefix(namespace, name), bus, log
        self._remapped = {
            self._expand(topic): self._expand(to) for topic, to in remappings.items()
        }
        complaints = Complaints(lambda line: self.log('warn', line), self.steady_ns)
        self.complain = complaints.add
        self.counts: Counter[str] = complaints.counts
        self._outlets: dict[Outlet, tuple[str, Maker]] = {}

    def run(self, loop: Loop) -> None:
        """Connect a loop and start it."""
        self.loop = loop
        for outlet in loop.outlets:
            self._outlets[outlet] = self.resolve_topic_name(outlet.topic), maker_of(outlet)
        for port in loop.ports:
            self._bus.subscribe(self.resolve_topic_name(port.topic), port.kind, self._taking(port))
        self.is_active = True
        loop.start()

    @property
    def published_topics(self) -> set[str]:
        """Full names of the topics that the loop publishes."""
        return {topic for topic, _ in self._outlets.values()}

    def _taking(self, port: Port) -> Callable[[Any], None]:
        def take(message: Any) -> None:
            if self.is_active or port.while_inactive:
                port.take(message)

        return take

    def resolve_topic_name(self, topic: str) -> str:
        """Return the full name of a topic."""
        full = self._expand(topic)
        return self._remapped.get(full, full)

    def _expand(self, topic: str) -> str:
        namespace = self._prefix.rpartition('/')[0]
        if topic.startswith('~'):
            return self._prefix + topic[1:]
        return topic if topic.startswith('/') else f'{namespace}/{topic}'

    # What a loop requires.

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Publish a payload, while active."""
        if self.is_active:
            topic, make = self._outlets[outlet]
            self._bus.publish(topic, outlet.kind, make(outlet, stamp_ns, payload))

    def log(self, level: str, line: str) -> None:
        """Log a line."""
        log = self._note if level == 'info' else self._log
        if log is not None:
            log(f'{self.name}: {line}')

    def now_ns(self) -> int:
        """Return the time of the bus."""
        return self._bus.now_ns

    def steady_ns(self) -> int:
        """Return the latest time of the bus."""
        return self._bus.steady_ns

    def absence(self, ports: Sequence[Port], what: str) -> tuple[str, str]:
        """Return that nothing is wrong: there is no graph to look at."""
        return OK, f'no {what} yet'

    def publishers_of(self, topic: str) -> int:
        """Return 1 for a topic of the recording, else 0: there is no graph."""
        return int(self.resolve_topic_name(topic) in self._bus.given)


def _prefix(namespace: str, name: str) -> str:
    """Return the full name of a node, checked as ROS checks it."""
    tokens = [token for token in namespace.split('/') if token]
    for what, token in (*(('namespace', token) for token in tokens), ('node name', name)):
        if as_word(token) != token:
            raise SourceError(
                what, f'expected letters, digits and _, no digit first, got {token!r}'
            )
    return '/'.join(['', *tokens, name])
