# SPDX-License-Identifier: Apache-2.0
"""Common part of all nodes of the package: lifecycle, parameters, diagnostics, complaints.

A node survives faults of messages, clocks and publishers, and complains of them.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import ParameterDescriptor, ParameterType
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy
from rclpy.utilities import get_rmw_implementation_identifier
from rosgraph_msgs.msg import Clock as ClockMessage

from propulsion_ros.loops.decoders import checked_clock
from propulsion_ros.loops.payloads import StatusRow
from propulsion_ros.loops.ports import NONE, Complaints, Health, Outlet
from propulsion_ros.messages import qos
from propulsion_ros.messages.encoders import make_encoder
from propulsion_ros.messages.rclpy_private import (
    LenientLifecycleNode,
    RCLError,
    declared_names,
    end_life_cycle,
    overrides_of,
    reason_of,
)
from propulsion_ros.nodes.parameters import declare
from propulsion_ros.settings.errors import CommandError, ConfigError, one_line
from propulsion_ros.settings.flat import Parameter, refuse_unknown

_COUNTING = ('rmw_fastrtps_cpp', 'rmw_fastrtps_dynamic_cpp', 'rmw_cyclonedds_cpp', 'rmw_connextdds')
"""Middlewares that count every subscription that matches a publisher."""
_HEALTH = Outlet('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', 'state')
_TWIN_CHECKS = 3
"""Number of checks, a second apart, for another node of the same name after a start."""


class PropulsionNode(LenientLifecycleNode):
    """A lifecycle node that starts by itself, and logs each fault in one line.

    It counts by kind, and logs, faults that would end another node.

    `setup` adds everything that it creates to `entities`, which `teardown` destroys. rclpy runs
    subscriptions and timers in every lifecycle state, so callbacks check `is_active`. `has_failed`
    is True if a node could not be configured or activated, or has stopped after a fault;
    `has_ended` is True if it has stopped itself, or was shut down.

    ROS Parameters
    --------------
    autostart : bool
        Configure and activate at the start (default true).

    Publishers
    ----------
    /diagnostics : diagnostic_msgs/DiagnosticArray
        Health, once a second while active.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._complaints = Complaints(lambda line: self.get_logger().warning(line), self.steady_ns)
        self.complain, self.counts = self._complaints.add, self._complaints.counts
        super().__init__(name, **kwargs)
        self.entities: list[Any] = []
        self.is_active = False
        self._twin_checks = _TWIN_CHECKS
        self.has_failed = self.has_ended = False
        descriptor = ParameterDescriptor(
            description='configure and activate at the start', read_only=True, dynamic_typing=True
        )
        autostart: Any = self.declare_parameter('autostart', True, descriptor).value
        self.autostart = autostart is True
        # Read-only: entities that were made for one source of time do not follow the other.
        self.set_descriptor('use_sim_time', ParameterDescriptor(
            description='take the time from /clock', type=ParameterType.PARAMETER_BOOL,
            read_only=True,
        ))
        if not isinstance(autostart, bool):
            self._fail(f"parameter 'autostart': expected true or false, got {autostart!r}")
        diagnostics = self.create_publisher(DiagnosticArray, _HEALTH.topic, qos.DIAGNOSTICS)
        self._send_health = self._complaining(diagnostics.topic_name, diagnostics.publish)
        self._encode_health = make_encoder(_HEALTH)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._health_timer = self.create_timer(1.0, self._publish_health, clock=steady)

    # Overridden by nodes.

    def setup(self) -> None:
        """Read parameters, build the model and create topics; raise `ConfigError` if wrong."""

    def started(self) -> None:
        """Begin; called on activation, when publishers are open."""

    def stopping(self) -> None:
        """Publish a safe last message; called on deactivation, while publishers are still open."""

    def teardown(self) -> None:
        """Destroy everything that `setup` has added to `entities`."""
        destroy = (
            self.destroy_lifecycle_publisher, self.destroy_subscription, self.destroy_service,
            self.destroy_timer,
        )
        for entity in self.entities:
            # Each of them returns whether the entity was of its kind.
            any(remove(entity) for remove in destroy)
        self.entities.clear()

    def health(self) -> Iterable[Health]:
        """Yield the present diagnostic statuses."""
        return ()

    # Lifecycle.

    def start(self) -> None:
        """Configure and activate, if parameter ``autostart`` is true."""
        if not self.autostart:
            return
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    def rest(self) -> None:
        """Deactivate if active."""
        if self.is_active:
            self.trigger_deactivate()

    def close(self) -> None:
        """Deactivate if active, and destroy."""
        self.rest()
        self.destroy_node()
        end_life_cycle(self)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build everything, or log the fault in one line."""
        if not self._succeeds(self.setup):
            self.teardown()
            return TransitionCallbackReturn.FAILURE
        self.has_failed = False
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Become active and start."""
        self.has_failed = self.has_ended = False
        result = super().on_activate(state)
        self.is_active = True
        if not self._succeeds(self.started):
            self.is_active = False
            super().on_deactivate(state)
            return TransitionCallbackReturn.FAILURE
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Become inactive after the last message, even if that fails."""
        self._succeeds(self.stopping)
        self.is_active = False
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Destroy what `setup` made."""
        result = super().on_cleanup(state)
        self.teardown()
        return result

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Publish the last message, then destroy."""
        if self.is_active:
            self._succeeds(self.stopping)
            self.is_active = False
        result = super().on_shutdown(state)
        self.teardown()
        self.has_ended = True
        return result

    # Topics and time.

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Subscribe; refuse times of /clock at which rclpy's own clock fails."""
        if msg_type is not ClockMessage:
            return super().create_subscription(msg_type, topic, callback, *args, **kwargs)

        def on_clock(message: ClockMessage) -> None:
            try:
                checked_clock(message.clock)
            except CommandError as error:
                self.complain('refused', f'clock refused: {error}')
            else:
                callback(message)

        return super().create_subscription(msg_type, topic, on_clock, *args, **kwargs)

    def _complaining(self, topic: str, send: Callable[..., None]) -> Callable[..., None]:
        """Return a function that sends to a topic, and complains if that fails."""
        def try_send(*args: Any) -> None:
            try:
                send(*args)
            except RCLError as error:
                self.complain('unsent', f'{topic} not published: {reason_of(error)}')

        return try_send

    def sender(
        self, publisher: Any, encode: Callable[[int, Any], Any]
    ) -> Callable[[int, Any], None]:
        """Return a function that encodes a stamp and a payload, and publishes them while active.

        Without a subscription nothing is encoded, unless the topic is latched, or the middleware is
        not known to count every subscription.
        """
        handle, publish = publisher.handle, publisher.publish
        # Look these up once, which rclpy's layers would do for each message.
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

    def now_ns(self) -> int:
        """Return the time of messages [ns]: that of /clock with ``use_sim_time``."""
        return int(self.get_clock().now().nanoseconds)

    def steady_ns(self) -> int:
        """Return a time that is never set back [ns]."""
        return time.monotonic_ns()

    # Helpers.

    def _succeeds(self, action: Callable[[], None]) -> bool:
        """Call a function and return True, or log in one line why it failed."""
        try:
            action()
        except Exception as error:
            # rclpy would swallow any exception, and the node would only look alive.
            reason = reason_of(error) if isinstance(error, RCLError) else str(error)
            known = isinstance(error, ConfigError)
            self._fail(reason if known else f'{type(error).__name__}: {reason}')
            return False
        return True

    def _fail(self, text: str) -> None:
        self.get_logger().error(one_line(' '.join(text.split())))
        self.has_failed = True

    def declare(
        self, parameters: Iterable[Parameter], defaults: Mapping[str, Any] = NONE,
        more: bool = False,
    ) -> dict[str, Any]:
        """Declare parameters and return their values; see `parameters.declare`.

        Unless ``more`` parameters follow, any other key that is given is refused: so a misspelt key
        is reported as such, and not as a missing one.
        """
        values = declare(self, parameters, defaults)
        if not more:
            refuse_unknown(overrides_of(self), declared_names(self))
        return values

    def _check_for_twin(self) -> None:
        """Warn, only after a start, if another node of the same name was there before."""
        if self._twin_checks:
            self._twin_checks -= 1
            own = (self.get_name(), self.get_namespace())
            if self.get_node_names_and_namespaces().count(own) > 1:
                self._twin_checks = 0
                self.complain('twin', (
                    f'another node {self.get_fully_qualified_name()} is running, or was killed '
                    'some seconds ago: both take the same commands; give one another name'
                ))

    def _publish_health(self) -> None:
        self._check_for_twin()
        if self.is_active:
            rows = [self._row(*status) for status in self.health()]
            self._send_health(self._encode_health(self.now_ns(), rows))

    def _row(
        self, component: str, level: str, text: str, values: Mapping[str, Any]
    ) -> StatusRow:
        """Return a diagnostic status, with the number of messages that could not be published."""
        unsent = {'unsent': self.counts['unsent']} if self.counts['unsent'] else {}
        return StatusRow(
            f'{self.get_name()}: {component}', text,
            [(key, str(value)) for key, value in {**values, **unsent}.items()],
            level, self.get_fully_qualified_name(),
        )
