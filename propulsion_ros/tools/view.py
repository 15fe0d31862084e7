# SPDX-License-Identifier: Apache-2.0
"""Write a page for the browser: a robot in 3D with its plots, from a bag or a table."""
from __future__ import annotations

import argparse
from pathlib import Path

from propulsion_ros.pictures.table import join_commands, signals_of_table
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import printable, require_target
from propulsion_ros.tools.lines import fail, note
from propulsion_ros.tools.plot import read_signals
from propulsion_ros.view.page import data_of, require_libraries, write_page
from propulsion_ros.view.robot import robot_in

EXAMPLE = 'BAG --model rocket --html flight.html'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'input', type=Path, metavar='INPUT',
        help='a rosbag2 bag, a CSV table that replay wrote, or a flight log as apogee reads it',
    )
    parser.add_argument(
        '--model', default='', metavar='ROBOT',
        help='robot description (.urdf, .xacro, package://NAME/FILE), or rocket, quadrotor, rov, '
        'freeflyer or cubesat (default: the robot_description in the bag)',
    )
    parser.add_argument(
        '--html', type=Path, default=Path('view.html'), metavar='PAGE',
        help='page to write (default: %(default)s)',
    )
    parser.add_argument(
        '--params-file', type=Path, action='append', default=[], metavar='YAML',
        help="parameter file of the robot's nodes, for limits and parachutes; may be repeated",
    )
    parser.add_argument(
        '--commands', type=Path, metavar='CSV',
        help='command table from which replay made the input; drawn with it',
    )
    parser.add_argument(
        '--namespace', default='', help='show only topics of a bag in this namespace, for one of '
        'several vehicles',
    )
    parser.add_argument('--title', help='title of the page (default: name of the input)')


def run(args: argparse.Namespace) -> int:
    """Write a page; return the exit code."""
    try:
        require_target(args.html)
        signals = read_signals(args.input, args.namespace)
        require_libraries()
        if args.commands is not None:
            join_commands(signals, signals_of_table(args.commands))
        data = data_of(signals, robot_in(signals, args.model, args.params_file), args.title)
        write_page(args.html, data)
    except ConfigError as error:
        return fail('view', error)
    for line in data['notes']:
        note('view', line)
    note('view', printable(args.html))
    return 0
