# SPDX-License-Identifier: Apache-2.0
"""Play a bag into running nodes; needs no ros2 bag."""
from __future__ import annotations

import argparse
import itertools
import math
import signal
from pathlib import Path

from propulsion_ros.replay.bags import BagReader
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.names import domain_id, is_installed
from propulsion_ros.tools.lines import fail, note, progress

EXAMPLE = 'flight_bag --clock 100'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument('input', type=Path, metavar='BAG', help='folder, or .mcap or .db3 file')
    parser.add_argument('--rate', type=float, default=1.0, help='speed, 2 for twice as fast')
    parser.add_argument(
        '--clock', type=float, default=0.0, metavar='HZ', help='rate of /clock (default: none)'
    )
    parser.add_argument(
        '--topic', action='append', default=[], metavar='NAME',
        help='play only this topic (repeat for several; default: all without a publisher)',
    )
    parser.add_argument('--loop', type=int, default=1, metavar='N', help='play it N times')
    parser.add_argument(
        '--wait', type=float, default=5.0, metavar='SECONDS',
        help='longest wait for a subscriber of each topic (default: %(default)g)',
    )


def run(args: argparse.Namespace) -> int:
    """Play a bag; return the exit code."""
    import rclpy
    from rclpy.executors import ExternalShutdownException

    from propulsion_ros.messages.rclpy_private import RCLError, reason_of

    if not (0.0 < args.rate < math.inf and 0.0 <= args.clock < math.inf and args.loop >= 1):
        return fail('play', (
            'expected finite numbers, --rate above 0, --clock at least 0, --loop at least 1, got '
            f'{args.rate:g}, {args.clock:g}, {args.loop}'
        ))
    try:
        domain_id()
        rclpy.init(args=[])
        with BagReader(args.input) as bag:
            return _play(args, bag)
    except LookupError as error:
        return fail('play', error)
    except RCLError as error:
        # Access control may forbid a topic, or this process use it with another type.
        return fail('play', reason_of(error))
    except ExternalShutdownException:
        note('play', 'stopped')
        return 128 + signal.SIGTERM
    finally:
        rclpy.try_shutdown()


def _play(args: argparse.Namespace, bag: BagReader) -> int:
    from propulsion_ros.nodes.spin import make_executor
    from propulsion_ros.replay.player import Player

    unknown = [topic for topic in args.topic if topic not in bag.topics]
    if unknown:
        raise SourceError(str(args.input), f'has no topic {unknown[0]!r}')
    executor = make_executor('events')
    taken = {'/clock'} if args.clock else set()
    chosen = {
        topic: kind for topic, kind in bag.topics.items()
        if (topic in args.topic or not args.topic) and topic not in taken
    }
    for topic in [t for t in chosen if t not in args.topic and not is_installed(chosen[t])]:
        # The other topics are played even if one type is not installed.
        note('play', f'not played, {chosen.pop(topic)} is not installed: {topic}')
    player = Player(args.rate, args.clock)
    executor.add_node(player)
    player.choose(chosen, executor, args.wait, insists=bool(args.topic))
    for topics, why in (
        (sorted(chosen.keys() - player.played.keys()), 'not played, another node publishes it'),
        (player.unmatched(), 'has no subscription'),
    ):
        if topics:
            note('play', f'{why}: {", ".join(topics)}')
    done = itertools.count(1)
    with progress('play', bag.count * args.loop) as at:
        for _ in range(args.loop):
            messages = bag.for_nodes(player.played)
            lost = player.play(messages, executor, lambda message: at(next(done)))
            if lost:
                break
    note('play', f'{printable(args.input)}: {next(done) - 1} messages')
    if lost:
        return fail('play', f'not received by all: {", ".join(lost)}')
    return 0
