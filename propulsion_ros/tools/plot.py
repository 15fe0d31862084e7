# SPDX-License-Identifier: Apache-2.0
"""Draw a bag, a table or a flight log on one page."""
from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Literal

from propulsion_ros.pictures.bag import signals_of_bag
from propulsion_ros.pictures.panels import moving, page_of
from propulsion_ros.pictures.signals import Signals
from propulsion_ros.pictures.table import join_commands, signals_of_log, signals_of_table
from propulsion_ros.replay.bags import BagReader, is_bag
from propulsion_ros.replay.command_table import STAMP, read_rows
from propulsion_ros.replay.ulog_reader import UlogMap, add_map, map_of
from propulsion_ros.settings.files import printable, require_target
from propulsion_ros.tools.lines import note

EXAMPLE = 'out.csv --commands in.csv --output plots.png'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_input(parser, 'draw')
    parser.add_argument(
        '--list', action='store_true', help='print what is in a bag or a log of PX4, and draw '
        'nothing'
    )
    parser.add_argument(
        '--output', '--picture', type=Path, default=Path('plots.png'), metavar='FILE.png',
        help='picture to write (default: %(default)s)',
    )
    parser.add_argument(
        '--from', dest='begin', type=float, default=-math.inf, metavar='S',
        help='draw from this time on [s]',
    )
    parser.add_argument(
        '--to', dest='end', type=float, default=math.inf, metavar='S',
        help='draw up to this time [s]',
    )
    parser.add_argument(
        '--all', action='store_true', help='draw every actuator of every node, and what is 0 all '
        'the time; else nodes of the same actuators share a panel, of the one that moves most',
    )


def add_input(
    parser: argparse.ArgumentParser, verb: str, nargs: Literal['?'] | None = None
) -> None:
    """Add the input that a command draws or shows (``verb``), and how it is read and entitled."""
    parser.add_argument(
        'input', type=Path, metavar='INPUT', nargs=nargs,
        help='a rosbag2 bag, a log of PX4 (.ulg), a CSV table as replay reads and writes it, or a '
        'flight log as apogee reads it',
    )
    add_map(parser)
    parser.add_argument(
        '--commands', type=Path, metavar='CSV',
        help='command table from which replay made the input; drawn with it',
    )
    parser.add_argument(
        '--namespace', default='', help=f'{verb} only topics of a bag in this namespace, for one '
        'of several vehicles',
    )
    parser.add_argument(
        '--title', help='title of the page (default: name of the input, and the apogee)'
    )


def run(args: argparse.Namespace) -> int:
    """Draw a page; return the exit code."""
    motors = map_of(args)
    if args.list:
        with BagReader(args.input, motors) as bag:
            print(*bag.inside(), sep='\n')
        return 0
    require_target(args.output, args.input, args.commands)
    signals = read_signals(args, motors)
    page = page_of(signals, args.title, args.begin, args.end, compares=not args.all)
    from propulsion_ros.pictures.picture import draw

    draw(page if args.all else moving(page), args.output)
    if signals.unread:
        few = ', '.join(signals.unread[:3]) + (', ...' if len(signals.unread) > 3 else '')
        note('plot', f'not drawn: {few}')
    note('plot', printable(args.output))
    return 0


def read_signals(args: argparse.Namespace, motors: UlogMap) -> Signals:
    """Return the signals of the input of `add_input`.

    Raises `ConfigError` if it cannot be read, or has an unknown format.
    """
    if is_bag(args.input):
        signals = signals_of_bag(args.input, args.namespace, motors)
    else:
        _, header = next(read_rows(args.input), ('', []))
        names = [name.strip() for name in header]
        is_log = STAMP not in names and 'time_s' in names
        signals = (signals_of_log if is_log else signals_of_table)(args.input)
    if args.commands is not None:
        join_commands(signals, signals_of_table(args.commands))
    return signals
