# SPDX-License-Identifier: Apache-2.0
"""One node for every actuator family."""
from __future__ import annotations

from collections.abc import Sequence

from propulsion_ros.graph.vehicles import ENGINE_TAG
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.ports import WARN
from propulsion_ros.nodes.host_node import HostNode


class ActuatorNode(HostNode):
    """Takes commands for a group of actuators and publishes the wrench that they really apply.

    ROS Parameters
    --------------
    Those of `ActuatorNodeParams`, `LoopParams` and the family's own configuration.

    Subscribers
    -----------
    ~/command : sensor_msgs/JointState
        Takes effect at its stamp, or on arrival if that is 0.
    ~/wrench_command : geometry_msgs/WrenchStamped
        The same for a family that is commanded by a wrench.
    ~/inertia : geometry_msgs/InertiaStamped
        Centre of mass, latched, for families that need it.
    ~/odometry : nav_msgs/Odometry
        Motion of ``base_link``, for families whose forces depend on the flow.
    ~/current : geometry_msgs/TwistStamped
        Velocity of the fluid in the world frame of the odometry, for the same.
    ~/command_array : std_msgs/Float64MultiArray
    ~/command_actuators : actuator_msgs/Actuators
        One value for each name in order, with ``adapters``.
    ~/command_px4_motors : px4_msgs/ActuatorMotors
    ~/command_px4_servos : px4_msgs/ActuatorServos
    ~/command_mavros_rc_out : mavros_msgs/RCOut
        Commands of an autopilot, with ``adapters`` and ``autopilot.names``.
    /clock : rosgraph_msgs/Clock
        Time, with ``use_sim_time`` and ``step_on: clock``.

    Publishers
    ----------
    ~/wrench : geometry_msgs/WrenchStamped
        Mean force and torque in the axes of and about the origin of ``base_link``.
    ~/state : sensor_msgs/JointState
        State of the actuators.
    ~/tanks/<name> : geometry_msgs/InertiaStamped
        Propellant left in each tank, latched.
    ~/effectiveness : sensor_msgs/JointState
        Share of its command that each actuator achieves, in ``position``, for an allocator;
        latched.
    ~/battery_state : sensor_msgs/BatteryState
        State of the group's battery; ~/battery_state/<name> if it has several.
    ~/wrenches/<name> : geometry_msgs/WrenchStamped
        Wrench of each actuator in its link, with ``publish_each``.
    ~/thrusts/<name> : std_msgs/Float64
        Thrust of each actuator [N], at its last step, with ``publish_numbers``.
    ~/positions/<name> : std_msgs/Float64
        Angle of each joint that is commanded by its position [rad], with ``publish_numbers``.
    ~/joint_states : sensor_msgs/JointState
        The state with all fields of each name, NaN where there is none, with
        ``publish_joint_states``.
    ~/requests : diagnostic_msgs/DiagnosticArray
        Requests that determine the steps beside the inputs, latched; an input with ``replay``.

    Services
    --------
    ~/reset : std_srvs/Trigger
        Return actuators, tanks, batteries and time grid to the start.
    ~/set_enabled : std_srvs/SetBool
        Follow commands, or keep every actuator safe.
    """

    executable, default_name = 'actuator_node', 'actuators'
    loop: ActuatorPorts | None

    @property
    def uncommanded(self) -> Sequence[str] | None:
        """Names that never had a command, None if no name had one."""
        return self.loop.uncommanded if self.loop else []

    @property
    def is_unlit(self) -> bool:
        """Whether the group has engines that a flight computer could light, without a command."""
        return self.loop is not None and self.loop.uncommanded is None and (
            self.loop.family.facts.tag == ENGINE_TAG
        )

    @property
    def mistake(self) -> str:
        """Why no command has come or has an effect, '' if that is not known."""
        if self.loop is None:
            return ''
        if self.loop.mistake:
            return f'{self.get_name()}: {self.loop.mistake}'
        has_none = not self.loop.core.hold.has_any
        looks = [each.look() for each in self.awaited.values()] if has_none else []
        return '; '.join(text for level, text in looks if level == WARN)


main = ActuatorNode.main


if __name__ == '__main__':
    main()
