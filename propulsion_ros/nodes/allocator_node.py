# SPDX-License-Identifier: Apache-2.0
"""From a demanded wrench to the commands of a group of actuators."""
from __future__ import annotations

from propulsion_ros.nodes.host_node import HostNode


class AllocatorNode(HostNode):
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
    ~/effectiveness : sensor_msgs/JointState
        What each actuator of the group gives of what is commanded, in ``position``, 0 to 1;
        latched.

    Publishers
    ----------
    ~/command : sensor_msgs/JointState
        For the node of the group, with the stamp of the demand.
    ~/residual : geometry_msgs/WrenchStamped
        Demand minus what these commands will make: what limits and known faults prevent.
    """

    executable = 'allocator_node'


main = AllocatorNode.main


if __name__ == '__main__':
    main()
