# SPDX-License-Identifier: Apache-2.0
"""Write Gazebo's model of a robot, and the files of its bridges."""
from __future__ import annotations

import argparse
from pathlib import Path

from propulsion_ros.gz.bridge import CLOCK, FORTRESS, GZ, bridge_yaml
from propulsion_ros.gz.model import ROUTES, gazebo_robot
from propulsion_ros.settings.files import make_folder, printable, save_text
from propulsion_ros.tools.lines import note

EXAMPLE = 'robot.urdf --output model'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'model', metavar='MODEL', help='URDF or xacro with plugin blocks'
    )
    parser.add_argument(
        '--output', type=Path, required=True, metavar='DIR',
        help='folder for gazebo.urdf, bridge.yaml and clock_bridge.yaml',
    )
    parser.add_argument(
        '--route', choices=ROUTES, default='system',
        help='system: the models run inside gz-sim; bridge: the nodes run beside it and command '
        'its Thruster and JointPositionController (default: %(default)s)',
    )
    parser.add_argument(
        '--params-file', action='append', default=[], type=Path, metavar='FILE',
        help='settings of the nodes (repeat for several; later files win)',
    )
    parser.add_argument('--namespace', default='', help='namespace of the nodes')
    parser.add_argument(
        '--name', default='',
        help='name of the model, which its topics have: give each vehicle of a world its own '
        '(default: that of the description, behind the namespace)',
    )
    parser.add_argument(
        '--fortress', action='store_true',
        help='use the type names of Gazebo Fortress, with --route bridge',
    )


def run(args: argparse.Namespace) -> int:
    """Write the files; return the exit code."""
    release = FORTRESS if args.fortress else GZ
    robot = gazebo_robot(
        args.model, args.route, args.params_file, args.namespace, release, args.name
    )
    make_folder(args.output)
    for name, text in (
        ('gazebo.urdf', robot.description),
        ('bridge.yaml', bridge_yaml(robot.topics, release)),
        ('clock_bridge.yaml', bridge_yaml([CLOCK], release)),
    ):
        save_text(args.output / name, text)
        print(printable(args.output / name))
    for each in robot.notes:
        note('gazebo', each)
    return 0
