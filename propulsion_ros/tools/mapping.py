# SPDX-License-Identifier: Apache-2.0
"""The option that names what a log of PX4 cannot know."""
from __future__ import annotations

import argparse

from propulsion_ros.replay.ulog import SUFFIX
from propulsion_ros.replay.ulog_map import UlogMap, read_map
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable


def add_map(parser: argparse.ArgumentParser) -> None:
    """Add the option to a command with an INPUT."""
    parser.add_argument(
        '--map', action='append', default=[], metavar='NAME=TARGET',
        help='what the motors of a log of PX4 (.ulg) are, such as motor_1=rotors/front_left, or '
        'servo_1=fins/rudder:-0.4:0.4 with its angles at -1 and 1; imu, odometry, pressure, '
        'battery=TOPIC (several apart by commas, or repeat)',
    )


def map_of(args: argparse.Namespace) -> UlogMap:
    """Return what the option states; raise `SourceError` for what is none, or another INPUT."""
    if args.map and args.input.suffix != SUFFIX:
        raise SourceError(
            '--map', f'is for logs of PX4 ({SUFFIX}), got {printable(args.input)}'
        )
    return read_map(args.map)
