# SPDX-License-Identifier: Apache-2.0
"""Write a page for the browser: a robot in 3D with its plots, from a bag or a table."""
from __future__ import annotations

import argparse
from pathlib import Path

from propulsion_ros.pictures.signals import Signals
from propulsion_ros.replay.ulog_reader import map_of
from propulsion_ros.settings.files import printable, require_target
from propulsion_ros.settings.names import domain_id
from propulsion_ros.tools.lines import fail, note
from propulsion_ros.tools.plot import add_input, read_signals
from propulsion_ros.view.page import data_of, html_of, require_libraries, write_page
from propulsion_ros.view.robot import robot_in
from propulsion_ros.view.server import LOOPBACK, Server, is_loopback

OPEN = 'view: a page is open'
"""Printed once, when a browser shows a page that is served."""
_WAKE = 0.2  # longest time until a signal is noticed while nothing happens [s]
EXAMPLE = 'BAG --model rocket --html flight.html'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_input(parser, 'show', '?')
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
        '--live', action='store_true', help='serve the page of the running graph in place of an '
        'INPUT, until Ctrl-C; its address is printed, with a token'
    )
    parser.add_argument(
        '--address', default=LOOPBACK, help='where --live is served (default: %(default)s, which '
        'this machine alone can reach)'
    )
    parser.add_argument(
        '--port', type=int, default=0, help='of --live (default: any that is free)'
    )


def run(args: argparse.Namespace) -> int:
    """Write or serve a page; return the exit code."""
    if args.live == (args.input is not None):
        return fail('view', 'expected either INPUT or --live; see propulsion_ros view --help')
    if args.live:
        return _serve(args)
    require_target(args.html, args.input, args.commands, args.model, *args.params_file)
    signals = read_signals(args, map_of(args))
    require_libraries()
    data = data_of(signals, robot_in(signals, args.model, args.params_file), args.title)
    write_page(args.html, data)
    for line in data['notes']:
        note('view', line)
    note('view', printable(args.html))
    return 0


def _serve(args: argparse.Namespace) -> int:
    """Serve the page of the running graph until a signal."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from propulsion_ros.demos.flight import interrupts
    from propulsion_ros.nodes.spin import deadline, make_executor
    from propulsion_ros.view.live import LiveView, scene_data

    domain_id()
    robot = robot_in(Signals('the graph'), args.model, args.params_file)
    server = Server(
        html_of(scene_data(robot, args.title or args.model or 'robot')), args.address, args.port
    )
    if not is_loopback(args.address):
        note('view', f'{args.address} can be reached by other machines, which see the robot if '
             'they have the token; the connection is not encrypted')
    print(f'view: {server.url}', flush=True)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        with interrupts() as stopped:
            live = LiveView(robot, lambda: server.pages > 0, server.send, args.namespace)
            executor = make_executor('events')
            executor.add_node(live)
            is_seen = False
            while not stopped:
                executor.spin_once(timeout_sec=_WAKE)
                if server.pages > 0 and not is_seen:
                    is_seen = True
                    print(OPEN, flush=True)
            with deadline(0):
                live.destroy_node()
    finally:
        server.close()
        rclpy.try_shutdown()
    return 0
