# SPDX-License-Identifier: Apache-2.0
"""The wrench that Astrobee's propulsion modules apply, from their commands."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from propulsion_ros.graph.family_params import NODE_KINDS
from propulsion_ros.loops.estimate_ports import EstimatePorts
from propulsion_ros.models.common.facts import ESTIMATES
from propulsion_ros.nodes.host_node import HostNode
from propulsion_ros.nodes.spin import run

_NAME = NODE_KINDS[ESTIMATES].executable.removesuffix('_node')


class InverseFamNode(HostNode):
    """Says what wrench the nozzles apply, at the stamp of each command to them.

    A module that has been silent for ``command_timeout`` counts as without thrust from then on,
    and that is published too.

    ROS Parameters
    --------------
    Those of `FamilyNodeParams`, `EstimateParams` and the family's own configuration.

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
        Time, with ``use_sim_time``; nothing is published before it, but with ``reliable_inputs``.

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

    executable = 'inverse_fam_node'
    loop: EstimatePorts | None

    def __init__(self, name: str = _NAME, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)


def main(args: Sequence[str] | None = None) -> None:
    """Run one estimator."""
    sys.exit(run(lambda options: [InverseFamNode()], args))


if __name__ == '__main__':
    main()
