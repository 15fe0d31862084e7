# SPDX-License-Identifier: Apache-2.0
"""Command-line options of ``stack`` that select a graph."""
from __future__ import annotations

import argparse
from collections.abc import Sequence

from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import Graph, robot_graph, vehicle_graph


def add_graph_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `graph_of` reads, and ``--namespace``."""
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
    parser.add_argument(
        '--replay', action='store_true',
        help='for playing a recording: step on stamps, lose no input, run no simulated body',
    )
    parser.add_argument(
        '--visualize', action='store_true', help='publish the thrusts as markers for RViz'
    )
    parser.add_argument('--namespace', default='', help='namespace of all nodes')


def graph_of(options: argparse.Namespace, params_files: Sequence[str] = ()) -> Graph:
    """Return the selected graph; raise `ConfigError` where the options are wrong."""
    drawn_with = params_files if options.visualize else None
    if options.vehicle or not options.model:
        simulated = options.use_sim_time != 'false'
        return vehicle_graph(
            options.vehicle or next(iter(VEHICLES)), simulated, options.model, options.replay,
            drawn_with,
        )
    return robot_graph(
        options.model, options.use_sim_time == 'true', options.allocate, options.replay, drawn_with
    )
