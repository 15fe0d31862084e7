# SPDX-License-Identifier: Apache-2.0
"""Simulate the body of any robot, in closed loop with its actuator nodes."""
from __future__ import annotations

import argparse
import functools
import math
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import unread_sections
from propulsion_ros.graph.share import robot_files
from propulsion_ros.graph.simulation import BODY, Simulation, awaitable_topics, battery_topics
from propulsion_ros.graph.vehicles import ENGINE_TAG, THRUSTER_TAG, VEHICLES
from propulsion_ros.graph.wiring import (
    FLIGHT,
    SETTINGS,
    Graph,
    add_simulation_options,
    checked_graph,
)
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.replay.bags import BagWriter
from propulsion_ros.settings.files import check_file, printable, require_target
from propulsion_ros.settings.yaml_file import ParameterFile, settings_of
from propulsion_ros.tools.lines import fail, note
from propulsion_ros.urdf.reader import actuators_from_urdf

EXAMPLE = 'robot.urdf --params-file robot.yaml --controller controller.py'
_LOG = 'flight_log'
"""Name of the node that draws the flight."""
_POLL = 0.1  # time between two checks whether the flight has ended [s]
_START_LIMIT = 90.0  # wall time until all is recorded, if no step waits for a controller [s]
_CONTROLLER_LIMIT = 60.0  # wall time until a controller publishes what steps wait for [s]
_END_LIMIT = 3.0  # wall time from the last step to the end of the nodes [s]
_PRINT_LIMIT = 1.0  # wall time for a controller to print the line that it runs [s]
_STOP_LIMIT = 10.0  # wall time for a controller to end by SIGTERM [s]
_EARLY = 1.0  # flight time before which a controller that ends has not flown [s]


class _ControllerError(Exception):
    """Raised if the controller has ended with an error."""


class _EndError(Exception):
    """Raised if the flight has ended before its first step."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        'robot', metavar='ROBOT', help='robot description (.urdf, .xacro, package://NAME/FILE), '
        'or rocket, quadrotor, rov, freeflyer or cubesat with all nodes of that vehicle'
    )
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
        '--picture', type=Path, metavar='FILE.png', help='draw motion and actuators at the end; '
        'plot of a recorded bag has wrenches, phases and events too'
    )
    parser.add_argument(
        '--record', type=Path, metavar='BAG', help='record every topic into a new bag, '
        'a folder or FILE.mcap'
    )
    parser.add_argument('--namespace', default='', help='namespace of all nodes')


def run(options: argparse.Namespace) -> int:
    """Run body, actuators and controller until the body stops; return 0 if nothing failed."""
    bag = BagWriter(options.record) if options.record else None
    # Launch files write it without the last /.
    options.namespace = options.namespace.rstrip('/')
    try:
        _fly(options, _graph_of(options), bag)
    except (RuntimeError, TimeoutError, _ControllerError) as error:
        fail('fly', error)
        if bag and bag.keeps:
            note('fly', f'{printable(options.record)}: what was flown until then')
        return 1
    return 0


def _graph_of(options: argparse.Namespace) -> Graph:
    """Return the graph to start; raise `ConfigError` if it is wrong, before anything runs."""
    if options.controller:
        check_file(options.controller)
    if options.picture:
        # It is drawn after the flight, and checked before it.
        require_target(options.picture, options.robot, options.controller, *options.params_file)
    if options.start_timeout is None and (options.record or options.controller):
        limit = 2.0 * _START_LIMIT if options.record else _CONTROLLER_LIMIT
        given = settings_of(options.params_file, BODY, options.namespace or '/')
        options.start_timeout = given.get('start_timeout', limit)
    graph = checked_graph(_words(options), options.params_file)
    _note_doubts(options, graph)
    _note_steps(options, graph)
    return graph


def _note_steps(options: argparse.Namespace, graph: Graph) -> None:
    """Print the topics that steps can wait for if a controller may not keep up with them."""
    body = {**settings_of(options.params_file, BODY, options.namespace or '/'),
            **graph.nodes[-1].parameters}
    if not options.controller or options.wait_for or body.get('real_time_factor', 1.0) > 0.0:
        return
    blocks = actuators_from_urdf(graph.robot_description, loop_params_of)
    files = [*robot_files(options.robot)[1], *options.params_file]
    simulation = Simulation(params_files=tuple(files), namespace=options.namespace)
    topics = awaitable_topics(blocks, simulation, graph.nodes)
    is_unlit = any(REGISTRY[block.family].facts.tag == ENGINE_TAG for block in blocks) and not any(
        spec.name == FLIGHT for spec in graph.nodes
    )
    if topics:
        note('fly', 'steps do not wait for the controller; if it publishes one of these, give '
             f'--wait-for TOPIC for it: {", ".join(topics)}' + ('; a flight computer that lights '
             f'engines is started by a section {FLIGHT} of a --params-file' * is_unlit))


def _note_doubts(options: argparse.Namespace, graph: Graph) -> None:
    """Print the sections of files that nothing reads, and the number of warnings of `check`."""
    from propulsion_ros.tools.check import check_file as check

    given = ParameterFile(*options.params_file)
    blocks = actuators_from_urdf(graph.robot_description, loop_params_of)
    for node, text in unread_sections(given, blocks):
        note('fly', f'{given.place_of(node, "")}: {node}: {text}')
    (model, own), files = robot_files(options.robot), options.params_file
    fluid = ParameterFile(*own, *files).of(BODY, options.namespace or '/').get('body.fluid_density')
    pushing = [each.name for each in blocks if REGISTRY[each.family].facts.tag == THRUSTER_TAG]
    if pushing and not fluid:
        note('fly', f'{pushing[0]} push in air, without buoyancy: give body.fluid_density and '
             'body.displaced_volume of vehicle')
    if own and not files:
        return
    last, behind = (files[-1], files[:-1]) if files else (model, [])
    count = len(check(last, model, shipped=own, behind=behind).warnings)
    if count:
        words = [printable(options.robot), *(f'--params-file {printable(file)}' for file in files)]
        note('fly', f'{count} warning{"s" * (count > 1)}: propulsion_ros check {" ".join(words)}')


def _fly(options: argparse.Namespace, graph: Graph, bag: BagWriter | None) -> None:
    from propulsion_ros.demos import flight
    from propulsion_ros.demos.child import ASKED

    with ExitStack() as stack:
        stack.enter_context(flight.held_domain(Path(options.robot).name))
        stopped = stack.enter_context(flight.interrupts())
        write = stack.enter_context(bag).write if bag else None
        nodes = stack.enter_context(flight.stack(
            _words(options), options.params_file, 'info', _watched(options)
        ))
        spin, settle, flown = stack.enter_context(_observers(options, graph, write))
        controller = stack.enter_context(_controller(options.controller))

        def has_ended() -> bool:
            if stopped or nodes.poll() is not None:
                return True
            if controller is None or controller.poll() is None:
                return False
            name = printable(options.controller)
            if controller.returncode:
                raise _ControllerError(f'{name} ended with code {controller.returncode}')
            if options.duration and (end := flown()) >= _EARLY:
                note('fly', f'{name} ended at {end:.4g} s')
            elif options.duration and not _ends(nodes, _END_LIMIT):
                raise _ControllerError(
                    f'{name} ended before --duration {options.duration:g} s; does it rclpy.spin?'
                )
            return True

        try:
            with suppress(_EndError):
                settle(has_ended)
                if bag:
                    bag.keeps = True
            while not has_ended():
                spin()
            if controller and not stopped and nodes.poll() and controller.poll() is None:
                # A controller that has not replied is asked to print the line that it runs.
                controller.send_signal(ASKED)
                _ends(controller, _PRINT_LIMIT)
        finally:
            # Nodes are stopped before the last messages are taken: else none would be the last.
            flight.stop(nodes)
        if stopped:
            note('fly', 'stopped')


def _ends(process: subprocess.Popen[bytes], limit: float) -> bool:
    """Return whether a process ends by itself within some time [s]."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(limit)
    return process.poll() is not None


def _watched(options: argparse.Namespace) -> dict[str, str]:
    """Return the parameters that let steps wait for the observer and the recorder of a flight."""
    from propulsion_ros.replay.recorder import RECORDED, RECORDER

    own = {'observer': _LOG} if _is_observed(options) else {}
    if options.record:
        own['recorder'] = RECORDER
    if options.record or options.picture:
        own['recorded_topic'] = RECORDED
    return own


def _words(options: argparse.Namespace) -> list[str]:
    """Return the options of ``stack``."""
    words = ['--simulate', '--namespace', options.namespace]
    if options.robot in VEHICLES:
        words += ['--vehicle', options.robot]
    else:
        words += ['--model', str(robot_files(options.robot)[0])]
    words += [f'--wait-for={topic}' for topic in options.wait_for]
    words += ['--allocate', *options.allocate] if options.allocate else []
    for key in SETTINGS:
        value = getattr(options, key)
        if value is not None:
            words.append(f'--{key.replace("_", "-")}={value}')
    return words


def _is_observed(options: argparse.Namespace) -> bool:
    """Return whether the first step waits for a node of this process, as for a controller."""
    return bool(options.record or options.picture or (options.controller and not options.wait_for))


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
) -> Iterator[tuple[
    Callable[[], None], Callable[[Callable[[], bool]], None], Callable[[], float]
]]:
    """Record what is requested, and draw it at the end.

    Yields a function to call repeatedly; ``settle(has_ended)``, which waits for controller and
    recorder, and raises `_EndError` if the flight ends before; and a function that returns the time
    of the flight [s].
    """
    if not _is_observed(options):
        yield lambda: time.sleep(_POLL), lambda has_ended: None, lambda: _time_of(options)
        return
    from propulsion_ros.demos import flight
    from propulsion_ros.demos.demo import FlightLog
    from propulsion_ros.demos.pilot_node import ODOMETRY, PilotNode
    from propulsion_ros.pictures.panels import moving, page_of
    from propulsion_ros.pictures.picture import draw
    from propulsion_ros.replay.recorder import RECORDER, Pace

    failed = None
    with flight.joined() as executor:
        name = Path(options.robot).name.partition('.')[0]
        (body,) = [spec for spec in graph.nodes if spec.executable == 'vehicle_node']
        is_drawn = options.record or options.picture
        has_computer = any(spec.name == FLIGHT for spec in graph.nodes)
        blocks = actuators_from_urdf(graph.robot_description, loop_params_of) if is_drawn else ()
        log = FlightLog(
            name, body.parameters['state_topics'] if is_drawn else (), is_drawn and has_computer,
            battery_topics(blocks),
        )
        node = PilotNode(log, _LOG, namespace=options.namespace)
        node.until = math.inf if options.picture else -math.inf
        executor.add_node(node)
        prefix = f'{node.get_namespace().rstrip("/")}/'
        awaited = [topic.strip('/') for topic in options.wait_for]
        # A body that is faster than this process fills its queues, which then lose messages.
        paced = [(RECORDER, prefix + topic) for topic in (ODOMETRY, *awaited) if options.record]
        # Without a picture the log takes no step.
        paced += [(_LOG, ODOMETRY)] if options.picture else []
        pace = Pace(node, paced)
        node.note_taken = functools.partial(pace.take, _LOG)
        with flight.recorder(write, executor, graph.robot_description, prefix, pace) as wait:
            own = set(node.get_node_names()) | {spec.name for spec in graph.nodes}

            def settle(has_ended: Callable[[], bool]) -> None:
                def absent() -> str:
                    if has_ended():
                        raise _EndError
                    if options.wait_for or not options.controller:
                        return ''
                    has_joined = not set(node.get_node_names()) <= own
                    return '' if has_joined else f'a node of {printable(options.controller)}'

                limit = _START_LIMIT if options.record else _CONTROLLER_LIMIT
                wait(options.wait_for, math.inf if options.wait_for else limit, absent)
                # The publishers of commands must be found before the first step.
                while node.lacks(options.wait_for):
                    absent()
                    executor.spin_once(timeout_sec=_POLL)
                node.announce()

            try:
                yield lambda: executor.spin_once(timeout_sec=_POLL), settle, lambda: node.now
            except _ControllerError as error:
                # The flight until then is recorded and drawn first.
                failed = error
            flight.drain(executor, lambda: node.received)
    if options.picture and log.signals.rows:
        draw(moving(page_of(log.signals, compares=True)), options.picture)
        print(f'picture: {printable(options.picture)}')
    elif options.picture:
        note('fly', 'no picture: nothing was flown')
    if failed:
        raise failed


def _time_of(options: argparse.Namespace) -> float:
    """Return the time of a flight that waits for its controller [s], 0 if it has not begun."""
    from propulsion_ros.demos import flight
    from propulsion_ros.demos.demo import FlightLog
    from propulsion_ros.demos.pilot_node import PilotNode

    with flight.joined() as executor:
        node = PilotNode(FlightLog(), _LOG, namespace=options.namespace)
        executor.add_node(node)
        end = time.monotonic() + _END_LIMIT
        while not node.steps and time.monotonic() < end:
            executor.spin_once(timeout_sec=_POLL)
        return node.now
