# SPDX-License-Identifier: Apache-2.0
"""The host of loops in a replay: without graph or executor, on the time of the messages.

Loops publish payloads, and take plain objects with the fields of messages; see
`propulsion_ros.replay.plain`.
"""
from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.ports import OK, Complaints, Loop, Outlet, Port, WithoutGraph
from propulsion_ros.replay.plain import plain_message
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import as_word

CLOCK_TOPIC = '/clock'

Emit = Callable[[str, str, Any], None]
"""``emit(topic, type, message)`` receives each published message."""


class Bus:
    """Connects loops in this process by their topics.

    Parameters
    ----------
    given : collection of str
        Topics that come from outside; what loops publish there reaches no loop.
    depth_first : bool
        True if responses of a port to a message are delivered before its next port takes it.

    Attributes
    ----------
    kinds : dict of str
        Type of each topic that some loop has a port for.
    now_ns : int
        Time of the newest /clock if that is given, else of the recording of the newest message.
    steady_ns : int
        Largest `now_ns` so far.
    """

    def __init__(
        self, emit: Emit, given: Collection[str] = (), depth_first: bool = False
    ) -> None:
        self._emit, self.given, self._depth_first = emit, frozenset(given), depth_first
        self._takers: dict[str, list[Callable[[Any], None]]] = defaultdict(list)
        self.kinds: dict[str, str] = {}
        self._waiting: deque[tuple[str, Any]] = deque()
        self.now_ns = self.steady_ns = 0

    def takers(self, topic: str) -> int:
        """Return how many ports take a topic."""
        return len(self._takers.get(topic, ()))

    def pass_time(self, stamp_ns: int, is_clock: bool) -> None:
        """Set the time to that of a recorded message, or of a clock."""
        if is_clock or CLOCK_TOPIC not in self.given:
            self.now_ns = stamp_ns
        self.steady_ns = max(self.steady_ns, self.now_ns)

    def subscribe(self, topic: str, kind: str, take: Callable[[Any], None]) -> None:
        """Call ``take`` with each message of a topic."""
        self._takers[topic].append(take)
        self.kinds[topic] = kind

    def check(self, topic: str, kind: str) -> None:
        """Raise `SourceError` if a topic is not of the type that its ports take."""
        if self.kinds.get(topic, kind) != kind:
            raise SourceError(topic, f'expected {self.kinds[topic]}, got {kind}')

    def feed(
        self, messages: Iterable[tuple[str, Any]], stamp_ns: int, together: bool = False
    ) -> None:
        """Give messages from outside to their ports in turn.

        Responses of a loop are delivered before the next loop takes the message: so a tick of a
        clock runs each loop with the outputs of those before it. Those to messages of one moment,
        given ``together``, are delivered after all.
        """
        for topic, message in messages:
            is_clock = topic == CLOCK_TOPIC
            self.pass_time(stamp_to_ns(message.clock) if is_clock else stamp_ns, is_clock)
            for take in self._takers.get(topic, ()):
                take(message)
                if not together:
                    self._deliver()
        if together:
            self._deliver()

    def publish(self, topic: str, kind: str, message: Any) -> None:
        """Take a message of a loop, and queue it for the loops that subscribe to it."""
        self._emit(topic, kind, message)
        if topic in self._takers and topic not in self.given:
            self._waiting.append((topic, message))

    def _deliver(self) -> None:
        """Deliver queued messages to the ports that subscribe to them."""
        while self._waiting:
            topic, message = self._waiting.popleft()
            for take in self._takers[topic]:
                take(message)
                if self._depth_first:
                    self._deliver()


class LoopHost(WithoutGraph):
    """Runs one loop on a bus; see `loops.ports.Host`.

    Parameters
    ----------
    name, namespace : str
        Name and namespace of the node of the loop.
    log, note : callable
        Take a line that warns, and one that informs; None for none of those.

    Attributes
    ----------
    counts : collections.Counter
        Number of complaints of each kind.
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
        self._outlets: dict[Outlet, str] = {}

    def run(self, loop: Loop) -> None:
        """Connect a loop and start it."""
        self.loop = loop
        for outlet in loop.outlets:
            self._outlets[outlet] = self.resolve_topic_name(outlet.topic)
        for port in loop.ports:
            self._bus.subscribe(self.resolve_topic_name(port.topic), port.kind, self._taking(port))
        self.is_active = True
        loop.start()

    @property
    def published_topics(self) -> dict[str, Outlet]:
        """Outlets by the full names of the topics that the loop publishes."""
        return {topic: outlet for outlet, topic in self._outlets.items()}

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

    # Required by a loop.

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Publish a payload, while active."""
        if self.is_active:
            message = plain_message(outlet, stamp_ns, payload)
            self._bus.publish(self._outlets[outlet], outlet.kind, message)

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
        """Return OK, as a replay has no graph in which publishers could be missing."""
        return OK, f'no {what} yet'

    def publishers_of(self, topic: str, unless: str = '') -> int:
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
