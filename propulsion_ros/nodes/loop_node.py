"""What nodes have in common that give stamped messages to a loop and publish what it says."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from geometry_msgs.msg import InertiaStamped
from rclpy.clock import Clock as SteadyClock
from rclpy.clock_type import ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

from propulsion_ros.loops.actuator_loop import CLOCK, COM, COMMAND
from propulsion_ros.loops.decoders import checked_stamp, msg_to_com, stamp_to_ns
from propulsion_ros.loops.ports import ERROR, OK, WARN
from propulsion_ros.messages.readers import READERS, MessageReader
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.family_node import FamilyNode
from propulsion_ros.nodes.first_message import FirstMessage
from propulsion_ros.nodes.live_parameters import LiveParameters
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.stamped_inputs import StampedInputs

_BEGINNING_NS = 1_000_000_000


class Loop(Protocol):
    """What takes stamped inputs: `ActuatorLoop` or `EstimateLoop`."""

    @property
    def inputs(self) -> StampedInputs: ...  # noqa: D102

    def push(self, source: str, stamp_ns: int, payload: Any = None) -> bool: ...  # noqa: D102

    def reset(self) -> None: ...  # noqa: D102

    def set_com(self, com: FloatArray) -> None: ...  # noqa: D102


class LoopNode(FamilyNode):
    """A node whose messages take effect at their stamps, through a loop that reads no clock.

    Services
    --------
    ~/reset : std_srvs/Trigger
        Return to the start, the time included.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.loop: Loop | None = None
        self._live: LiveParameters | None = None
        self._hold_back_ns = 0
        self._has_clock = self._hears_best_effort_clock = False
        super().__init__(name, **kwargs)

    def teardown(self) -> None:
        """Close the topics and forget the loop."""
        super().teardown()
        if self._live is not None:
            self._live.close()
        self.loop = self._live = None
        self._has_clock = False

    # Called in setup.

    def subscribe(
        self, kind: Any, topic: str, callback: Callable[[Any], None], profile: Any
    ) -> None:
        """Subscribe with a quality of service that a parameter file may change.

        The callback does not keep its message.
        """
        if kind in READERS:
            callback = self._reading(READERS[kind](), topic, callback)
        self.entities.append(self.create_subscription(
            kind, topic, callback, profile, qos_overriding_options=qos.overridable(),
            raw=kind in READERS,
        ))

    def _reading(
        self, reader: MessageReader, topic: str, callback: Callable[[Any], None]
    ) -> Callable[[bytes], None]:
        """Return what takes bytes and calls back with the message that they are."""
        def on_bytes(data: bytes) -> None:
            try:
                message = reader.read(data)
            except CommandError as error:
                self.complain('refused', f'{topic} refused: {error}')
                return
            callback(message)

        return on_bytes

    def expect_command(self, topics: Mapping[str, Any]) -> None:
        """Say what the graph has of these topics, with their types, until a command was taken."""
        self._first_message = FirstMessage(self, topics)

    def serve_reset(self) -> None:
        """Offer ~/reset."""
        self.entities.append(self.create_service(Trigger, '~/reset', self._on_reset))

    def follow_live(
        self,
        classes: Sequence[type[Any]],
        values: Mapping[str, Any],
        check: Callable[..., None],
        apply: Callable[..., None],
    ) -> None:
        """Follow live parameters; see `LiveParameters`."""
        self._live = LiveParameters(self, classes, values, check, apply)

    def keep_time(self, rate: float, hold_back: float = 0.0) -> None:
        """Give the loop the ROS clock: as /clock tells it, or ``rate`` times a second [Hz].

        It is told ``hold_back`` [s] late.
        """
        self._hold_back_ns, self._has_clock = round(hold_back * 1e9), True
        if self.uses_sim_time:
            self._hears_best_effort_clock = False
            self._hear_clock(qos.CLOCK, SubscriptionEventCallbacks(
                incompatible_qos=self._on_best_effort_clock
            ))
            return
        # A timer on the system's clock would sleep while that is set back.
        steady = SteadyClock(clock_type=ClockType.STEADY_TIME)
        self.entities.append(self.create_timer(1.0 / rate, self._on_timer, clock=steady))

    def _hear_clock(
        self, profile: QoSProfile, events: SubscriptionEventCallbacks | None = None
    ) -> None:
        self.entities.append(self.create_subscription(
            Clock, '/clock', self._on_clock, profile, event_callbacks=events
        ))

    def _on_best_effort_clock(self, publisher: Any) -> None:
        """Hear a clock whose losses are not repaired too; that of rosbag2 is one."""
        if not self._hears_best_effort_clock:
            self._hears_best_effort_clock = True
            self._hear_clock(qos.SENSOR)

    @property
    def uses_sim_time(self) -> bool:
        """Whether time comes from /clock."""
        return bool(self.get_parameter('use_sim_time').value)

    # Inputs.

    def take(self, source: str, stamp: Any, content: Any, read: Callable[[Any], Any]) -> bool:
        """Give what came to the loop and return True, or complain; stamp 0 or None means now.

        ``read`` turns it into the loop's payload, or raises `CommandError`.
        """
        loop = self.loop
        if not self.is_active or loop is None:
            return False
        try:
            payload = read(content)
            stamp_ns = checked_stamp(stamp) if stamp is not None else 0
        except CommandError as error:
            self.complain('refused', f'{source} refused: {error}')
            return False
        if not stamp_ns:
            arrival_ns = self._arrival_ns(loop)
            # Where simulated time has just begun, 0 is a stamp as good as any.
            stamp_ns = 0 if stamp is not None and arrival_ns < _BEGINNING_NS else arrival_ns
        if loop.push(source, stamp_ns, payload):
            self.counts['taken'] += 1
            self.counts[source] += 1
            return True
        self._complain_of_stamp(source, stamp_ns, loop)
        return False

    def take_com(self, message: InertiaStamped, frame: str) -> None:
        """Take the centre of mass in a frame; it is latched, so it counts before activation too."""
        loop = self.loop
        if loop is None:
            return
        if self.is_active:
            self.take(COM, message.header.stamp, message, lambda m: msg_to_com(m, frame))
            return
        try:
            loop.set_com(msg_to_com(message, frame))
        except CommandError as error:
            self.complain('refused', f'{COM} refused: {error}')

    def _arrival_ns(self, loop: Loop) -> int:
        """Return the stamp of what takes effect at once: in the first tick that has not run."""
        clock_ns, last_ns = loop.inputs.clock_ns, loop.inputs.last_stamp_ns
        if clock_ns is None:
            return self.now_ns()
        return clock_ns if last_ns is None or last_ns < clock_ns else clock_ns + 1

    def _complain_of_stamp(self, source: str, stamp_ns: int, loop: Loop) -> None:
        newest_ns = loop.inputs.newest_ns or 0
        self.complain(
            'other_time',
            f'{source} not taken: stamped {stamp_ns * 1e-9:.3f} s, '
            f'but the time is {newest_ns * 1e-9:.3f} s',
        )

    def _on_clock(self, message: Clock) -> None:
        self._tell_time(stamp_to_ns(message.clock))

    def _on_timer(self) -> None:
        self._tell_time(self.now_ns())

    def _tell_time(self, now_ns: int) -> None:
        told_ns = now_ns - self._hold_back_ns
        # Simulated time begins at 0, and no stamp lies before it.
        if self.is_active and self.loop is not None and told_ns >= 0:
            self.loop.push(CLOCK, told_ns)

    def now_ns(self) -> int:
        """Return the ROS time."""
        return int(self.get_clock().now().nanoseconds)

    def _on_reset(self, request: Any, response: Any) -> Any:
        if self.loop is not None:
            self.loop.reset()
        response.success = self.loop is not None
        response.message = 'reset' if response.success else 'not configured'
        return response

    def judge_inputs(self, loop: Loop) -> tuple[dict[str, Any], str, str]:
        """Return the counts of what came and what was not taken, and how bad that is."""
        counts = self.counts + loop.inputs.counts
        values = {
            key: counts[key] for key in
            ('taken', 'refused', 'other_time', 'not_finite', 'late', 'stray', 'overflow', 'jump')
        }
        if counts['not_finite']:
            return values, ERROR, 'the wrench was not finite'
        if counts['overflow']:
            return values, ERROR, 'commands were lost'
        if counts['other_time']:
            return values, WARN, 'inputs of another time were not taken'
        if self._has_clock and loop.inputs.clock_ns is None and loop.inputs.waiting:
            return values, WARN, 'inputs wait for a clock that was not heard yet'
        if not counts[COMMAND]:
            return values, *self._first_message.look()
        return values, OK, 'ok'
