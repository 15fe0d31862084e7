"""What every node of the package does alike: lifecycle, parameters, diagnostics, complaints."""
from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import ParameterDescriptor, ParameterType
from rclpy._rclpy_pybind11 import RCLError
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rosgraph_msgs.msg import Clock as ClockMessage

from propulsion_ros.loops.decoders import checked_stamp
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.declare import declare, overrides_of
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.flat import Parameter, refuse_unknown

_LONGEST_LINE = 500
_COMPLAINTS, _COMPLAINT_TIME = 5, 5.0

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class PropulsionNode(LifecycleNode):
    """A lifecycle node that starts by itself, says what is wrong in one line, and goes quietly.

    What a node creates in `setup` it puts into `entities`, which `teardown` destroys.
    rclpy runs subscriptions and timers in every lifecycle state, so callbacks ask `is_active`.

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
        super().__init__(name, **kwargs)
        self.entities: list[Any] = []
        self.is_active = False
        self.has_failed = False
        self.counts: Counter[str] = Counter()
        self._complaints: dict[str, deque[tuple[float, str]]] = {}
        descriptor = ParameterDescriptor(
            description='configure and activate at the start', read_only=True, dynamic_typing=True
        )
        autostart: Any = self.declare_parameter('autostart', True, descriptor).value
        self.autostart = autostart is True
        # What is made for one source of time does not follow the other.
        self.set_descriptor('use_sim_time', ParameterDescriptor(
            description='take the time from /clock', type=ParameterType.PARAMETER_BOOL,
            read_only=True,
        ))
        if not isinstance(autostart, bool):
            self._fail(f"parameter 'autostart': expected true or false, got {autostart!r}")
        self._diagnostics = self._steadfast(self.create_publisher(
            DiagnosticArray, '/diagnostics', qos.DIAGNOSTICS
        ))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._health_timer = self.create_timer(1.0, self._publish_health, clock=steady)

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Subscribe; of times those are left out at which rclpy's own clock would end."""
        if msg_type is not ClockMessage:
            return super().create_subscription(msg_type, topic, callback, *args, **kwargs)

        def on_clock(message: ClockMessage) -> None:
            if message.clock.sec < 0:
                self.complain('refused', f'clock refused: {message.clock.sec} s is before 0')
            elif self.stamp_of('clock', message.clock) is not None:
                callback(message)

        return super().create_subscription(msg_type, topic, on_clock, *args, **kwargs)

    def create_lifecycle_publisher(self, *args: Any, **kwargs: Any) -> Any:
        """Create a publisher that speaks while the node is active; what it cannot send is said."""
        return self._steadfast(super().create_lifecycle_publisher(*args, **kwargs))

    def _steadfast(self, publisher: Any) -> Any:
        """Let a publisher complain where it would raise, so that overload ends no node."""
        publish, topic = publisher.publish, publisher.topic_name

        def try_publish(message: Any) -> None:
            try:
                publish(message)
            except RCLError as error:
                self.complain('unsent', f'{topic} not published: {str(error).split(", at ")[0]}')

        publisher.publish = try_publish
        return publisher

    # What a node adds.

    def setup(self) -> None:
        """Read parameters, build the model and create topics; raise `ConfigError` if wrong."""

    def started(self) -> None:
        """Begin; called on activation, when publishers are open."""

    def stopping(self) -> None:
        """Leave a safe last word; called on deactivation, while publishers are still open."""

    def teardown(self) -> None:
        """Destroy what `setup` made, as far as it came: everything in `entities`."""
        destroy = (
            self.destroy_lifecycle_publisher, self.destroy_subscription, self.destroy_service,
            self.destroy_timer,
        )
        for entity in self.entities:
            # Each of them says whether the entity was its own.
            any(remove(entity) for remove in destroy)
        self.entities.clear()

    def health(self) -> Iterable[tuple[str, bytes, str, Mapping[str, Any]]]:
        """Yield component, level, message and values for the diagnostics."""
        return ()

    # Lifecycle.

    def start(self) -> None:
        """Configure and activate, if parameter ``autostart`` says so."""
        if not self.autostart:
            return
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    def close(self) -> None:
        """Deactivate if active, and destroy."""
        if self.is_active:
            self.trigger_deactivate()
        self.destroy_node()
        # rclpy leaves the services of its life cycle in the graph until it is collected. A hosted
        # node has none.
        if hasattr(self, '_state_machine'):
            self._state_machine.destroy_when_not_in_use()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build everything, or say in one line why not."""
        if not self._succeeds(self.setup):
            self.teardown()
            return TransitionCallbackReturn.FAILURE
        self.has_failed = False
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the gate."""
        result = super().on_activate(state)
        self.is_active = True
        if not self._succeeds(self.started):
            self.is_active = False
            super().on_deactivate(state)
            return TransitionCallbackReturn.FAILURE
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the gate after the last word, also where that fails."""
        self._succeeds(self.stopping)
        self.is_active = False
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Destroy what `setup` made."""
        result = super().on_cleanup(state)
        self.teardown()
        return result

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Leave the last word, then destroy."""
        if self.is_active:
            self._succeeds(self.stopping)
            self.is_active = False
        result = super().on_shutdown(state)
        self.teardown()
        return result

    def _LifecycleNodeMixin__on_change_state(self, request: Any, response: Any) -> Any:  # noqa: N802
        """Refuse a transition that does not apply; rclpy of Jazzy ends the process there."""
        try:
            inherited = super()._LifecycleNodeMixin__on_change_state  # type: ignore[misc]
            return inherited(request, response)
        except RCLError as error:
            self.get_logger().warning(reason_of(error))
            response.success = False
            return response

    # Helpers.

    def _succeeds(self, action: Callable[[], None]) -> bool:
        """Do something, or say in one line why not."""
        try:
            action()
        except Exception as error:
            # rclpy would swallow whatever it is, and leave a node that only looks alive.
            reason = reason_of(error) if isinstance(error, RCLError) else str(error)
            known = isinstance(error, ConfigError)
            self._fail(reason if known else f'{type(error).__name__}: {reason}')
            return False
        return True

    def _fail(self, text: str) -> None:
        self.get_logger().error(' '.join(text.split())[:_LONGEST_LINE])
        self.has_failed = True

    def declare_some(
        self, parameters: Iterable[Parameter], defaults: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Declare parameters and return their values; see `declare`."""
        return declare(self, parameters, defaults or {})

    def declare_rest(
        self,
        parameters: Iterable[Parameter],
        defaults: Mapping[str, Any] | None = None,
        takes_live: bool = True,
    ) -> dict[str, Any]:
        """Declare the last parameters; what is given beside them all is refused.

        So a misspelt key is called that, and not the required one missing.
        """
        values = declare(self, parameters, defaults or {}, takes_live)
        refuse_unknown(overrides_of(self), self._parameters)
        return values

    def stamp_of(self, source: str, stamp: Any) -> int | None:
        """Return a message stamp [ns]; complain and return None for one that is no time."""
        try:
            return checked_stamp(stamp)
        except CommandError as error:
            self.complain('refused', f'{source} refused: {error}')
            return None

    def complain(self, kind: str, text: str) -> None:
        """Count what is wrong, and warn: once for the same text, else at most 5 times in 5 s."""
        self.counts[kind] += 1
        line = ' '.join(text.split())[:_LONGEST_LINE]
        said, now = self._complaints.setdefault(kind, deque(maxlen=_COMPLAINTS)), time.monotonic()
        is_full = len(said) == _COMPLAINTS and now - said[0][0] < _COMPLAINT_TIME
        if not is_full and line not in [text for _, text in said]:
            said.append((now, line))
            self.get_logger().warning(line)

    def _publish_health(self) -> None:
        if not self.is_active:
            return
        unsent = {'unsent': self.counts['unsent']} if self.counts['unsent'] else {}
        message = DiagnosticArray()
        message.header.stamp = self.get_clock().now().to_msg()
        message.status = [
            DiagnosticStatus(
                name=f'{self.get_name()}: {component}',
                level=level,
                message=text,
                hardware_id=self.get_fully_qualified_name(),
                values=[
                    KeyValue(key=key, value=str(value))
                    for key, value in {**values, **unsent}.items()
                ],
            )
            for component, level, text, values in self.health()
        ]
        self._diagnostics.publish(message)


def reason_of(error: Exception) -> str:
    """Return what an error of rclpy says, on one line."""
    # What follows the first source location is rcl's own stack.
    return ' '.join(str(error).split(', at ')[0].split())
