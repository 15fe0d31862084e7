# SPDX-License-Identifier: Apache-2.0
"""Command-line options of ``stack`` that select a graph."""
from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import (
    Graph,
    Simulation,
    check_settings,
    robot_graph,
    vehicle_graph,
)
from propulsion_ros.settings.names import check_namespace

SETTINGS = ('duration', 'real_time_factor', 'start_timeout')
"""Parameters of a simulated body that are options."""


def add_graph_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `checked_graph` reads."""
    parser.add_argument(
        '--vehicle', choices=VEHICLES, help='vehicle of the package, with its simulated body'
    )
    parser.add_argument(
        '--model', default='',
        help="URDF or xacro of a robot; with --vehicle in place of the vehicle's own",
    )
    parser.add_argument(
        '--allocate', nargs='+', default=[], metavar='BLOCK',
        help='plugin blocks of the model that also get an allocator, to be commanded by a wrench',
    )
    parser.add_argument(
        '--use-sim-time', choices=('true', 'false'),
        help='whether time comes from /clock (default: true with --vehicle, else false)',
    )
    add_simulation_options(parser)
    parser.add_argument(
        '--simulate', action='store_true',
        help='add a simulated body of the model, which its links and plugin blocks describe',
    )
    parser.add_argument(
        '--replay', action='store_true',
        help='for playing a recording: step on stamps, lose no input, run no simulated body',
    )
    parser.add_argument(
        '--visualize', action='store_true', help='publish the thrusts as markers for RViz'
    )
    parser.add_argument('--namespace', default='', help='namespace of all nodes')


def add_simulation_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a simulated body, which `simulation_of` reads."""
    parser.add_argument(
        '--wait-for', action='append', default=[], metavar='TOPIC',
        help='command of a controller, such as <group>/command, that each step waits for: in '
        'lockstep, with the stamp of the odometry; may be repeated',
    )
    parser.add_argument(
        '--duration', type=float, metavar='SECONDS',
        help='simulated time after which everything ends',
    )
    parser.add_argument(
        '--real-time-factor', type=float, metavar='FACTOR',
        help='simulated over wall time; 0: as fast as the nodes reply',
    )
    parser.add_argument(
        '--start-timeout', type=float, metavar='SECONDS',
        help='wall time to wait for all that the first step needs, a controller too',
    )


def simulation_of(
    options: argparse.Namespace, params_files: Sequence[str | Path], namespace: str = ''
) -> Simulation:
    """Return how a body is simulated, by `add_simulation_options` and parameter files."""
    chosen = {key: getattr(options, key) for key in SETTINGS}
    settings = {key: value for key, value in chosen.items() if value is not None}
    return Simulation(tuple(options.wait_for), settings, tuple(params_files), namespace)


def checked_graph(words: Sequence[str], params_files: Sequence[str | Path]) -> Graph:
    """Return the graph of a command line, whose other words are left to others.

    Raises `ConfigError` where the options are wrong, the namespace is none, or a parameter file is
    for other nodes.
    """
    parser = argparse.ArgumentParser(add_help=False)
    add_graph_options(parser)
    options, _ = parser.parse_known_args(words)
    check_namespace(options.namespace)
    graph = _graph_of(options, params_files)
    check_settings(graph, params_files, options.namespace)
    return graph


def _graph_of(options: argparse.Namespace, params_files: Sequence[str | Path]) -> Graph:
    drawn_with = params_files if options.visualize else None
    simulation = simulation_of(options, params_files, options.namespace)
    if options.vehicle or not options.model:
        simulated = options.use_sim_time != 'false'
        return vehicle_graph(
            options.vehicle or next(iter(VEHICLES)), simulated, options.model, options.replay,
            drawn_with, simulation, options.allocate,
        )
    return robot_graph(
        options.model, options.use_sim_time == 'true', options.allocate, options.replay, drawn_with,
        simulation if options.simulate else None,
    )
