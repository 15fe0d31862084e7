# SPDX-License-Identifier: Apache-2.0
"""Allocates a demanded wrench to the actuators of a group."""
from __future__ import annotations

from propulsion_ros.nodes.host_node import HostNode


class AllocatorNode(HostNode):
    """Shares a wrench among the actuators of one group, within their limits.

    The group has the same plugin block or parameters as its own node; parameter ``plugin`` names
    it.

    ROS Parameters
    --------------
    Those of `AllocatorNodeParams` and the group's own configuration.

    Subscribers
    -----------
    ~/wrench_command : geometry_msgs/WrenchStamped
        Demand in the axes of and about the origin of ``base_link``.
    ~/effectiveness : sensor_msgs/JointState
        Share of its command that each actuator of the group achieves, in ``position``, 0 to 1;
        latched.

    Publishers
    ----------
    ~/command : sensor_msgs/JointState
        Commands for the node of the group, with the stamp of the demand.
    ~/residual : geometry_msgs/WrenchStamped
        Demand minus the wrench of these commands: the part that limits and known faults prevent.
    """

    executable = 'allocator_node'


main = AllocatorNode.main


if __name__ == '__main__':
    main()
