"""One node for every actuator family."""
from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import SetBool

from propulsion_ros.graph.family_params import ActuatorNodeParams
from propulsion_ros.loops.actuator_loop import (
    COMMAND,
    CURRENT,
    ODOMETRY,
    ActuatorLoop,
    LoopParams,
    Report,
)
from propulsion_ros.loops.command_reader import CommandReader
from propulsion_ros.loops.decoders import WrenchReader, msg_to_current, msg_to_motion
from propulsion_ros.loops.ports import ERROR, WARN
from propulsion_ros.messages.encoders import NumberOutputs, StateOutput, WrenchOutput
from propulsion_ros.messages.fields import inertia_to_msg
from propulsion_ros.models.common.family import WRENCH_NAMES, AboutCom, Degradable, Family
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.loop_node import LoopNode
from propulsion_ros.nodes.spin import run
from propulsion_ros.settings.errors import ConfigError

_TOPIC = re.compile(r'[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')


class ActuatorNode(LoopNode):
    """Takes commands for a group of actuators and publishes the wrench that they really apply.

    ROS Parameters
    --------------
    Those of `ActuatorNodeParams`, `LoopParams` and the family's own configuration.

    Subscribers
    -----------
    ~/command : sensor_msgs/JointState
        What is asked; takes effect at its stamp, or on arrival where that is 0.
    ~/wrench_command : geometry_msgs/WrenchStamped
        The same, of a family that is commanded by a wrench.
    ~/inertia : geometry_msgs/InertiaStamped
        Centre of mass, latched, for families that need it.
    ~/odometry : nav_msgs/Odometry
        Motion of ``base_link``, for families that feel the flow.
    ~/current : geometry_msgs/TwistStamped
        Velocity of the fluid in the world frame of the odometry, for the same.
    ~/command_array : std_msgs/Float64MultiArray
    ~/command_actuators : actuator_msgs/Actuators
        One value for each name in order, with ``adapters``.
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
    ~/wrenches/<name> : geometry_msgs/WrenchStamped
        Of each actuator in its link, with ``publish_each``.
    ~/thrusts/<name> : std_msgs/Float64
        Of each actuator [N], at its last step, with ``publish_numbers``.
    ~/positions/<name> : std_msgs/Float64
        Of each joint that is commanded by its position [rad], with ``publish_numbers``.

    Services
    --------
    ~/reset : std_srvs/Trigger
        Return actuators, tanks and time grid to the start.
    ~/set_enabled : std_srvs/SetBool
        Follow commands, or keep every actuator safe.
    """

    def __init__(self, name: str = 'actuators', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    def setup(self) -> None:
        """Read the configuration, build the family, open the topics."""
        own, setting = self.read_setting(ActuatorNodeParams)
        loop_params = setting.build(LoopParams)
        self._family = setting.build_family()
        self._frame = setting.frame
        self._resets_on_jump = loop_params.step_on == 'stamp' or self.uses_sim_time
        self._command_reader = CommandReader(self._family)
        self._wrench_reader = WrenchReader(self._frame)
        self._report: Report | None = None
        self._world_frame = ''
        loop = ActuatorLoop(
            self._family, loop_params, self._publish, self._on_jump, with_links=own.publish_each
        )
        self.loop = self._actuators = loop
        self._open(own, loop_params)
        self.follow_live(
            (LoopParams, setting.family_type.Params), setting.values,
            lambda changed, _: loop.check(changed), loop.retune,
        )

    def _open(self, own: ActuatorNodeParams, params: LoopParams) -> None:
        family, publish, options = self._family, self.create_lifecycle_publisher, qos.overridable()
        profile = qos.results(own.reliable_inputs)
        self._wrench = WrenchOutput(publish(
            WrenchStamped, '~/wrench', profile, qos_overriding_options=options
        ), self._frame)
        self._state = StateOutput(publish(
            JointState, '~/state', profile, qos_overriding_options=options
        ), self._frame, family.state_names)
        self._tank_pubs = [
            publish(InertiaStamped, f'~/tanks/{name}', qos.latched(own.reliable_inputs))
            for name in _topics('tanks.names', family.tank_names)
        ]
        each = family.actuator_names if own.publish_each else ()
        if own.publish_each and not all(family.actuator_frames):
            raise ConfigError('publish_each', 'expected a link for each actuator, from a URDF')
        self._links = [
            WrenchOutput(
                publish(WrenchStamped, f'~/wrenches/{name}', profile), link
            )
            for name, link in zip(
                _topics('names', each), family.actuator_frames, strict=False
            )
        ]
        self._numbers = None
        if own.publish_numbers:
            _topics('names', (*family.actuator_names, *family.command_names))
            self._numbers = NumberOutputs(
                lambda topic: publish(Float64, f'~/{topic}', profile), family
            )
        self.entities += [
            self._wrench.publisher, self._state.publisher, *self._tank_pubs,
            *(link.publisher for link in self._links),
            *(self._numbers.publishers if self._numbers else ()),
            self.create_service(SetBool, '~/set_enabled', self._on_set_enabled),
        ]
        self.serve_reset()
        self._subscribe_to_commands(own)
        if isinstance(family, AboutCom):
            self.subscribe(InertiaStamped, '~/inertia', self._on_inertia, qos.LATCHED)
        if family.uses_body:
            profile = qos.sensors(own.reliable_inputs)
            self.subscribe(Odometry, '~/odometry', self._on_odometry, profile)
            self.subscribe(TwistStamped, '~/current', self._on_current, profile)
        if params.step_on == 'clock':
            self.keep_time(params.update_rate, params.hold_back)

    def _subscribe_to_commands(self, own: ActuatorNodeParams) -> None:
        profile = qos.commands(own.reliable_inputs)
        topics: dict[str, Any] = {}
        if self._family.command_names == WRENCH_NAMES:
            topics['~/wrench_command'] = WrenchStamped
            self.subscribe(
                WrenchStamped, '~/wrench_command', self._on_wrench_command, profile
            )
        else:
            topics['~/command'] = JointState
            self.subscribe(JointState, '~/command', self._on_command, profile)
        if 'float64_multi_array' in own.adapters:
            topics['~/command_array'] = Float64MultiArray
            self.subscribe(
                Float64MultiArray, '~/command_array', self._on_array, profile
            )
        if 'actuators' in own.adapters:
            self._actuators_field = _one_field(self._family)
            topics['~/command_actuators'] = _actuators_type()
            self.subscribe(
                topics['~/command_actuators'], '~/command_actuators', self._on_actuators, profile
            )
        self.expect_command(topics)

    @property
    def command_names(self) -> Sequence[str]:
        """What can be commanded."""
        return self._family.command_names

    @property
    def frame(self) -> str:
        """Frame of the wrench."""
        return self._frame

    # Inputs.

    def _on_command(self, message: JointState) -> None:
        self.take(COMMAND, message.header.stamp, message, self._command_reader.read)

    def _on_wrench_command(self, message: WrenchStamped) -> None:
        self.take(COMMAND, message.header.stamp, message, self._wrench_reader.read)

    def _on_array(self, message: Float64MultiArray) -> None:
        self.take(COMMAND, None, message.data, self._command_reader.read_array)

    def _on_actuators(self, message: Any) -> None:
        values = getattr(message, self._actuators_field)
        self.take(COMMAND, message.header.stamp, values, self._command_reader.read_array)

    def _on_odometry(self, message: Odometry) -> None:
        if self.take(
            ODOMETRY, message.header.stamp, message, lambda m: msg_to_motion(m, self._frame)
        ):
            self._world_frame = message.header.frame_id

    def _on_current(self, message: TwistStamped) -> None:
        self.take(
            CURRENT, message.header.stamp, message, lambda m: msg_to_current(m, self._world_frame)
        )

    def _on_inertia(self, message: InertiaStamped) -> None:
        self.take_com(message, self._frame)

    def _on_jump(self, from_ns: int, to_ns: int) -> None:
        seconds = (to_ns - from_ns) * 1e-9
        if self._resets_on_jump and to_ns < from_ns:
            self._actuators.reset_family()
            self.complain('jumps', f'time jumped by {seconds:.3f} s, actuators reset')
        else:
            self.complain('jumps', f'time jumped by {seconds:.3f} s, actuators keep their state')

    def _on_set_enabled(self, request: Any, response: Any) -> Any:
        response.success = self.loop is not None
        response.message = 'enabled' if request.data else 'disabled'
        if response.success:
            self._actuators.enabled = request.data
            if not request.data and self.is_active:
                self._publish_zero()
        return response

    # Outputs.

    def started(self) -> None:
        """Begin at rest and without any earlier command; propellant stays as it was."""
        self._actuators.rest()
        names = ', '.join(self._family.command_names)
        self.get_logger().info(f'active, takes commands for {names}')

    def stopping(self) -> None:
        """Publish one zero wrench."""
        self._publish_zero()

    def _publish_zero(self) -> None:
        last_ns = self._actuators.inputs.last_stamp_ns
        stamp_ns = self.now_ns() if last_ns is None else last_ns
        for output in (self._wrench, *self._links):
            output.publish(stamp_ns, np.zeros(6))
        if self._numbers:
            self._numbers.publish_zero()

    def _publish(self, report: Report) -> None:
        self._report = report
        output, stamp_ns = report.output, report.stamp_ns
        tanks = output.tanks
        if tanks is not None:
            for i, publisher in enumerate(self._tank_pubs):
                publisher.publish(inertia_to_msg(
                    stamp_ns, self._frame, tanks.mass[i], tanks.com[i], tanks.inertia[i]
                ))
        self._state.publish(stamp_ns, output.position, output.velocity, output.effort)
        wrench = report.wrench
        # Faster than numpy for six numbers.
        if not all(map(math.isfinite, wrench.tolist())):
            self.complain('not_finite', f'wrench {wrench.tolist()} is not finite, 0 in its place')
            self._publish_zero()
            return
        if report.links is not None:
            for link, link_wrench in zip(self._links, report.links, strict=True):
                link.publish(stamp_ns, link_wrench)
        if self._numbers:
            self._numbers.publish(output)
        self._wrench.publish(stamp_ns, wrench)

    def health(self) -> Iterable[tuple[str, str, str, Mapping[str, Any]]]:
        """Yield the state of the actuators: stale commands, limits, what was refused."""
        if self.loop is None:
            return
        actuators = self._actuators
        values, level, text = self.judge_inputs(actuators)
        flags = {} if self._report is None else self._report.output.flags
        met = {flag: int(np.count_nonzero(mask)) for flag, mask in flags.items()}
        stale = int(np.count_nonzero(actuators.hold.stale))
        off = int(np.count_nonzero(actuators.hold.off))
        family = self._family
        degraded = np.count_nonzero(family.degraded) if isinstance(family, Degradable) else 0
        values.update(met, stale=stale, switched_off=off, degraded=int(degraded))
        if level != ERROR:
            warnings = [
                *(flag for flag, count in met.items() if count),
                *(['disabled'] if not actuators.enabled else []),
                *(['actuators are degraded'] if degraded else []),
                *(['actuators are switched off'] if off else []),
                *(['command is stale'] if stale else []),
                *(['no odometry yet, so no force'] if actuators.lacks_motion else []),
            ]
            if warnings:
                level, text = WARN, warnings[-1]
        yield 'actuators', level, text, values


def _topics(key: str, names: Sequence[str]) -> Sequence[str]:
    """Return names that can be part of a topic name; raise `ConfigError` for others."""
    for i, name in enumerate(names):
        if not _TOPIC.fullmatch(name):
            raise ConfigError(key, f'{name!r} cannot be part of a topic name', i)
    return names


def _one_field(family: Family) -> str:
    """Return the field of Actuators that a family takes its commands from."""
    fields = set(family.command_fields)
    if fields not in ({'velocity'}, {'position'}):
        taken = ' and '.join(sorted(fields))
        raise ConfigError('adapters', f'actuators carry velocity or position, not {taken}')
    return str(fields.pop())


def _actuators_type() -> Any:
    try:
        # Not every installation has it.
        from actuator_msgs.msg import Actuators
    except ImportError:
        raise ConfigError('adapters', 'actuators: actuator_msgs is not installed') from None
    return Actuators


def main(args: Sequence[str] | None = None) -> None:
    """Run one actuator node."""
    sys.exit(run(lambda options: [ActuatorNode()], args))


if __name__ == '__main__':
    main()
