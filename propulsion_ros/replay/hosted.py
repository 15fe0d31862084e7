"""The nodes of this package without a graph: no DDS, no executor, no clock but the messages'.

The very classes that run on a robot are given messages one by one, so what they say offline is
what they say there.
"""
from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping
from typing import Any

from rclpy.expand_topic_name import expand_topic_name
from rclpy.impl.logging_severity import LoggingSeverity
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.logging import get_logger
from rclpy.parameter import Parameter
from rclpy.time import Time

from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages.graph_names import type_name
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.replay.cdr import Wire
from propulsion_ros.settings.errors import SourceError

CLOCK_TOPIC = '/clock'


class Bus:
    """Joins the topics of hosted nodes in this process.

    Parameters
    ----------
    emit : callable
        ``emit(topic, type, data)`` gets everything that is published, as CDR.
    wire : Wire
        Reads and writes messages.
    given : collection of str
        Topics that come from outside; nobody else is heard on them.

    Attributes
    ----------
    now_ns : int
        What a clock would show: the newest /clock where that is given, else when the newest
        message was recorded.
    """

    def __init__(
        self, emit: Callable[[str, str, bytes], None], wire: Wire, given: Collection[str] = ()
    ) -> None:
        self._emit, self._wire, self._given = emit, wire, frozenset(given)
        self._callbacks: dict[str, list[tuple[Callable[[Any], None], bool]]] = defaultdict(list)
        self._kinds: dict[str, str] = {}
        self._waiting: deque[tuple[str, bytes]] = deque()
        self.now_ns = 0

    @property
    def wanted(self) -> frozenset[str]:
        """Topics that some node subscribes to."""
        return frozenset(self._callbacks)

    def subscribe(
        self, topic: str, kind: Any, callback: Callable[[Any], None], raw: bool = False
    ) -> None:
        """Call back with each message of a topic, or with its bytes."""
        self._callbacks[topic].append((callback, raw))
        self._kinds[topic] = type_name(kind)

    def feed(self, topic: str, kind: str, data: bytes, stamp_ns: int) -> None:
        """Give a message from outside, of a time, to all who want it, and what they say on.

        Raises
        ------
        SourceError
            Where it is not what its topic should carry.
        """
        if self._kinds.get(topic, kind) != kind:
            raise SourceError(topic, f'expected {self._kinds[topic]}, got {kind}')
        if CLOCK_TOPIC not in self._given:
            self.now_ns = stamp_ns
        self._deliver(topic, data)

    def publish(self, topic: str, kind: str, message: Any) -> None:
        """Take what a node says, a message or its bytes; it may use its message again at once."""
        data = (
            self._wire.canonical(message, kind) if isinstance(message, bytes)
            else self._wire.write(message, kind)
        )
        self._emit(topic, kind, data)
        if topic in self._callbacks and topic not in self._given:
            self._waiting.append((topic, data))

    def _deliver(self, topic: str, data: bytes) -> None:
        callbacks = self._callbacks.get(topic)
        if callbacks is None:
            return
        # What is no such message stops the replay, also where its bytes are wanted.
        message = self._wire.read(data, self._kinds[topic])
        if topic == CLOCK_TOPIC:
            self.now_ns = stamp_to_ns(message.clock)
        for callback, is_raw in callbacks:
            callback(data if is_raw else message)
            # What a node answers at once, the next one knows: a clock ticks for them in turn.
            while self._waiting:
                self._deliver(*self._waiting.popleft())


class HostedNode(LifecycleNode):
    """Stands below a node in the place of rclpy's; see `host`.

    Parameters
    ----------
    node_name : str
        Of the node.
    bus : Bus
        What it hears and says.
    namespace : str
        Of the node.
    remappings : mapping of str
        Topic names, from and to.
    parameter_overrides : mapping
        Parameters that are given to it.
    """

    def __init__(
        self,
        node_name: str,
        *,
        bus: Bus,
        namespace: str = '',
        remappings: Mapping[str, str],
        parameter_overrides: Mapping[str, Any],
    ) -> None:
        # rclpy's own start would join a graph. A node's own attributes must not meet these.
        self._hosted_name = node_name
        self._hosted_namespace = f'/{namespace.strip("/")}'
        self._hosted_bus = bus
        self._hosted_speaks = False
        self._hosted_topics = {
            self._hosted_expand(key): self._hosted_expand(to) for key, to in remappings.items()
        }
        self._parameter_overrides = {
            key: Parameter(key, value=value) for key, value in parameter_overrides.items()
        }
        self._parameters: dict[str, Parameter[Any]] = {}
        self._hosted_log = get_logger(node_name)
        self._hosted_log.set_level(LoggingSeverity.WARN)
        self.declare_parameter('use_sim_time', False)

    # What a node asks of rclpy.

    def get_name(self) -> str:
        """Return the name."""
        return self._hosted_name

    def get_namespace(self) -> str:
        """Return the namespace."""
        return self._hosted_namespace

    def get_fully_qualified_name(self) -> str:
        """Return namespace and name."""
        return self._hosted_expand(self._hosted_name)

    def get_logger(self) -> Any:
        """Return a logger that is quiet but for what is wrong."""
        return self._hosted_log

    def get_clock(self) -> Any:
        """Return a clock that shows the time of the bus."""
        return self

    def now(self) -> Time:
        """Return the time of the bus."""
        return Time(nanoseconds=self._hosted_bus.now_ns)

    def declare_parameter(self, name: str, value: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Declare a parameter; what is given wins over its default."""
        given = self._parameter_overrides.get(name)
        self._parameters[name] = Parameter(name, value=value) if given is None else given
        return self._parameters[name]

    def has_parameter(self, name: str) -> bool:
        """Return whether a parameter is declared."""
        return name in self._parameters

    def get_parameter(self, name: str) -> Any:
        """Return a declared parameter."""
        return self._parameters[name]

    def set_descriptor(self, *args: Any, **kwargs: Any) -> Any:
        """Do nothing: nobody asks for descriptors."""

    def add_on_set_parameters_callback(self, callback: Any) -> None:
        """Do nothing: nobody sets parameters."""

    add_post_set_parameters_callback = add_on_set_parameters_callback
    remove_on_set_parameters_callback = add_on_set_parameters_callback
    remove_post_set_parameters_callback = add_on_set_parameters_callback

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *args: Any, raw: bool = False, **kwargs: Any
    ) -> Any:
        """Hear a topic of the bus."""
        self._hosted_bus.subscribe(self.resolve_topic_name(topic), msg_type, callback, raw)
        return callback

    def create_publisher(self, msg_type: Any, topic: str, *args: Any, **kwargs: Any) -> Any:
        """Say something on the bus, while active."""
        full = self.resolve_topic_name(topic)
        return _Publisher(self, self._hosted_bus, full, type_name(msg_type))

    create_lifecycle_publisher = create_publisher

    def create_service(self, *args: Any, **kwargs: Any) -> Any:
        """Make nothing: nobody calls."""
        return None

    create_timer = create_service

    def destroy_service(self, service: Any) -> bool:
        """Return that it is gone."""
        return True

    def destroy_timer(self, timer: Any) -> bool:
        """Return that it is gone."""
        return True

    def destroy_publisher(self, publisher: Any) -> bool:
        """Return that it is gone."""
        return True

    def destroy_subscription(self, subscription: Any) -> bool:
        """Return that it is gone."""
        return True

    def destroy_lifecycle_publisher(self, publisher: Any) -> bool:
        """Return that it is gone."""
        return True

    def destroy_node(self) -> None:
        """Do nothing: no graph knows of it."""

    def get_topic_names_and_types(self, no_demangle: bool = False) -> list[Any]:
        """Return none: there is no graph."""
        return []

    def get_publishers_info_by_topic(self, topic_name: str, no_mangle: bool = False) -> list[Any]:
        """Return none, too."""
        return []

    @property
    def is_publishing(self) -> bool:
        """Whether what it publishes goes out."""
        return self._hosted_speaks

    # Lifecycle.

    def trigger_configure(self) -> TransitionCallbackReturn:
        """Configure."""
        return self.on_configure(_NO_STATE)

    def trigger_activate(self) -> TransitionCallbackReturn:
        """Activate."""
        return self.on_activate(_NO_STATE)

    def trigger_deactivate(self) -> TransitionCallbackReturn:
        """Deactivate."""
        return self.on_deactivate(_NO_STATE)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Succeed."""
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let publishers speak."""
        self._hosted_speaks = True
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Silence publishers."""
        self._hosted_speaks = False
        return TransitionCallbackReturn.SUCCESS

    def _hosted_expand(self, name: str) -> str:
        try:
            return str(expand_topic_name(name, self._hosted_name, self._hosted_namespace))
        except ValueError as error:
            where = f'{self._hosted_namespace} {self._hosted_name} {name}'
            raise SourceError(where, ' '.join(str(error).split())) from None

    def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str:
        """Return the full name of a topic."""
        expanded = self._hosted_expand(topic)
        return self._hosted_topics.get(expanded, expanded)


_NO_STATE = LifecycleState(state_id=0, label='')


class _Publisher:
    """What a hosted node publishes with."""

    def __init__(self, node: HostedNode, bus: Bus, topic: str, kind: str) -> None:
        self._node, self._bus, self._kind = node, bus, kind
        self.topic_name = topic

    def publish(self, message: Any) -> None:
        if self._node.is_publishing:
            self._bus.publish(self.topic_name, self._kind, message)

    def get_subscription_count(self) -> int:
        return 1


def host(
    cls: type[PropulsionNode],
    name: str,
    bus: Bus,
    namespace: str = '',
    remappings: Mapping[str, str] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> PropulsionNode:
    """Return a node of a class on a bus, configured and active unless it has failed.

    Parameters
    ----------
    cls : type
        Any node of this package.
    name, namespace : str
        Its name.
    bus : Bus
        What it hears and says.
    remappings : mapping of str
        Topic names, from and to.
    parameters : mapping
        What files and launch would give it.
    """
    # The node's own bases come first, rclpy's last: between them stands what replaces it.
    hosted = type(f'Hosted{cls.__name__}', (cls, HostedNode), {})
    node: PropulsionNode = hosted(
        name, bus=bus, namespace=namespace, remappings=remappings or {},
        parameter_overrides=parameters or {},
    )
    node.start()
    return node
