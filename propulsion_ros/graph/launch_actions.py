# SPDX-License-Identifier: Apache-2.0
"""Graphs as launch actions, for all launch files."""
from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import launch.logging
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import Event, EventHandler, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    GroupAction,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnShutdown
from launch.substitutions import ThisLaunchFile
from launch_ros.actions import LifecycleNode, Node

from propulsion_ros.graph.share import PACKAGE, share_directory
from propulsion_ros.graph.simulation import BODY, NodeSpec
from propulsion_ros.graph.wiring import Graph, checked_graph
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import read_text, require_absent, write_text
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.names import check_namespace, domain_id, is_name
from propulsion_ros.settings.yaml_file import ParameterFile

_RECORDER_TIMEOUT = 60.0
"""Timeout of a simulated body for its recorder [s]."""
_CLI = f'{PACKAGE}.tools.cli'
_OF_LAUNCH = ('launch-prefix', 'launch-prefix-filter')

BOOLEANS = ['true', 'false', 'True', 'False', '1', '0']
"""Choices of a launch argument that is true or false, as the launch files of others take it."""
SHOWN = ['true', 'false', 'True', 'False', '1', '0', 'browser']
"""Choices of how a robot is shown."""

ARGUMENTS: dict[str, dict[str, Any]] = {
    'namespace': {'default_value': '', 'description': 'namespace of all nodes'},
    'params_file': {
        'default_value': '',
        'description': 'parameter file; its values win over those of the package',
    },
    'use_sim_time': {
        'default_value': 'true', 'choices': BOOLEANS,
        'description': 'true: with the simulated body and its clock; false: for a real robot',
    },
    'wait_for': {
        'default_value': '',
        'description': 'commands of a controller that each step of a simulated body waits for, '
        'such as <group>/command, separated by commas',
    },
    'duration': {
        'default_value': '', 'description': 'simulated time [s] after which everything ends',
    },
    'real_time_factor': {
        'default_value': '',
        'description': 'simulated over wall time; 0: as fast as the nodes reply',
    },
    'autostart': {
        'default_value': 'true', 'choices': BOOLEANS,
        'description': 'configure and activate every node at the start',
    },
    'replay': {
        'default_value': 'false', 'choices': BOOLEANS,
        'description': 'for playing a recording: step on stamps, lose no input, no simulated body',
    },
    'visualize': {
        'default_value': 'false', 'choices': SHOWN,
        'description': 'true: publish the thrusts as markers for RViz, on visualizer/markers; '
        'browser: serve a page to this machine, whose address is printed',
    },
    'composed': {
        'default_value': 'false', 'choices': BOOLEANS,
        'description': 'all nodes in one process: less memory and copying',
    },
    'record': {
        'default_value': '',
        'description': 'bag to record into, a folder to make; a simulated body makes its first '
        'step once every topic is recorded',
    },
    'clock_topic': {
        'default_value': '/clock',
        'description': 'topic of the simulated time; a second vehicle needs one of its own',
    },
    'log_level': {
        'default_value': 'info', 'choices': ['debug', 'info', 'warn', 'error', 'fatal'],
        'description': 'log level of all nodes; those of this package log nothing below info',
    },
}
"""Launch arguments of every vehicle, with their keyword arguments."""


def vehicle_launch(vehicle: str) -> LaunchDescription:
    """Return the launch description of a vehicle that comes with the package."""
    arguments = {
        **ARGUMENTS,
        'model': {
            'default_value': '',
            'description': 'URDF or xacro in place of the one that comes with the package',
        },
    }

    def start(given: dict[str, str]) -> list[Any]:
        model = [f'--model={given["model"]}'] if given['model'] else []
        return _launched(given, given['model'] or vehicle, [f'--vehicle={vehicle}', *model])

    return _described(arguments, start)


def robot_launch() -> LaunchDescription:
    """Return the launch description of the actuators of any robot."""
    arguments: dict[str, dict[str, Any]] = {
        'model': {'description': 'URDF or xacro file of the robot'},
        'allocate': {
            'default_value': '',
            'description': 'plugin blocks that also get an allocator, separated by commas',
        },
        'simulate': {
            'default_value': 'false', 'choices': BOOLEANS,
            'description': 'add a simulated body, which links and plugin blocks describe',
        },
        **ARGUMENTS,
        'use_sim_time': {**ARGUMENTS['use_sim_time'], 'default_value': 'false',
                         'description': 'true if a simulation publishes /clock'},
    }

    def start(given: dict[str, str]) -> list[Any]:
        allocated = _listed(given['allocate'])
        return _launched(given, given['model'], [
            f'--model={given["model"]}', *(['--allocate', *allocated] if allocated else []),
            *(['--simulate'] if given['simulate'] == 'true' else []),
        ])

    return _described(arguments, start)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(',') if name.strip()]


def _launched(given: dict[str, str], robot: str, options: Sequence[str]) -> list[Any]:
    """Return the launch actions of the graph that options of `stack` name, with the arguments."""
    numbers = [(key, given[key]) for key in ('duration', 'real_time_factor') if given[key]]
    options = [
        *options, f'--use-sim-time={given["use_sim_time"]}', f'--namespace={given["namespace"]}',
        *(f'--wait-for={topic}' for topic in _listed(given['wait_for'])),
        *(f'--{key.replace("_", "-")}={number_of(key, text)}' for key, text in numbers),
        *(f'--{key}' for key in ('replay', 'visualize') if given[key] == 'true'),
    ]
    graph = checked_graph(options, [*filter(None, [given['params_file']])])
    return graph_actions(given, graph, robot, options)


def number_of(key: str, text: str) -> float:
    """Return the number that an argument has; raise `ConfigError` for any other text."""
    try:
        return float(text)
    except ValueError:
        raise ConfigError(key, f'expected a number, got {text!r}') from None


def _described(
    arguments: dict[str, dict[str, Any]], start: Callable[[dict[str, str]], list[Any]]
) -> LaunchDescription:
    def checked(context: LaunchContext) -> list[Any]:
        _refuse_unknown(context, arguments)
        booleans = [
            name for name, kwargs in arguments.items()
            if kwargs.get('choices') in (BOOLEANS, SHOWN)
        ]
        given = plain_booleans(context.launch_configurations, booleans)
        return until_interrupted(context, lambda: start(given))

    return LaunchDescription([
        *(DeclareLaunchArgument(name, **kwargs) for name, kwargs in arguments.items()),
        OpaqueFunction(function=checked),
    ])


def until_interrupted(context: LaunchContext, start: Callable[[], list[Any]]) -> list[Any]:
    """Return the actions that ``start`` makes; none if Ctrl-C came before they are executed.

    From here on Ctrl-C is only an event of launch while its loop runs. Python would also raise
    KeyboardInterrupt, even while launch starts a process: then launch forgets that process, or
    waits for it for ever.
    """
    interrupts: list[int] = []

    def on_signal(number: int, frame: Any) -> None:
        interrupts.append(number)
        if not context.asyncio_loop.is_running():
            signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, on_signal)
    actions = start()
    return [] if interrupts else actions


def plain_booleans(given: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return launch arguments with some that are `BOOLEANS` as 'true' or 'false'."""
    plain = {'True': 'true', '1': 'true', 'False': 'false', '0': 'false'}
    return {**given, **{name: plain.get(given[name], given[name]) for name in names}}


def _refuse_unknown(context: LaunchContext, known: Collection[str]) -> None:
    """Raise `ConfigError` for an argument of the command line that the launch file does not have.

    If another launch file includes this one, the command line has the arguments of the other.
    """
    own = Path(ThisLaunchFile().perform(context)).name
    if not any(Path(word).name == own for word in sys.argv[1:]):
        return
    for name in (word.partition(':=')[0] for word in context.argv):
        if name not in (*known, *_OF_LAUNCH):
            near = suggestion(name, known)
            raise SourceError(name, f'is no launch argument{near}; --show-args lists all')


def graph_actions(
    given: dict[str, str], graph: Graph, robot: str, stack_options: Sequence[str] = ()
) -> list[Any]:
    """Return the launch actions of a graph.

    Parameters
    ----------
    robot : str
        Description, or name of a vehicle, that a page shows.
    stack_options : sequence of str
        Command line of `stack` for the same graph, if it is composed.
    """
    domain_id()
    check_namespace(given['namespace'])
    if not is_name(given['clock_topic'], before='/'):
        raise SourceError(
            'clock_topic', f'expected the name of a topic, got {given["clock_topic"]!r}'
        )
    crashes = Crashes()
    # A simulated body waits for its recorder, which may have died.
    actions = [
        recorder(given, given['record'], (), crashes, is_vital=graph.in_lockstep)
    ] if given.get('record') else []
    extras: dict[str, dict[str, Any]] = {}
    for spec in graph.nodes:
        try:
            extras[spec.name] = {**record_of(spec, given), **_held(spec, given, graph)}
        except OSError as error:
            actions.append(LogInfo(msg=f'{spec.name} keeps no record of its flight: {error}'))
    if given['composed'] == 'true':
        actions.append(_stack(given, stack_options, extras, crashes))
    else:
        actions += [
            _node(spec, graph, given, extras.get(spec.name, {}), crashes) for spec in graph.nodes
        ]
    if given['visualize'] == 'browser':
        actions.append(_page(given, robot, crashes))
    return [*actions, _state_publisher(graph, given), crashes.at_end()]


def _page(given: Mapping[str, str], robot: str, crashes: Crashes) -> ExecuteProcess:
    """Return the process that serves the page of a robot."""
    return ExecuteProcess(
        cmd=[
            *_started(_CLI), 'view', '--live', '--model', robot,
            *(['--params-file', given['params_file']] if given['params_file'] else []),
            *(['--namespace', given['namespace']] if given['namespace'] else []),
        ],
        name='page', output='screen', on_exit=crashes.exit_of('the page', counts=False),
    )


def _started(module: str) -> list[str]:
    """Return the command of a module's ``main``: Ctrl-C during its imports gives no traceback."""
    return [
        sys.executable, '-c',
        f'from {PACKAGE}.nodes.start import start_node; start_node({module!r})',
    ]


def _held(spec: NodeSpec, given: Mapping[str, str], graph: Graph) -> dict[str, Any]:
    """Return parameters with which a recording has all of a simulated flight.

    The body waits until it is recorded, and the flight computer loses no sample.
    """
    if not (given.get('record') and graph.in_lockstep):
        return {}
    if spec.name == BODY:
        name = 'rosbag2_recorder' if _has_rosbag() else 'recorder'
        return {'recorder': name, 'start_timeout': _RECORDER_TIMEOUT}
    return {'reliable_inputs': True} if spec.executable == 'flight_state_node' else {}


def record_of(spec: NodeSpec, given: dict[str, str]) -> dict[str, str]:
    """Return the parameter for the record of a flight computer; {} if a file gives it.

    The record of a simulated flight is needed only during its launch, so it lies in the folder of
    the launch's log. Raises OSError if the folder cannot be made.
    """
    if spec.executable != 'flight_state_node' or given['replay'] == 'true':
        return {}
    if given['params_file']:
        own = ParameterFile(given['params_file']).of(spec.name, given['namespace'])
        if 'state_file' in own:
            return {}
    if given['use_sim_time'] == 'true':
        home = Path(launch.logging.launch_config.log_dir)
    else:
        home = Path(os.environ.get('ROS_HOME') or Path.home() / '.ros')
    folder = home.joinpath('propulsion_ros', *filter(None, given['namespace'].split('/')))
    folder.mkdir(parents=True, exist_ok=True)
    of_domain = f'.domain_{domain}' if (domain := domain_id()) else ''
    return {'state_file': str(folder / f'{spec.name}{of_domain}.json')}


def _stack(
    given: dict[str, str], options: Sequence[str], extras: dict[str, dict[str, Any]],
    crashes: Crashes,
) -> Node:
    """Return one process with all nodes of a graph."""
    return Node(
        package=PACKAGE,
        executable='stack',
        # No name here: it would rename every node of the process.
        namespace=given['namespace'],
        arguments=options,
        ros_arguments=[
            *(['--params-file', given['params_file']] if given['params_file'] else []),
            *(
                part for name, extra in extras.items() for key, value in extra.items()
                for part in ('-p', f'{name}:{key}:={value}')
            ),
            '-p', f'autostart:={given["autostart"]}', '-r', f'/clock:={given["clock_topic"]}',
            *log_options(given, extras),
        ],
        output='screen',
        on_exit=crashes.exit_of('stack', is_vital=True),
    )


def _node(
    spec: NodeSpec, graph: Graph, given: dict[str, str], extra: dict[str, Any], crashes: Crashes
) -> LifecycleNode:
    files = [str(path) for path in (graph.params_file, given['params_file']) if path]
    spec = spec.settled(files, given['namespace'])
    respawns = spec.respawn_delay is not None
    wiring = {key: value for key, value in spec.parameters.items() if value not in (None, [])}
    return LifecycleNode(
        package=PACKAGE,
        executable=spec.executable,
        name=spec.name,
        namespace=given['namespace'],
        parameters=[
            *files, {**wiring, **extra},
            {'autostart': given['autostart'] == 'true'},
        ],
        remappings=[*spec.remappings.items(), ('/clock', given['clock_topic'])],
        # When the body stops, the launch ends.
        arguments=['--exit-at-end'] if spec.name == BODY else [],
        ros_arguments=log_options(given, [spec.name]),
        output='screen',
        on_exit=None if respawns else crashes.exit_of(spec.name, graph.in_lockstep),
        respawn=respawns,
        respawn_delay=spec.respawn_delay,
    )


def log_options(given: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Return the ROS arguments for the log level of some nodes."""
    level = given['log_level']
    if level != 'debug':
        return ['--log-level', level]
    prefix = [token for token in given['namespace'].split('/') if token]
    # The debug lines of rcl and the middleware would hide those of the nodes.
    return [
        part for name in names for part in ('--log-level', f'{".".join((*prefix, name))}:=debug')
    ]


class Crashes:
    """Makes the exit code of a launch 1 if one of its processes has exited with another than 0."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def exit_of(
        self, name: str, is_vital: bool = False, *, counts: bool = True, fails_at_end: bool = False
    ) -> OpaqueFunction:
        """Return an action that notes the exit of a process, and ends the launch if it is vital.

        A process that does not count, since nothing depends on it, never changes the exit code. One
        with ``fails_at_end`` changes it even after a stop, as a recorder that received nothing.
        """
        def _on_exit(context: LaunchContext) -> list[Any]:
            code = context.locals.event.returncode
            if context.is_shutdown and not (fails_at_end and code > 0):
                return []
            reason = f'{name} has exited with code {code}' if code else f'{name} has ended'
            if code and counts:
                self._lines.append(reason)
            elif code:
                return [LogInfo(msg=f'{reason}; all else goes on')]
            if context.is_shutdown:
                return [EmitEvent(event=_Crashed())]
            return [Shutdown(reason=reason)] if is_vital else []

        return OpaqueFunction(function=_on_exit)

    def at_end(self) -> GroupAction:
        """Return an action that raises at the end of the launch, which sets its exit code."""
        def _report(context: LaunchContext) -> list[Any]:
            return [EmitEvent(event=_Crashed())] if self._lines else []

        def _raise(context: LaunchContext) -> None:
            raise RuntimeError('; '.join(self._lines))

        # Raise after the shutdown: before it, the processes that still run would not be stopped.
        return GroupAction([
            RegisterEventHandler(OnShutdown(on_shutdown=[OpaqueFunction(function=_report)])),
            RegisterEventHandler(EventHandler(
                matcher=lambda event: isinstance(event, _Crashed),
                entities=[OpaqueFunction(function=_raise)],
            )),
        ])


class _Crashed(Event):  # type: ignore[misc]
    """Event at the end of a launch in which a process has crashed."""

    name = 'propulsion_ros.Crashed'


def _state_publisher(graph: Graph, given: dict[str, str]) -> Any:
    """Return robot_state_publisher, or a log line if it is not installed."""
    package = 'robot_state_publisher'
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return LogInfo(msg=f'{package} is not installed: no TF of the links, all else works')
    return Node(
        package=package,
        executable=package,
        namespace=given['namespace'],
        parameters=[{
            'robot_description': graph.robot_description,
            'use_sim_time': given['use_sim_time'] == 'true',
        }],
        remappings=[
            # Each namespace has its own tree, or two vehicles would share one base_link.
            ('/tf', 'tf'), ('/tf_static', 'tf_static'),
            ('joint_states', graph.joint_states), ('/clock', given['clock_topic']),
        ],
        output='screen',
    )


def record_launch() -> LaunchDescription:
    """Return the launch description of a recorder."""
    arguments: dict[str, dict[str, Any]] = {
        'output': {'description': 'name of the bag, a folder to make'},
        'topics': {
            'default_value': '', 'description': 'topics, separated by commas; empty: all'
        },
        'namespace': {
            'default_value': '', 'description': 'namespace of the robot, and of relative topics'
        },
    }

    def start(given: dict[str, str]) -> list[Any]:
        domain_id()
        check_namespace(given['namespace'])
        crashes, topics = Crashes(), _listed(given['topics'])
        return [recorder(given, given['output'], topics, crashes), crashes.at_end()]

    return _described(arguments, start)


def recorder(
    given: Mapping[str, str], output: str, topics: Sequence[str], crashes: Crashes,
    is_vital: bool = False,
) -> ExecuteProcess:
    """Return the recorder: that of rosbag2 if it is installed, else the one of this package.

    It records by wall time: with simulated time rosbag2 subscribes only after the first /clock,
    and the beginning would be missing. Raises `SourceError` if the bag exists.
    """
    prefix = f'/{given["namespace"].strip("/")}/'.replace('//', '/')
    require_absent(output)
    names = [topic if topic.startswith('/') else prefix + topic for topic in topics]
    if _has_rosbag():
        command = [
            *_started('ros2cli.cli'), 'bag', 'record', '--output', output,
            '--storage', 'mcap', '--qos-profile-overrides-path', str(_record_qos(prefix)),
            *(['--topics', *names] if names else ['--all-topics', '--include-unpublished-topics']),
        ]
    else:
        command = [
            *_started(_CLI), 'record', output,
            *(part for name in names for part in ('--topic', name)),
        ]
    return ExecuteProcess(
        cmd=command, name='recorder', output='screen',
        on_exit=crashes.exit_of('the recorder', is_vital, fails_at_end=True),
    )


def _has_rosbag() -> bool:
    try:
        get_package_prefix('ros2bag')
    except PackageNotFoundError:
        return False
    return True


def _record_qos(prefix: str) -> Path:
    """Return the file with the quality of service of the topics in a namespace."""
    shipped = share_directory() / 'qos' / 'record.yaml'
    if prefix == '/':
        return shipped
    path = Path(launch.logging.launch_config.log_dir) / 'record_qos.yaml'
    text = read_text(shipped)
    write_text(path, re.sub('^/(?!clock:)', prefix, text, flags=re.MULTILINE))
    return path
