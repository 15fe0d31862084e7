"""The wrench that Astrobee's propulsion modules apply, from what they were told."""
from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from sensor_msgs.msg import JointState

from propulsion_ros.graph.family_params import FamilyNodeParams
from propulsion_ros.loops.actuator_loop import COMMAND
from propulsion_ros.loops.command_hold import CommandUpdate
from propulsion_ros.loops.command_reader import CommandReader
from propulsion_ros.loops.decoders import WrenchReader
from propulsion_ros.loops.estimate_loop import DEMAND, SPEED, Applied, EstimateLoop, EstimateParams
from propulsion_ros.loops.ports import ERROR, WARN
from propulsion_ros.messages.encoders import StateOutput, WrenchOutput
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.fam.inverse_fam import InverseFam
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.loop_node import LoopNode
from propulsion_ros.nodes.spin import run
from propulsion_ros.settings.errors import CommandError

_WATCH_RATE = 50.0
"""How often silence is looked for on the system's clock [Hz]."""
COVARIANCE_NAMES = tuple(f'{row}*{column}' for row in WRENCH_NAMES for column in WRENCH_NAMES)
"""Names of the covariance's elements, row by row."""


class InverseFamNode(LoopNode):
    """Says what wrench the nozzles apply, at the stamp of each command to them.

    A module that has been silent for ``command_timeout`` counts as without thrust from then on,
    and that is published too.

    ROS Parameters
    --------------
    Those of `FamilyNodeParams`, `EstimateParams` and `InverseFamParams`.

    Subscribers
    -----------
    ~/command : sensor_msgs/JointState
        Flap angles (position) and impeller speeds (velocity), as `fam` sends them.
    ~/wrench_command : geometry_msgs/WrenchStamped
        What was demanded of `fam`, for the residual.
    ~/measured : sensor_msgs/JointState
        Measured impeller speeds (velocity), for ``speed_source: measured``.
    ~/inertia : geometry_msgs/InertiaStamped
        Centre of mass that the demanded torque is about, latched.
    /clock : rosgraph_msgs/Clock
        Time, with ``use_sim_time``; nothing is said before it, but with ``reliable_inputs``.

    Publishers
    ----------
    ~/wrench : geometry_msgs/WrenchStamped
        Applied force and torque in the axes of and about the origin of ``base_link``.
    ~/state : sensor_msgs/JointState
        Thrust (effort) and angle of each nozzle, speed of each impeller.
    ~/residual : geometry_msgs/WrenchStamped
        Demanded minus applied wrench, about the origin of ``base_link``.
    ~/covariance : sensor_msgs/JointState
        Of the applied wrench, 36 efforts row by row, named by their two components; where a
        standard deviation is configured.

    Services
    --------
    ~/reset : std_srvs/Trigger
        Forget commands, demand and time.
    """

    def __init__(self, name: str = 'inverse_fam', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    def setup(self) -> None:
        """Read the configuration, build the estimator, open the topics."""
        own, setting = self.read_setting(FamilyNodeParams, only='inverse_fam')
        loop_params = setting.build(EstimateParams)
        inverse = setting.build_family()
        if not isinstance(inverse, InverseFam):
            raise TypeError(f'expected InverseFam, got {type(inverse).__name__}')
        self._inverse, self._frame = inverse, setting.frame
        self._reader, self._wrench_reader = CommandReader(inverse), WrenchReader(setting.frame)
        self._rows = np.full((3, len(inverse.state_names)), np.nan)
        loop = EstimateLoop(
            inverse, loop_params, self._publish, self._on_jump,
            # A replay may have no clock.
            heeds_clock=not own.reliable_inputs,
        )
        self.loop = self._estimates = loop
        self._newest: Applied | None = None
        self._open(own.reliable_inputs)
        self.follow_live(
            (EstimateParams, InverseFam.Params), setting.values,
            lambda *configurations: None,
            lambda changed, _, params: loop.retune(changed, params),
        )

    def _open(self, lose_none: bool) -> None:
        publish, options = self.create_lifecycle_publisher, qos.overridable()
        profile, heard = qos.results(lose_none), qos.commands(lose_none)
        self._wrench = WrenchOutput(publish(
            WrenchStamped, '~/wrench', profile, qos_overriding_options=options
        ), self._frame)
        self._state = StateOutput(publish(
            JointState, '~/state', profile, qos_overriding_options=options
        ), self._frame, self._inverse.state_names)
        self._residual = WrenchOutput(
            publish(WrenchStamped, '~/residual', profile), self._frame
        )
        self._covariance = StateOutput(
            publish(JointState, '~/covariance', profile), self._frame, COVARIANCE_NAMES
        )
        self.entities += [
            output.publisher
            for output in (self._wrench, self._state, self._residual, self._covariance)
        ]
        self.serve_reset()
        self.subscribe(JointState, '~/command', self._on_command, heard)
        self.expect_command({'~/command': JointState})
        self.subscribe(WrenchStamped, '~/wrench_command', self._on_demand, heard)
        self.subscribe(JointState, '~/measured', self._on_measured, heard)
        self.subscribe(InertiaStamped, '~/inertia', self._on_inertia, qos.LATCHED)
        self.keep_time(_WATCH_RATE)

    @property
    def command_names(self) -> Sequence[str]:
        """What can be commanded."""
        return self._inverse.command_names

    @property
    def frame(self) -> str:
        """Frame of the wrench."""
        return self._frame

    # Inputs.

    def _on_command(self, message: JointState) -> None:
        self.take(COMMAND, message.header.stamp, message, self._reader.read)

    def _on_demand(self, message: WrenchStamped) -> None:
        self.take(DEMAND, message.header.stamp, message, self._wrench_reader.read)

    def _on_measured(self, message: JointState) -> None:
        self.take(SPEED, message.header.stamp, message, self._read_measured)

    def _on_inertia(self, message: InertiaStamped) -> None:
        self.take_com(message, self._frame)

    def _read_measured(self, message: JointState) -> CommandUpdate:
        update = self._reader.read(message)
        nozzles = len(self._inverse.actuator_names)
        if (update.columns < nozzles).any():
            raise CommandError('expected impellers only, got a nozzle')
        return CommandUpdate(update.columns - nozzles, update.values)

    def _on_jump(self, from_ns: int, to_ns: int) -> None:
        seconds = (to_ns - from_ns) * 1e-9
        self.complain('jumps', f'time jumped by {seconds:.3f} s, commands are forgotten')

    # Outputs.

    def started(self) -> None:
        """Begin without any earlier command."""
        self._estimates.reset()
        self.get_logger().info('active')

    def stopping(self) -> None:
        """Publish one zero wrench, since nothing is known from now on."""
        last_ns = self._estimates.inputs.last_stamp_ns
        stamp_ns = self.now_ns() if last_ns is None else last_ns
        self._wrench.publish(stamp_ns, np.zeros(6))

    def _publish(self, applied: Applied) -> None:
        self._newest = applied
        stamp_ns = applied.stamp_ns
        n = len(applied.thrust)
        position, velocity, effort = self._rows
        position[:n], effort[:n], velocity[n:] = applied.angle, applied.thrust, applied.speed
        self._state.publish(stamp_ns, position, velocity, effort)
        if self._inverse.knows_errors:
            self._covariance.publish(stamp_ns, effort=applied.covariance.ravel())
        if applied.residual is not None:
            self._residual.publish(stamp_ns, applied.residual)
        self._wrench.publish(stamp_ns, applied.wrench)

    def health(self) -> Iterable[tuple[str, str, str, Mapping[str, Any]]]:
        """Yield silent modules, and what was refused."""
        if self.loop is None:
            return
        values, level, text = self.judge_inputs(self._estimates)
        stale = int(np.count_nonzero(self._estimates.hold.stale))
        values['stale'] = stale
        if stale and level != ERROR:
            level, text = WARN, 'a module is silent and counts as without thrust'
        yield 'modules', level, text, values


def main(args: Sequence[str] | None = None) -> None:
    """Run one estimator."""
    sys.exit(run(lambda options: [InverseFamNode()], args))


if __name__ == '__main__':
    main()
