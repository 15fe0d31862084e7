"""One node for every actuator family."""
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock as SteadyClock
from rclpy.clock_type import ClockType
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from propulsion_ros.actuator_loop import (
    CLOCK,
    COMMAND,
    CURRENT,
    ODOMETRY,
    ActuatorLoop,
    LoopParams,
    Report,
)
from propulsion_ros.description import ActuatorSpec, actuators_from_urdf
from propulsion_ros.errors import CommandError, ConfigError
from propulsion_ros.models import FAMILIES
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import ERROR, OK, WARN, PropulsionNode
from propulsion_ros.nodes.conversions import (
    CommandReader,
    inertia_to_msg,
    msg_to_current,
    msg_to_motion,
    stamp_to_ns,
    state_to_msg,
    wrench_to_msg,
)
from propulsion_ros.nodes.declare import overrides_of
from propulsion_ros.nodes.spin import run
from propulsion_ros.quantity import quantity, validate
from propulsion_ros.schema import build, parameters_of, suggestion

_TOPIC = re.compile(r'[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')


@dataclass(frozen=True, kw_only=True, eq=False)
class ActuatorNodeParams:
    """What an actuator node is made from."""

    robot_description: str = quantity(
        '', doc='URDF with a plugin block for this node', kind=str
    )
    plugin: str = quantity('', doc='name of the plugin block; empty: the node name', kind=str)
    family: str = quantity('', doc='actuator family; empty: as the plugin block says', kind=str)
    reliable_inputs: bool = quantity(
        False, doc='lose no odometry: for simulation in lockstep, and for replay', kind=bool
    )
    base_link: str = quantity(
        '', doc="frame of wrench and geometry; empty: the robot description's", kind=str
    )

    def __post_init__(self) -> None:
        validate(self)


class ActuatorNode(PropulsionNode):
    """Takes commands for a group of actuators and publishes the wrench that they really apply.

    ROS Parameters
    --------------
    Those of `ActuatorNodeParams`, `LoopParams` and the family's own configuration.

    Subscribers
    -----------
    ~/command : sensor_msgs/JointState
        What is asked; takes effect at its stamp, or on arrival where that is 0.
    ~/odometry : nav_msgs/Odometry
        Motion of ``base_link``, for families that feel the flow.
    ~/current : geometry_msgs/TwistStamped
        Velocity of the fluid in the world frame of the odometry, for the same.
    /clock : rosgraph_msgs/Clock
        Time, with ``use_sim_time`` and ``step_on: clock``.

    Publishers
    ----------
    ~/wrench : geometry_msgs/WrenchStamped
        Mean force and torque in the axes of and about the origin of ``base_link``.
    ~/state : sensor_msgs/JointState
        What the actuators do.
    ~/tanks/<name> : geometry_msgs/InertiaStamped
        Propellant left in each tank, latched.

    Services
    --------
    ~/reset : std_srvs/Trigger
        Return actuators, tanks and time grid to the start.
    ~/set_enabled : std_srvs/SetBool
        Follow commands, or keep every actuator safe.
    """

    def __init__(self, name: str = 'actuators', **kwargs: Any) -> None:
        self._loop: ActuatorLoop | None = None
        super().__init__(name, **kwargs)

    def setup(self) -> None:
        """Read the configuration, build the family, open the topics."""
        own = build(ActuatorNodeParams, self.declare_some(parameters_of(ActuatorNodeParams)))
        spec = self._find_block(own)
        family_name = own.family or (spec.family if spec else '')
        if family_name not in FAMILIES:
            got = f'unknown family {family_name!r}' if family_name else 'is required'
            near = suggestion(family_name, FAMILIES)
            known = ', '.join(sorted(FAMILIES))
            raise ConfigError('family', f'{got}{near}; known: {known}')
        if spec and spec.family != family_name:
            raise ConfigError(
                'family', f'{family_name!r}, but the robot description says {spec.family!r}'
            )
        family_type = FAMILIES[family_name]
        block = spec.values if spec else {}
        schema = [*parameters_of(LoopParams), *parameters_of(family_type.Params)]
        values = self.declare_rest(schema, block)
        self._say_who_won(block, spec.geometry if spec else frozenset())
        try:
            loop_params = build(LoopParams, values)
            self._family = family_type(build(family_type.Params, values))
        except ConfigError as error:
            raise (spec.locate(error) if spec else error) from None
        self._frame = spec.base_link if spec else own.base_link or 'base_link'
        self._resets_on_jump = loop_params.step_on == 'stamp' or self._sim_time
        self._hold_back_ns = round(loop_params.hold_back * 1e9)
        self._reliable_inputs = own.reliable_inputs
        self._reader = CommandReader(self._family)
        self._loop = ActuatorLoop(self._family, loop_params, self._publish, self._on_jump)
        self._report: Report | None = None
        self._open(loop_params)

    @property
    def _sim_time(self) -> bool:
        return bool(self.get_parameter('use_sim_time').value)

    def _find_block(self, own: ActuatorNodeParams) -> ActuatorSpec | None:
        """Return this node's plugin block, None without a robot description."""
        if not own.robot_description:
            return None
        specs = actuators_from_urdf(own.robot_description, LoopParams, own.base_link)
        wanted = own.plugin or self.get_name()
        for spec in specs:
            if spec.name == wanted:
                return spec
        names = [spec.name for spec in specs]
        known = ', '.join(names) or 'none'
        raise ConfigError(
            'plugin', f'no plugin block {wanted!r}{suggestion(wanted, names)}; found: {known}'
        )

    def _say_who_won(self, block: Mapping[str, Any], geometry: frozenset[str]) -> None:
        given = overrides_of(self)
        for key in sorted(set(given) & set(block)):
            if key in geometry or key == 'names':
                raise ConfigError(key, 'comes from the robot description, not from a parameter')
            self.get_logger().info(
                f"parameter '{key}': {given[key]} wins over the robot description's {block[key]}"
            )

    def _open(self, params: LoopParams) -> None:
        family = self._family
        for name in family.tank_names:
            if not _TOPIC.fullmatch(name):
                raise ConfigError('tanks.names', f'{name!r} cannot be part of a topic name')
        publish, options = self.create_lifecycle_publisher, qos.overridable()
        self._wrench_pub = publish(
            WrenchStamped, '~/wrench', qos.STATE, qos_overriding_options=options
        )
        self._state_pub = publish(JointState, '~/state', qos.STATE, qos_overriding_options=options)
        self._tank_pubs = [
            publish(InertiaStamped, f'~/tanks/{name}', qos.LATCHED) for name in family.tank_names
        ]
        self.entities += [
            self._wrench_pub, self._state_pub, *self._tank_pubs,
            self.create_subscription(
                JointState, '~/command', self._on_command, qos.COMMAND,
                qos_overriding_options=options,
            ),
            self.create_service(Trigger, '~/reset', self._on_reset),
            self.create_service(SetBool, '~/set_enabled', self._on_set_enabled),
        ]
        if family.uses_body:
            profile = qos.LOCKSTEP if self._reliable_inputs else qos.SENSOR
            subscribe = self.create_subscription
            self.entities += [
                subscribe(kind, topic, callback, profile, qos_overriding_options=options)
                for kind, topic, callback in (
                    (Odometry, '~/odometry', self._on_odometry),
                    (TwistStamped, '~/current', self._on_current),
                )
            ]
        if params.step_on == 'clock':
            steady = SteadyClock(clock_type=ClockType.STEADY_TIME)
            self.entities.append(
                self.create_subscription(Clock, '/clock', self._on_clock, qos.CLOCK)
                if self._sim_time
                # A timer on the system's clock would sleep while that is set back.
                else self.create_timer(1.0 / params.update_rate, self._on_timer, clock=steady)
            )

    def teardown(self) -> None:
        """Close the topics and forget the family."""
        super().teardown()
        self._loop = None

    # Inputs.

    def _on_command(self, message: JointState) -> None:
        self._take(COMMAND, message, self._reader.read)

    def _on_odometry(self, message: Odometry) -> None:
        self._take(ODOMETRY, message, lambda odometry: msg_to_motion(odometry, self._frame))

    def _on_current(self, message: TwistStamped) -> None:
        self._take(CURRENT, message, msg_to_current)

    def _take(self, source: str, message: Any, read: Callable[[Any], Any]) -> None:
        """Give a stamped message to the loop, or complain; stamp 0 means now."""
        loop = self._loop
        if not self.is_active or loop is None:
            return
        stamp_ns = stamp_to_ns(message.header.stamp) or self._arrival_ns(loop)
        try:
            if not loop.push(source, stamp_ns, read(message)):
                self._complain_of_stamp(source, stamp_ns, loop)
        except CommandError as error:
            self.complain('refused', f'{source} refused: {error}')

    def _arrival_ns(self, loop: ActuatorLoop) -> int:
        """Return the stamp of what takes effect at once: in the first tick that has not run."""
        clock_ns = loop.runner.clock_ns
        return self._now_ns() if clock_ns is None else clock_ns + 1

    def _complain_of_stamp(self, source: str, stamp_ns: int, loop: ActuatorLoop) -> None:
        newest_ns = loop.runner.newest_ns or 0
        self.complain(
            'other_time',
            f'{source} not taken: stamped {stamp_ns * 1e-9:.3f} s, '
            f'but the time is {newest_ns * 1e-9:.3f} s',
        )

    def _on_clock(self, message: Clock) -> None:
        self._tick(stamp_to_ns(message.clock))

    def _on_timer(self) -> None:
        self._tick(self._now_ns())

    def _tick(self, now_ns: int) -> None:
        if self.is_active and self._loop is not None:
            self._loop.push(CLOCK, now_ns - self._hold_back_ns)

    def _now_ns(self) -> int:
        now: Time = self.get_clock().now()
        return int(now.nanoseconds)

    def _on_jump(self, from_ns: int, to_ns: int) -> None:
        seconds = (to_ns - from_ns) * 1e-9
        if self._resets_on_jump and to_ns < from_ns:
            self._family.reset()
            self.get_logger().warning(f'time jumped by {seconds:.3f} s, actuators reset')
        else:
            self.get_logger().warning(f'time jumped by {seconds:.3f} s, actuators keep their state')

    def _on_reset(self, request: Any, response: Any) -> Any:
        if self._loop is not None:
            self._loop.reset()
        response.success = self._loop is not None
        response.message = 'reset' if response.success else 'not configured'
        return response

    def _on_set_enabled(self, request: Any, response: Any) -> Any:
        if self._loop is not None:
            self._loop.enabled = request.data
            if not request.data and self.is_active:
                self._publish_zero()
        response.success = self._loop is not None
        response.message = 'enabled' if request.data else 'disabled'
        return response

    # Outputs.

    def started(self) -> None:
        """Begin without any earlier command."""
        if self._loop is not None:
            self._loop.forget()
        self.get_logger().info(f'active, takes commands for {", ".join(self._reader.names)}')

    def stopping(self) -> None:
        """Publish one zero wrench."""
        self._publish_zero()

    def _publish_zero(self) -> None:
        last_ns = self._loop.runner.last_stamp_ns if self._loop else None
        stamp_ns = self._now_ns() if last_ns is None else last_ns
        self._wrench_pub.publish(wrench_to_msg(stamp_ns, self._frame, np.zeros(6)))

    def _publish(self, report: Report) -> None:
        self._report = report
        output, stamp_ns = report.output, report.stamp_ns
        tanks = output.tanks
        if tanks is not None:
            for i, publisher in enumerate(self._tank_pubs):
                publisher.publish(inertia_to_msg(
                    stamp_ns, self._frame, tanks.mass[i], tanks.com[i], tanks.inertia[i]
                ))
        self._state_pub.publish(
            state_to_msg(stamp_ns, self._frame, self._family.state_names, output)
        )
        wrench = report.wrench
        if not np.isfinite(wrench).all():
            self.complain('not_finite', f'wrench {wrench.tolist()} is not finite, 0 in its place')
            wrench = np.zeros(6)
        self._wrench_pub.publish(wrench_to_msg(stamp_ns, self._frame, wrench))

    def health(self) -> Iterable[tuple[str, bytes, str, Mapping[str, Any]]]:
        """Yield the state of the actuators: stale commands, limits, what was refused."""
        loop = self._loop
        if loop is None:
            return
        counts = self.counts + loop.runner.counts
        values = {
            key: counts[key] for key in
            ('refused', 'other_time', 'not_finite', 'late', 'stray', 'overflow', 'jump')
        }
        level, text = OK, 'ok'
        if counts['other_time']:
            level, text = WARN, 'inputs of another time were not taken'
        if not loop.enabled:
            level, text = WARN, 'disabled'
        flags = {} if self._report is None else self._report.output.flags
        for flag, mask in flags.items():
            values[flag] = int(np.count_nonzero(mask))
            if values[flag]:
                level, text = WARN, flag
        stale = int(np.count_nonzero(loop.hold.stale))
        values['stale'] = stale
        if stale:
            level, text = WARN, 'command is stale'
        if loop.lacks_motion:
            level, text = WARN, 'no odometry yet, so no force'
        if counts['overflow']:
            level, text = ERROR, 'commands were lost'
        if counts['not_finite']:
            level, text = ERROR, 'the wrench was not finite'
        yield 'actuators', level, text, values


def main(args: Sequence[str] | None = None) -> None:
    """Run one actuator node."""
    sys.exit(run(lambda options: [ActuatorNode()], args))


if __name__ == '__main__':
    main()
