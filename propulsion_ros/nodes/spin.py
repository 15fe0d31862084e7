# SPDX-License-Identifier: Apache-2.0
"""Runs nodes in one process until a signal, and exits cleanly within a deadline."""
from __future__ import annotations

import argparse
import ctypes
import itertools
import signal
import struct
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.exceptions import InvalidNamespaceException, InvalidParameterTypeException
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from propulsion_ros.graph.wiring import FLIGHT, WITHOUT_FLIGHT
from propulsion_ros.messages.rclpy_private import RCLError, UnknownROSArgsError, reason_of
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import check_file
from propulsion_ros.settings.names import domain_id

_WAKE = 0.2
"""Longest time until a signal is noticed while no callback runs [s]."""

_HAND_OVER = 0.5
"""Timeout at the end for subscribers to receive the last messages [s]."""

ROS_REFUSALS = (
    RCLError, UnknownROSArgsError, InvalidParameterTypeException, InvalidNamespaceException,
)
"""Exceptions of rclpy for a command line, a namespace or a parameter that cannot be used."""

_SKIPPED = 3
"""From so many steps without a reply in time, a controller is at fault, not a busy machine."""
DEADLINE = 5.0
"""Timeout of the middleware's end in wall time [s]."""
_LINE = (
    f'the middleware did not end within {DEADLINE:g} s, so this process ends without it; what it '
    'leaves in /dev/shm is removed by: fastdds shm clean'
).encode()
_CLOCK_MONOTONIC, _SIGEV_THREAD = 1, 2
_AFTER_LINE = 0.2
"""Time from the log line to the end of the process [s]."""


def parameter_files(argv: Sequence[str]) -> list[str]:
    """Return the parameter files of a command line."""
    return [value for word, value in itertools.pairwise(argv) if word == '--params-file']


def make_executor(kind: str, context: rclpy.Context | None = None) -> Executor:
    """Return the executor called 'events' or 'single'."""
    if kind == 'events':
        # Imported here, as not every release of ROS 2 has it.
        from rclpy.experimental.events_executor import EventsExecutor

        return EventsExecutor(context=context)
    return SingleThreadedExecutor(context=context)


def run(
    make_nodes: Callable[[argparse.Namespace], Sequence[PropulsionNode]],
    args: Sequence[str] | None = None,
    add_arguments: Callable[[argparse.ArgumentParser], Any] = lambda parser: None,
    vital: type[PropulsionNode] | tuple[()] = (),
) -> int:
    """Make nodes, start them and spin until SIGINT or SIGTERM, or until a vital node has ended.

    Parameters
    ----------
    make_nodes : callable
        Gets the parsed arguments; called after rclpy is initialised.
    add_arguments : callable, optional
        Adds arguments that are not ROS's.
    vital : type, optional
        Class of nodes whose end ends all others.

    Returns
    -------
    int
        Exit code: 0 after a signal or if a vital node was shut down, 1 if a vital node has failed
        or a node could not be configured.
    """
    argv = list(sys.argv if args is None else args)
    parser = argparse.ArgumentParser(prog=Path(argv[0]).stem)
    parser.add_argument(
        '--executor', choices=('events', 'single'), default='events',
        help='rclpy executor (default: %(default)s)',
    )
    parser.add_argument(
        '--exit-at-end', action='store_true',
        help='exit when a node has stopped itself or was shut down',
    )
    add_arguments(parser)
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: stopped.append(signum))
    try:
        # ROS reads these files by itself, and would block on a FIFO.
        for path in parameter_files(argv):
            check_file(path)
        domain_id()
        options = parser.parse_args(remove_ros_args(argv)[1:])
        # rclpy's own handlers end the context at once, before a last zero wrench can be sent.
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    except (SourceError, *ROS_REFUSALS) as error:
        print(f'{parser.prog}: {reason_of(error)}', file=sys.stderr)
        return 1
    nodes: Sequence[PropulsionNode] = []
    code = 1
    try:
        try:
            nodes = make_nodes(options)
        except ROS_REFUSALS as error:
            print(f'{parser.prog}: {reason_of(error)}', file=sys.stderr)
            return 1
        watched = [node for node in nodes if options.exit_at_end or isinstance(node, vital)]
        code = _spin(make_executor(options.executor), nodes, watched, stopped)
        return code
    finally:
        # First turn outputs off and close records.
        for node in nodes:
            node.rest()
        with deadline(code):
            _hand_over(nodes)
            for node in nodes:
                node.close()
            rclpy.try_shutdown()
        # Ctrl-C under launch signals twice; the second must not kill the interpreter as it ends.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _spin(
    executor: Executor, nodes: Sequence[PropulsionNode], watched: Collection[PropulsionNode],
    stopped: Collection[int],
) -> int:
    """Start nodes, and spin until a signal or the end of a watched node; return the exit code."""
    for node in nodes:
        if stopped:
            break
        executor.add_node(node)
        node.start()
        if node.has_failed:
            return 1
    while rclpy.ok() and not stopped:
        # The events executor's own spin() does not return in every build.
        executor.spin_once(timeout_sec=_WAKE)
        for node in watched:
            if node.has_ended:
                return _follow(node, nodes)
    return 0


def _follow(node: PropulsionNode, others: Sequence[PropulsionNode]) -> int:
    """Log that a vital node has ended, and all faults until then; return the exit code."""
    log = node.get_logger()
    refused = [f'{each.counts["refused"]} by {each.get_name()}' for each in others
               if each.counts['refused']]
    if refused:
        log.error(f'messages were refused, see above: {", ".join(refused)}')
    skipped = node.counts['skipped'] >= _SKIPPED
    if skipped:
        log.error(
            f'{node.counts["skipped"]} steps had a reply only when published again, see above'
        )
    groups = {each.get_name(): each.uncommanded for each in others if hasattr(each, 'uncommanded')}
    silent = [name for own in groups.values() for name in own or ()]
    silent += [f'all of {name}' for name, own in groups.items() if own is None]
    if silent:
        is_unlit = any(getattr(each, 'is_unlit', False) for each in others)
        lacks = is_unlit and FLIGHT not in node.get_node_names()
        why = WITHOUT_FLIGHT.format('a --params-file') * lacks
        line = f'never commanded: {", ".join(silent)}{why}'
        # A group without any command may be idle on purpose.
        is_idle = all(own is None for own in groups.values())
        (log.info if is_idle and not lacks else log.warning)(line)
    for mistake in filter(None, (getattr(each, 'mistake', '') for each in others)):
        log.warning(mistake)
    if node.has_failed:
        log.error('has failed, so every node stops')
    else:
        log.info('has ended, so every node stops')
    return int(node.has_failed or bool(refused) or skipped)


def _hand_over(nodes: Sequence[PropulsionNode]) -> None:
    """Wait until subscribers have the last messages, which would be lost with their publishers."""
    end = time.monotonic() + _HAND_OVER
    for node in nodes:
        for publisher in node.publishers:
            publisher.wait_for_all_acked(Duration(seconds=max(end - time.monotonic(), 0.0)))


@contextmanager
def deadline(code: int) -> Iterator[None]:
    """End the process with a code, after one line, if the context lasts longer than `DEADLINE`.

    The middleware may hang as a process ends: Fast DDS did so once in some hundred exits.

    The timers are those of the C library: a Python thread would wait for ever if the middleware
    hangs, since rclpy then holds the interpreter lock. Without such timers there is no deadline.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, 'timer_create'):
        yield
        return
    line = ctypes.c_char_p(_LINE)
    timers = (
        _timer(libc, libc.warnx, ctypes.cast(line, ctypes.c_void_p).value, DEADLINE),
        _timer(libc, libc._exit, code, DEADLINE + _AFTER_LINE),
    )
    try:
        yield
    finally:
        for timer in filter(None, timers):
            libc.timer_delete(timer)


def _timer(libc: ctypes.CDLL, function: Any, value: int | None, delay: float) -> ctypes.c_void_p:
    """Return a timer that calls a C function once, with a value, after a delay [s]; 0 for none."""
    timer, address = ctypes.c_void_p(), ctypes.cast(function, ctypes.c_void_p).value
    event = struct.pack('PiiPP32x', value, 0, _SIGEV_THREAD, address, 0)
    seconds, part = divmod(delay, 1.0)
    times = struct.pack('4l', 0, 0, int(seconds), int(part * 1e9))
    if libc.timer_create(_CLOCK_MONOTONIC, event, ctypes.byref(timer)) == 0:
        libc.timer_settime(timer, 0, times, None)
    return timer
