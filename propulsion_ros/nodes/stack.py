"""All nodes of a robot in one process, wired as its launch file wires them."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rclpy.parameter import Parameter

from propulsion_ros.errors import ConfigError
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from propulsion_ros.nodes.spin import run
from propulsion_ros.nodes.vehicle_node import VehicleNode
from propulsion_ros.wiring import VEHICLES, NodeSpec, robot_graph, vehicle_graph

EXECUTABLES: dict[str, type[PropulsionNode]] = {
    'actuator_node': ActuatorNode,
    'flight_state_node': FlightStateNode,
    'vehicle_node': VehicleNode,
}


def make_node(spec: NodeSpec, namespace: str = '') -> PropulsionNode:
    """Return one node of a graph."""
    remaps = [part for pair in spec.remappings.items() for part in ('-r', ':='.join(pair))]
    return EXECUTABLES[spec.executable](
        spec.name,
        namespace=namespace,
        cli_args=['--ros-args', *remaps] if remaps else None,
        parameter_overrides=[
            Parameter(key, value=value) for key, value in spec.parameters.items()
            if value is not None and value != []
        ],
    )


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        '--vehicle', choices=VEHICLES, default=VEHICLES[0],
        help='a vehicle of the package, with its simulated body (default: %(default)s)',
    )
    which.add_argument('--model', help='URDF or xacro of a robot of your own: its actuators')
    parser.add_argument('--namespace', default='', help='namespace of all nodes')


def main(args: Sequence[str] | None = None) -> None:
    """Run the graph of a vehicle."""
    argv = list(sys.argv if args is None else args)
    parser = argparse.ArgumentParser(add_help=False)
    _add_arguments(parser)
    options, _ = parser.parse_known_args(argv[1:])
    try:
        graph = robot_graph(options.model) if options.model else vehicle_graph(options.vehicle)
    except ConfigError as error:
        sys.exit(str(error))

    def make_nodes(options: argparse.Namespace) -> list[PropulsionNode]:
        return [make_node(spec, options.namespace) for spec in graph.nodes]

    # The shipped settings come before those of the command line, so that the latter win.
    split = argv.index('--ros-args') if '--ros-args' in argv else len(argv)
    shipped = []
    if graph.params_file:
        shipped = ['--ros-args', '--params-file', str(graph.params_file), '--']
    sys.exit(run(make_nodes, [*argv[:split], *shipped, *argv[split:]], _add_arguments))


if __name__ == '__main__':
    main()
