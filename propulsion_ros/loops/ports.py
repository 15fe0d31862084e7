# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a loop, without ROS: a table that every host runs alike.

A loop declares its ports, outlets, requests and timers. A host (a ROS node, the file replay,
Gazebo) connects them: it delivers messages to ports, serialises what is published on outlets, and
supplies the time. A loop imports neither the host nor ROS.
"""
from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from propulsion_ros.settings.errors import FIRST, ConfigError, Faults, one_line
from propulsion_ros.settings.flat import Parameter, refuse_unknown, unknown_keys

OK, WARN, ERROR = 'ok', 'warn', 'error'

NONE: Mapping[str, Any] = MappingProxyType({})
"""No values."""
Health = tuple[str, str, str, Mapping[str, Any]]
"""Component, level (`OK`, `WARN` or `ERROR`), text and values of one diagnostic status."""


@dataclass(frozen=True, eq=False)
class Port:
    """One input."""

    topic: str
    """Name of the topic, ``~/`` for one of the node's own."""
    kind: str
    """Message type, such as ``sensor_msgs/msg/JointState``."""
    take: Callable[[Any], None]
    """Receives each message, or anything with the same attributes, and must not keep it."""
    qos: str
    """Class of quality of service: 'command', 'sensor', 'state', 'lockstep', 'latched', 'clock',
    'glance' for the newest message alone."""
    lossless: bool = False
    """Whether no message may be lost, as in lockstep and replay."""
    while_inactive: bool = False
    """Whether messages are delivered before activation too, as of a latched topic."""
    overridable: bool = True
    """Whether a parameter file may change the quality of service."""


@dataclass(frozen=True, eq=False)
class Outlet:
    """One output; `propulsion_ros.messages` has an encoder for each kind and form of payload.

    Attributes
    ----------
    topic, kind, qos, lossless, overridable
        As of a `Port`; 'result', 'latched_history', 'tf' and 'picture' are further
        classes.
    """

    topic: str
    kind: str
    qos: str
    frame: str = ''
    """``header.frame_id``, '' if the type has none."""
    names: tuple[str, ...] = ()
    """Names that are the same in every message, () if they differ."""
    lossless: bool = False
    overridable: bool = True


@dataclass(frozen=True)
class Request:
    """One service."""

    topic: str
    """Name of the service."""
    kind: str
    """``std_srvs/srv/Trigger`` or ``std_srvs/srv/SetBool``."""
    serve: Callable[[bool], tuple[bool, str]]
    """``serve(data) -> (success, message)``; ``data`` is True for a Trigger."""


@dataclass(frozen=True)
class Timer:
    """A periodic call on the steady clock; a replay, which has no such clock, never makes it."""

    period: float
    """Seconds between two calls."""
    call: Callable[[], None]
    """Callback, only while the loop is active."""


class Host(Protocol):
    """Functions of a host that a loop may use."""

    counts: Counter[str]
    """Number of complaints of each kind."""

    @property
    def is_simulated(self) -> bool:
        """Whether time comes from /clock."""

    @property
    def is_active(self) -> bool:
        """Whether the loop runs: between `Loop.start` and `Loop.stop`."""

    @property
    def follows_links(self) -> bool:
        """Whether actuators push at the present place of their links, not as described."""

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Publish a payload in the form that the encoder of the outlet's kind takes."""

    def complain(self, key: str, line: str) -> None:
        """Count a complaint, and log it unless it was logged often already."""

    def log(self, level: str, line: str) -> None:
        """Log one line at 'info', 'warn' or 'error'."""

    def now_ns(self) -> int:
        """Return the time of messages [ns]: ROS time, or that of the recording."""

    def steady_ns(self) -> int:
        """Return a time that is never set back [ns]; in a replay, that of the recording."""

    def absence(self, ports: Sequence[Port], what: str) -> tuple[str, str]:
        """Return level and text of why nothing has come to any of these ports yet.

        A ROS host looks at the graph for misspelt topics and wrong types; others have no graph.
        """

    def resolve_topic_name(self, topic: str) -> str:
        """Return the full name of a topic, after remapping."""

    def publishers_of(self, topic: str, unless: str = '') -> int:
        """Return how many publishers of a topic the graph has, this host's own included.

        Those of nodes that also publish ``<node>/unless`` do not count.
        """

    def subscriptions_to(self, outlet: Outlet) -> int:
        """Return how many subscriptions match an outlet."""

    def receivers_of(self, outlet: Outlet) -> Sequence[str]:
        """Return the full names of the nodes that receive an outlet, by the graph."""

    def topics_without(self, node: str) -> Sequence[str]:
        """Return the topics of other nodes that a node of this name does not subscribe to."""

    def deactivate(self) -> None:
        """Stop this loop for good, as after a failure that it has reported."""

    def finish(self) -> None:
        """Stop this loop for good: all that it was to do is done."""


class WithoutGraph:
    """Replies of a `Host` of one loop that has no graph."""

    follows_links = False
    is_active = False
    loop: Any

    def publishers_of(self, topic: str, unless: str = '') -> int:
        """Return 0: there is no publisher."""
        return 0

    def subscriptions_to(self, outlet: Outlet) -> int:
        """Return 1: whatever is published counts as received."""
        return 1

    def receivers_of(self, outlet: Outlet) -> Sequence[str]:
        """Return no node."""
        return ()

    def topics_without(self, node: str) -> Sequence[str]:
        """Return no topic."""
        return ()

    def deactivate(self) -> None:
        """Stop the loop for good, after a failure."""
        self.finish()

    def finish(self) -> None:
        """Stop the loop for good."""
        self.loop.stop()
        self.is_active = False


class Parameters(Protocol):
    """Configuration of a loop: the parameters of a node, or those of a file."""

    @property
    def node_name(self) -> str:
        """Name of the node."""

    @property
    def node_namespace(self) -> str:
        """Namespace that it is in."""

    @property
    def given(self) -> Mapping[str, Any]:
        """Values that files, launch and command line give, by key."""

    def declare(
        self, parameters: Iterable[Parameter], defaults: Mapping[str, Any] = NONE,
        more: bool = False,
    ) -> dict[str, Any]:
        """Return the values of parameters, flat; ``defaults`` win over those of the schema.

        Unless ``more`` parameters follow, raise `ConfigError` for a key that none of them has.
        """

    def follow_live(
        self, classes: Sequence[type[Any]], values: Mapping[str, Any], loop: Any
    ) -> None:
        """Follow changes of the live parameters of these configuration classes.

        The configurations were built from ``values``. ``loop.check(*configurations)`` raises
        `ConfigError` if new ones do not go together; ``loop.retune(changed, *configurations)``
        takes them and the values that changed, by key.
        """

    def latched_text(self, topic: str, timeout: float) -> str:
        """Return the latched String of a topic; raise `ConfigError` if none comes in time."""

    def has_type(self, kind: str) -> bool:
        """Return whether a type of messages is installed."""


class Loop(Protocol):
    """A runnable thing, made with its configuration and its host."""

    @property
    def ports(self) -> Sequence[Port]:
        """Inputs, in the order in which they are subscribed."""

    @property
    def outlets(self) -> Sequence[Outlet]:
        """Outputs."""

    @property
    def requests(self) -> Sequence[Request]:
        """Services."""

    @property
    def timers(self) -> Sequence[Timer]:
        """Periodic calls on the steady clock."""

    def start(self) -> None:
        """Begin; publishers are open."""

    def stop(self) -> None:
        """Publish the last messages, while publishers are still open."""

    def health(self) -> Iterable[Health]:
        """Yield the present diagnostic statuses."""


class GivenParameters:
    """`Parameters` of a loop without a node; they never change."""

    def __init__(
        self,
        node_name: str,
        given: Mapping[str, Any],
        node_namespace: str = '',
        faults: Faults = FIRST,
    ) -> None:
        self.node_name, self.given, self.node_namespace = node_name, given, node_namespace
        self._faults = faults
        self._known = ['autostart']

    def declare(
        self, parameters: Iterable[Parameter], defaults: Mapping[str, Any] = NONE,
        more: bool = False,
    ) -> dict[str, Any]:
        """Return the values of parameters as a node has them, with the schema's defaults."""
        values: dict[str, Any] = {}
        for parameter in parameters:
            key = parameter.key
            self._known.append(key)
            value = self.given.get(key)
            # For a node an empty list is the same as no value, so it is here.
            is_given = value is not None and value != []
            default = None if parameter.required else parameter.default
            values[key] = value if is_given else defaults.get(key, default)
        if self._faults is FIRST and not more:
            refuse_unknown(self.given, self._known)
        for error in () if more else unknown_keys(self.given, self._known):
            self._faults.add(error)
        return values

    def follow_live(
        self, classes: Sequence[type[Any]], values: Mapping[str, Any], loop: Any
    ) -> None:
        """Do nothing, since nothing changes these parameters."""

    def latched_text(self, topic: str, timeout: float) -> str:
        """Raise `ConfigError`: there is no graph to receive a text from."""
        raise ConfigError('description_topic', f'{topic} needs a ROS graph; give the description')

    def has_type(self, kind: str) -> bool:
        """Return True: without ROS no type needs to be installed."""
        return True


_COMPLAINTS, _COMPLAINT_NS = 5, 5_000_000_000  # most log lines of a kind within a time [ns]


class Complaints:
    """Counts complaints by kind, and logs each line once, at most 5 of a kind in 5 s.

    Parameters
    ----------
    steady_ns : callable
        Returns a time that is never set back [ns].

    Attributes
    ----------
    counts : collections.Counter
        Number of complaints of each kind.
    """

    def __init__(self, warn: Callable[[str], object], steady_ns: Callable[[], int]) -> None:
        self._warn, self._steady_ns = warn, steady_ns
        self.counts: Counter[str] = Counter()
        self._logged: dict[str, deque[tuple[int, str]]] = {}

    def add(self, key: str, text: str) -> None:
        """Count a complaint of a kind, and log it unless that was done often already."""
        self.counts[key] += 1
        line = one_line(' '.join(text.split()))
        logged = self._logged.setdefault(key, deque(maxlen=_COMPLAINTS))
        now_ns = self._steady_ns()
        is_full = len(logged) == _COMPLAINTS and now_ns - logged[0][0] < _COMPLAINT_NS
        if not is_full and line not in [text for _, text in logged]:
            logged.append((now_ns, line))
            self._warn(line)
