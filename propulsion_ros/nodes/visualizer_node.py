# SPDX-License-Identifier: Apache-2.0
"""Arrows, plumes and text for RViz: what the actuators of a robot do."""
from __future__ import annotations

from propulsion_ros.nodes.host_node import HostNode


class VisualizerNode(HostNode):
    """Draws what the actuators of a robot do: thrusts, limits, plumes, propellant, phase.

    Pictures are due by the stamps of the states; see `VisualizerLoop`.

    ROS Parameters
    --------------
    Those of `VisualizerParams`.

    Subscribers
    -----------
    state_topics : sensor_msgs/JointState
        Thrust as effort; angles of gimbals, fins and flaps as position.
    tank_topics : geometry_msgs/InertiaStamped
    phase_topic : std_msgs/String

    Publishers
    ----------
    ~/markers : visualization_msgs/MarkerArray
        While there is a subscription, at most ``rate`` times per second of the stamps, and 10 times
        per second.
    """

    executable = 'visualizer_node'


main = VisualizerNode.main


if __name__ == '__main__':
    main()
