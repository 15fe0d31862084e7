# SPDX-License-Identifier: Apache-2.0
"""Record the topics of a running robot into a bag."""
from __future__ import annotations

import argparse
import math
import signal
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from propulsion_ros.replay.bags import BagWriter
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.names import domain_id
from propulsion_ros.tools.lines import fail, note

EXAMPLE = 'flight_bag --duration 60'
_WAKE = 0.2  # longest time until a signal is noticed [s]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'output', type=Path, metavar='BAG',
        help='folder to make: MCAP, or sqlite3 if it ends with .db3; one file if with .mcap',
    )
    parser.add_argument(
        '--topic', action='append', default=[], metavar='NAME',
        help='record only this topic (repeat for several)',
    )
    parser.add_argument(
        '--use-sim-time', action='store_true', help='take the time from /clock'
    )
    parser.add_argument(
        '--duration', type=float, default=float('inf'), metavar='SECONDS',
        help='end after so much wall time (default: on Ctrl-C)',
    )


def run(args: argparse.Namespace) -> int:
    """Record until a signal; return the exit code."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from propulsion_ros.nodes.spin import deadline, make_executor
    from propulsion_ros.replay.recorder import Recorder

    if not args.duration > 0.0:
        return fail('record', f'--duration: expected more than 0 s, got {args.duration:g}')
    topics = [topic if topic.startswith('/') else f'/{topic}' for topic in args.topic]
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: stopped.append(signum))
    try:
        domain_id()
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        with BagWriter(args.output, keeps=True) as bag:
            recorder = Recorder(bag.write, topics, args.use_sim_time)
            executor = make_executor('events')
            executor.add_node(recorder)
            name = printable(args.output)
            limit = f'for {args.duration:g} s, or ' * math.isfinite(args.duration)
            note('record', f'{name}, {limit}until Ctrl-C')
            end = time.monotonic() + args.duration
            while not stopped and time.monotonic() < end:
                executor.spin_once(timeout_sec=_WAKE)
            executor.remove_node(recorder)
        recorder.report_lost()
        code = _judge(topics, recorder.counts, name)
        # The bag is complete.
        with deadline(code):
            recorder.destroy_node()
        return code
    finally:
        rclpy.try_shutdown()


def _judge(topics: Collection[str], counts: Counter[str], name: str) -> int:
    """Report the recorded topics, and return the exit code."""
    if counts:
        note('record', f'{name}: {counts.total()} messages of {len(counts)} topics')
    missed = sorted(set(topics) - set(counts))
    if missed or not counts:
        return fail('record', (
            f'nothing was received of {", ".join(missed) or "any topic"}; is a node that '
            'publishes it in the same ROS_DOMAIN_ID?'
        ))
    return 0
