"""Arrows, plumes and text for RViz: what the actuators of a robot do."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from propulsion_ros.drawing.drawn_blocks import DrawnBlock, drawn_blocks
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.loops.visualizer_loop import VisualizerLoop
from propulsion_ros.loops.visualizer_params import VisualizerParams
from propulsion_ros.nodes.host_node import HostNode
from propulsion_ros.nodes.spin import run
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import actuators_from_urdf


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

    def __init__(self, name: str = 'visualizer', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    def make_loop(self) -> VisualizerLoop:
        """Return the loop that draws what the description and the parameter files have."""
        params = build(VisualizerParams, self.declare_rest(parameters_of(VisualizerParams)))
        return VisualizerLoop(params, self._blocks(params), self)

    def _blocks(self, params: VisualizerParams) -> list[DrawnBlock]:
        if not params.robot_description:
            raise ConfigError('robot_description', 'is required: it says where the actuators are')
        files = [ParameterFile(path) for path in params.params_files]
        specs = actuators_from_urdf(params.robot_description, loop_params_of, params.base_link)
        return drawn_blocks(specs, lambda block: {
            key: value for file in files
            for key, value in file.of(block, self.get_namespace()).items()
        })


def main(args: Sequence[str] | None = None) -> None:
    """Run one visualizer."""
    sys.exit(run(lambda options: [VisualizerNode()], args))


if __name__ == '__main__':
    main()
