# SPDX-License-Identifier: Apache-2.0
"""All nodes of a robot in one process, connected as by its launch file.

If the robot has a simulated vehicle, the process ends with it.
"""
from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rclpy.parameter import Parameter

from propulsion_ros.graph.simulation import NodeSpec
from propulsion_ros.graph.wiring import add_graph_options, checked_graph
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.allocator_node import AllocatorNode
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from propulsion_ros.nodes.host_node import HostNode
from propulsion_ros.nodes.inverse_fam_node import InverseFamNode
from propulsion_ros.nodes.spin import parameter_files, run
from propulsion_ros.nodes.vehicle_node import VehicleNode
from propulsion_ros.nodes.visualizer_node import VisualizerNode
from propulsion_ros.settings.errors import ConfigError

EXECUTABLES: dict[str, type[HostNode]] = {
    cls.executable: cls for cls in (
        ActuatorNode, AllocatorNode, FlightStateNode, InverseFamNode, VehicleNode, VisualizerNode,
    )
}


def make_node(
    spec: NodeSpec,
    namespace: str = '',
    cls: Callable[..., PropulsionNode] | None = None,
    params_files: Sequence[str | Path] = (),
    **kwargs: Any,
) -> PropulsionNode:
    """Return one node of a graph.

    Parameters
    ----------
    cls : callable, optional
        Makes the node in place of its executable's own class.
    params_files : sequence of str or Path
        Parameter files; later ones win.
    """
    arguments = [part for path in params_files for part in ('--params-file', str(path))]
    arguments += [part for pair in spec.remappings.items() for part in ('-r', ':='.join(pair))]
    return (cls or EXECUTABLES[spec.executable])(
        spec.name,
        namespace=namespace,
        cli_args=['--ros-args', *arguments] if arguments else None,
        parameter_overrides=[
            Parameter(key, value=value)
            for key, value in spec.settled(params_files, namespace).parameters.items()
            if value is not None and value != []
        ],
        **kwargs,
    )


def main(args: Sequence[str] | None = None) -> None:
    """Run the graph of a vehicle."""
    argv = list(sys.argv if args is None else args)
    try:
        graph = checked_graph(argv[1:], parameter_files(argv))
    except ConfigError as error:
        sys.exit(str(error))

    def make_nodes(options: argparse.Namespace) -> list[PropulsionNode]:
        return [make_node(spec, options.namespace) for spec in graph.nodes]

    # The shipped settings come before those of the command line, so that the latter win.
    split = argv.index('--ros-args') if '--ros-args' in argv else len(argv)
    shipped = []
    if graph.params_file:
        shipped = ['--ros-args', '--params-file', str(graph.params_file), '--']
    arguments = [*argv[:split], *shipped, *argv[split:]]
    sys.exit(run(make_nodes, arguments, add_graph_options, vital=VehicleNode))


if __name__ == '__main__':
    main()
