# SPDX-License-Identifier: Apache-2.0
"""Run nodes over a bag or a table of commands, exactly and without ROS."""
from __future__ import annotations

import argparse
from pathlib import Path

from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.replay.robot import Choice
from propulsion_ros.replay.run import inputs_of, replay
from propulsion_ros.replay.ulog_reader import add_map, map_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import printable
from propulsion_ros.tools.lines import fail, note

EXAMPLE = 'robot.yaml in.csv out.csv --model robot.urdf'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'config', type=Path, metavar='CONFIG', help='parameter file of the nodes (YAML)'
    )
    parser.add_argument(
        'input', type=Path, metavar='INPUT',
        help='a bag, a log of PX4 (.ulg), or commands as CSV: stamp, <name>.<field>, '
        'wrench.force.x ... wrench.torque.z, com.x, body.velocity.x, body.angular_velocity.x; an '
        'empty cell is no new command',
    )
    add_map(parser)
    parser.add_argument(
        'output', type=Path, metavar='OUTPUT', nargs='?',
        help='what the nodes publish: a new bag, or CSV'
    )
    parser.add_argument(
        '--inputs', action='store_true',
        help='print the topics to play into running nodes, for `ros2 bag play --topics`; no OUTPUT',
    )
    parser.add_argument(
        '--vehicle', choices=VEHICLES, default='', help='run all nodes of this vehicle'
    )
    parser.add_argument(
        '--model', type=Path, help='URDF or xacro with the plugin blocks of the nodes'
    )
    parser.add_argument(
        '--node', action='append', metavar='NAME',
        help='run only this node of the file (repeat for several)',
    )
    parser.add_argument('--namespace', default='', help='namespace of the nodes in a bag')
    parser.add_argument(
        '--keep-inputs', action='store_true', help='also write the input messages into the new bag'
    )


def run(args: argparse.Namespace) -> int:
    """Replay a file; return the exit code."""
    choice = Choice(args.config, args.vehicle, args.model, args.node or (), args.namespace)
    if args.inputs == bool(args.output):
        return fail('replay', 'expected either OUTPUT or --inputs')
    try:
        if args.inputs:
            print(*inputs_of(choice, args.input, map_of(args)))
            return 0
        counts = replay(choice, args.input, args.output, args.keep_inputs, map_of(args))
    except ConfigError as error:
        return fail('replay', error)
    except OSError as error:
        reason = error.strerror or error
        return fail('replay', f'{printable(args.output)}: cannot be written: {reason}')
    result = ', '.join(f'{count} {what}' for what, count in counts.items() if count)
    if not result:
        return fail('replay', f'{printable(args.input)}: expected rows, got a header alone')
    note('replay', f'{printable(args.output)}: {result}')
    return 0
