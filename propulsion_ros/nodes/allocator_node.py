"""From a demanded wrench to the commands of a group of thrusters or rotors."""
from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from propulsion_ros.graph.family_params import AllocatorNodeParams
from propulsion_ros.graph.node_config import allocator_of
from propulsion_ros.loops.decoders import checked_stamp, checked_wrench
from propulsion_ros.loops.ports import OK, WARN
from propulsion_ros.messages.fields import doubles, wrench_to_msg
from propulsion_ros.models.common.allocation import Allocation
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.family_node import FamilyNode
from propulsion_ros.nodes.first_message import FirstMessage
from propulsion_ros.nodes.spin import run
from propulsion_ros.settings.errors import CommandError


class AllocatorNode(FamilyNode):
    """Shares a wrench among the actuators of one group, within their limits.

    A group is described as its own node is, by the same plugin block or the same parameters, so
    parameter ``plugin`` names it.

    ROS Parameters
    --------------
    Those of `AllocatorNodeParams` and the group's own configuration.

    Subscribers
    -----------
    ~/wrench_command : geometry_msgs/WrenchStamped
        Demand in the axes of and about the origin of ``base_link``.

    Publishers
    ----------
    ~/command : sensor_msgs/JointState
        For the node of the group, with the stamp of the demand.
    ~/residual : geometry_msgs/WrenchStamped
        Demand minus what these commands will make: what the limits leave undone. Of actuators that
        have failed it knows nothing; compare with the group's own wrench.
    """

    takes_live = False

    def __init__(self, name: str = 'allocator', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    def setup(self) -> None:
        """Read the configuration of the group, open the topics."""
        own, setting = self.read_setting(AllocatorNodeParams)
        self._family, self._allocator = allocator_of(own, setting)
        self._frame, self._field = setting.frame, self._family.command_fields[0]
        self._newest: Allocation | None = None
        self._first_message = FirstMessage(self, {'~/wrench_command': WrenchStamped})
        options, profile = qos.overridable(), qos.results(own.reliable_inputs)
        self._command_pub = self.create_lifecycle_publisher(
            JointState, '~/command', profile, qos_overriding_options=options
        )
        self._residual_pub = self.create_lifecycle_publisher(
            WrenchStamped, '~/residual', profile
        )
        self.entities += [
            self._command_pub, self._residual_pub,
            self.create_subscription(
                WrenchStamped, '~/wrench_command', self._on_demand,
                qos.commands(own.reliable_inputs),
                qos_overriding_options=options,
            ),
        ]

    def _on_demand(self, message: WrenchStamped) -> None:
        if not self.is_active:
            return
        try:
            demand = checked_wrench(message, self._frame)
            stamp_ns = checked_stamp(message.header.stamp)
        except CommandError as error:
            self.complain('refused', f'wrench_command refused: {error}')
            return
        allocation = self._newest = self._allocator.allocate(demand)
        # A stamp of 0 means now, for the group and for who reads the residual.
        stamp_ns = stamp_ns or int(self.get_clock().now().nanoseconds)
        command = JointState()
        command.header.stamp = message.header.stamp
        command.header.frame_id = self._frame
        command.name = list(self._family.command_names)
        setattr(command, self._field, doubles(self._family.command_for(allocation.effort)))
        self._command_pub.publish(command)
        self._residual_pub.publish(wrench_to_msg(stamp_ns, self._frame, allocation.residual))

    def health(self) -> Iterable[tuple[str, str, str, Mapping[str, Any]]]:
        """Yield which actuators are at their limits, and what was refused."""
        saturated = 0 if self._newest is None else int(np.count_nonzero(self._newest.saturated))
        level, text = (WARN, 'saturated') if saturated else (OK, 'ok')
        if self._newest is None:
            level, text = self._first_message.look()
        yield 'allocation', level, text, {
            'saturated': saturated, 'refused': self.counts['refused']
        }


def main(args: Sequence[str] | None = None) -> None:
    """Run one allocator."""
    sys.exit(run(lambda options: [AllocatorNode()], args))


if __name__ == '__main__':
    main()
