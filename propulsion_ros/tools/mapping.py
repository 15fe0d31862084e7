# SPDX-License-Identifier: Apache-2.0
"""The option that names the motors of a log of PX4, of several commands."""
from __future__ import annotations

import argparse

from propulsion_ros.replay.ulog import SUFFIX
from propulsion_ros.replay.ulog_actuators import UlogMap, read_map
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable


def add_map(parser: argparse.ArgumentParser) -> None:
    """Add it to a command with an INPUT."""
    parser.add_argument(
        '--map', action='append', default=[], metavar='NAME=TARGET',
        help='what the motors of a log of PX4 (.ulg) are: motor_1=GROUP/ACTUATOR, or '
        'servo_1=GROUP/ACTUATOR:-0.4:0.4 with its angles at -1 and 1; or a topic, such as '
        'pressure=/flight_state/pressure (several apart by commas)',
    )


def map_of(args: argparse.Namespace) -> UlogMap:
    """Return what it states; raise `SourceError` for what is none, or another INPUT."""
    if args.map and args.input.suffix != SUFFIX:
        raise SourceError('--map', f'is for logs of PX4 ({SUFFIX}), got {printable(args.input)}')
    return read_map(args.map)
