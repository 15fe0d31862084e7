# SPDX-License-Identifier: Apache-2.0
"""Simulate the body of any robot, in closed loop with its actuator nodes."""
from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from propulsion_ros.graph.graph_options import add_simulation_options, simulation_of
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.graph.wiring import Graph, check_settings, robot_graph
from propulsion_ros.nodes.start import missing
from propulsion_ros.replay.bags import BagWriter
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import check_file, printable, require_target
from propulsion_ros.settings.yaml_file import settings_of
from propulsion_ros.tools.lines import fail, note

EXAMPLE = 'robot.urdf --params-file robot.yaml --controller controller.py'
LAST_TOPIC = 'imu'
"""The flight log subscribes to this topic of the body last."""
_POLL = 0.1
_STOP_LIMIT = 10.0
"""Wall time for a controller to end by SIGTERM [s]."""


class _ControllerError(Exception):
    """The controller has ended with an error."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument('model', type=Path, metavar='ROBOT', help='robot (.urdf, .xacro)')
    parser.add_argument(
        '--params-file', type=Path, action='append', default=[], metavar='YAML',
        help='parameters of body and actuators, which win over the description; may be repeated',
    )
    parser.add_argument(
        '--allocate', action='append', default=[], metavar='BLOCK',
        help='plugin block that also gets an allocator, to be commanded by a wrench; may be '
        'repeated',
    )
    add_simulation_options(parser)
    parser.add_argument(
        '--controller', type=Path, metavar='FILE.py',
        help='Python program to run beside the nodes; everything ends with it',
    )
    parser.add_argument(
        '--picture', type=Path, metavar='FILE.png', help='draw motion and actuators at the end'
    )
    parser.add_argument(
        '--record', type=Path, metavar='BAG', help='record every topic into a new bag'
    )
    parser.add_argument('--namespace', default='', help='namespace of all nodes')


def run(options: argparse.Namespace) -> int:
    """Run body, actuators and controller until the body stops; 0 where nothing has failed."""
    try:
        graph = _graph_of(options)
        from propulsion_ros.demos import flight
    except ConfigError as error:
        return fail('fly', error)
    except ImportError as error:
        return fail('fly', missing(error))
    try:
        _fly(options, graph)
    except (ConfigError, RuntimeError, TimeoutError, _ControllerError) as error:
        return fail('fly', error)
    except ImportError as error:
        return fail('fly', missing(error))
    except flight.StoppedError:
        note('fly', 'stopped')
    return 0


def _graph_of(options: argparse.Namespace) -> Graph:
    """Return what is started; raise `ConfigError` where that is wrong, before anything runs."""
    if options.controller:
        check_file(options.controller)
    if options.picture:
        # Before the flight, since it is drawn after that.
        require_target(options.picture)
    simulation = simulation_of(options, options.params_file, options.namespace)
    graph = robot_graph(options.model, allocated=options.allocate, simulation=simulation)
    check_settings(graph, options.params_file, options.namespace)
    return graph


def _fly(options: argparse.Namespace, graph: Graph) -> None:
    from propulsion_ros.demos import flight

    with ExitStack() as stack:
        stopped = stack.enter_context(flight.interrupts())
        write = stack.enter_context(BagWriter(options.record)).write if options.record else None
        nodes = stack.enter_context(flight.stack(
            _words(options), options.params_file, 'info', _watched(options)
        ))
        spin = stack.enter_context(_observers(options, graph, write))
        controller = stack.enter_context(_controller(options.controller))
        while nodes.poll() is None:
            spin()
            if stopped:
                raise flight.StoppedError(stopped[0])
            if controller is not None and controller.poll() is not None:
                if controller.returncode:
                    raise _ControllerError(
                        f'{printable(options.controller)} ended with code {controller.returncode}'
                    )
                return
        if stopped:
            # The nodes got the signal too, and may have ended first.
            raise flight.StoppedError(stopped[0])


def _watched(options: argparse.Namespace) -> list[str]:
    """Return the parameters with which no step is made before the flight log is connected."""
    if not options.picture:
        return []
    given = settings_of(options.params_file, BODY, options.namespace or '/')
    topics = [*given.get('wait_for_subscribers', ['clock']), LAST_TOPIC]
    return [f'{BODY}:wait_for_subscribers:=[{", ".join(dict.fromkeys(topics))}]']


def _words(options: argparse.Namespace) -> list[str]:
    """Return the options of ``stack``."""
    words = ['--model', str(options.model), '--simulate', '--namespace', options.namespace]
    words += [f'--wait-for={topic}' for topic in options.wait_for]
    words += ['--allocate', *options.allocate] if options.allocate else []
    for key in ('duration', 'real_time_factor'):
        value = getattr(options, key)
        if value is not None:
            words.append(f'--{key.replace("_", "-")}={value}')
    return words


@contextmanager
def _controller(path: Path | None) -> Iterator[subprocess.Popen[bytes] | None]:
    """Run a Python program until the end of the context."""
    if path is None:
        yield None
        return
    from propulsion_ros.demos import flight

    process = flight.start_python([str(path)])
    try:
        yield process
    finally:
        flight.stop(process, _STOP_LIMIT)


@contextmanager
def _observers(
    options: argparse.Namespace, graph: Graph, write: Callable[..., Any] | None
) -> Iterator[Callable[[], None]]:
    """Record what was chosen; yields what to call again and again, and draws at the end."""
    if write is None and not options.picture:
        yield lambda: time.sleep(_POLL)
        return
    from propulsion_ros.demos import flight
    from propulsion_ros.demos.flight_log import ODOMETRY, FlightLog, flight_page
    from propulsion_ros.pictures.picture import draw

    with flight.joined() as executor:
        log = FlightLog(_state_topics(graph), options.namespace)
        executor.add_node(log)
        log.announce(LAST_TOPIC)
        # Where a controller is waited for, no step is made before it starts.
        with flight.recorder(write, executor, ['/clock', log.resolve_topic_name(ODOMETRY)]):
            yield lambda: executor.spin_once(timeout_sec=_POLL)
            flight.drain(executor, lambda: log.received)
    if options.picture and log.recording.rows.get('motion'):
        draw(flight_page(options.model.name.partition('.')[0], log.recording), options.picture)
        print(f'picture: {printable(options.picture)}')


def _state_topics(graph: Graph) -> Sequence[str]:
    (body,) = [spec for spec in graph.nodes if spec.executable == 'vehicle_node']
    topics: Sequence[str] = body.parameters['state_topics']
    return topics
