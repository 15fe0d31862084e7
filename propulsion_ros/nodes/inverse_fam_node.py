# SPDX-License-Identifier: Apache-2.0
"""The wrench that Astrobee's propulsion modules apply, from their commands."""
from __future__ import annotations

from propulsion_ros.nodes.host_node import HostNode


class InverseFamNode(HostNode):
    """Estimates the wrench that the nozzles apply, at the stamp of each command to them.

    A module without a command for ``command_timeout`` counts as without thrust from then on, and
    that estimate is published too.

    ROS Parameters
    --------------
    Those of `FamilyNodeParams`, `EstimateParams` and the family's own configuration.

    Subscribers
    -----------
    ~/command : sensor_msgs/JointState
        Flap angles (position) and impeller speeds (velocity), as `fam` sends them.
    ~/wrench_command : geometry_msgs/WrenchStamped
        Demand on `fam`, for the residual.
    ~/measured : sensor_msgs/JointState
        Measured impeller speeds (velocity), for ``speed_source: measured``.
    ~/inertia : geometry_msgs/InertiaStamped
        Centre of mass, about which the torque is demanded, latched.
    /clock : rosgraph_msgs/Clock
        Time, with ``use_sim_time``; nothing is published before it without ``reliable_inputs``.

    Publishers
    ----------
    ~/wrench : geometry_msgs/WrenchStamped
        Applied force and torque in the axes of and about the origin of ``base_link``.
    ~/state : sensor_msgs/JointState
        Thrust (effort) and angle of each nozzle, speed of each impeller.
    ~/residual : geometry_msgs/WrenchStamped
        Demanded minus applied wrench, about the origin of ``base_link``.
    ~/covariance : sensor_msgs/JointState
        Covariance of the applied wrench, 36 efforts row by row, named by their two components; if
        a standard deviation is configured.
    ~/requests : diagnostic_msgs/DiagnosticArray
        Requests that determine the estimates beside the inputs, latched; an input with ``replay``.

    Services
    --------
    ~/reset : std_srvs/Trigger
        Forget commands, demand and time.
    """

    executable = 'inverse_fam_node'


main = InverseFamNode.main


if __name__ == '__main__':
    main()
