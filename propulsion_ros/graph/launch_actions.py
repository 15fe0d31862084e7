# SPDX-License-Identifier: Apache-2.0
"""Graphs as launch actions: what the launch files share."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, LogInfo, OpaqueFunction, Shutdown
from launch_ros.actions import LifecycleNode, Node

from propulsion_ros.graph.share import PACKAGE, share_directory
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.graph.wiring import (
    Graph,
    NodeSpec,
    Simulation,
    check_settings,
    robot_graph,
    vehicle_graph,
)
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.yaml_file import ParameterFile

ARGUMENTS: dict[str, dict[str, Any]] = {
    'namespace': {'default_value': '', 'description': 'namespace of all nodes'},
    'params_file': {
        'default_value': '',
        'description': 'parameter file; its values win over those of the package',
    },
    'use_sim_time': {
        'default_value': 'true', 'choices': ['true', 'false'],
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
        'default_value': 'true', 'choices': ['true', 'false'],
        'description': 'configure and activate every node at the start',
    },
    'replay': {
        'default_value': 'false', 'choices': ['true', 'false'],
        'description': 'for playing a recording: step on stamps, lose no input, no simulated body',
    },
    'visualize': {
        'default_value': 'false', 'choices': ['true', 'false'],
        'description': 'publish the thrusts as markers for RViz, on visualizer/markers',
    },
    'composed': {
        'default_value': 'false', 'choices': ['true', 'false'],
        'description': 'all nodes in one process: less memory and copying',
    },
    'clock_topic': {
        'default_value': '/clock',
        'description': 'topic of the simulated time; a second vehicle needs one of its own',
    },
    'log_level': {'default_value': 'info', 'description': 'log level of all nodes'},
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

    def start(context: LaunchContext) -> list[Any]:
        given = context.launch_configurations
        graph = vehicle_graph(
            vehicle, given['use_sim_time'] == 'true', given['model'], given['replay'] == 'true',
            drawn_with(given), _simulation(given),
        )
        check_settings(graph, filter(None, [given['params_file']]), given['namespace'])
        options = ['--vehicle', vehicle]
        return graph_actions(given, graph, [*options, '--model', given['model']]
                       if given['model'] else options)

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
            'default_value': 'false', 'choices': ['true', 'false'],
            'description': 'add a simulated body, which links and plugin blocks describe',
        },
        **ARGUMENTS,
        'use_sim_time': {**ARGUMENTS['use_sim_time'], 'default_value': 'false',
                         'description': 'true if a simulation publishes /clock'},
    }

    def start(context: LaunchContext) -> list[Any]:
        given = context.launch_configurations
        allocated, is_simulated = _listed(given['allocate']), given['simulate'] == 'true'
        graph = robot_graph(
            given['model'], given['use_sim_time'] == 'true', allocated, given['replay'] == 'true',
            drawn_with(given), _simulation(given) if is_simulated else None,
        )
        check_settings(graph, filter(None, [given['params_file']]), given['namespace'])
        chosen = ['--allocate', *allocated] if allocated else []
        chosen += ['--simulate'] if is_simulated else []
        return graph_actions(given, graph, ['--model', given['model'], *chosen])

    return _described(arguments, start)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(',') if name.strip()]


def _simulation(given: dict[str, str]) -> Simulation:
    """Return how a body is simulated, by the launch arguments."""
    settings = {}
    for key in ('duration', 'real_time_factor'):
        if given[key]:
            settings[key] = number_of(key, given[key])
    files = [given['params_file']] if given['params_file'] else []
    return Simulation(
        tuple(_listed(given['wait_for'])), settings, tuple(files), given['namespace']
    )


def number_of(key: str, text: str) -> float:
    """Return the number that an argument has; raise `ConfigError` for any other text."""
    try:
        return float(text)
    except ValueError:
        raise ConfigError(key, f'expected a number, got {text!r}') from None


def _described(
    arguments: dict[str, dict[str, Any]], start: Callable[[LaunchContext], list[Any]]
) -> LaunchDescription:
    return LaunchDescription([
        *(DeclareLaunchArgument(name, **kwargs) for name, kwargs in arguments.items()),
        OpaqueFunction(function=start),
    ])


def drawn_with(given: dict[str, str]) -> list[str] | None:
    """Return the parameter files that a visualizer is to read, None for no visualizer."""
    if given['visualize'] != 'true':
        return None
    return [given['params_file']] if given['params_file'] else []


def graph_actions(
    given: dict[str, str], graph: Graph, stack_options: Sequence[str] = ()
) -> list[Any]:
    """Return the launch actions of a graph.

    Parameters
    ----------
    given : dict of str
        Values of `ARGUMENTS`.
    graph : Graph
        The nodes.
    stack_options : sequence of str
        Command line of `stack` for the same graph, where it is composed.
    """
    records, actions = {}, []
    for spec in graph.nodes:
        try:
            records[spec.name] = record_of(spec, given)
        except OSError as error:
            actions.append(LogInfo(msg=f'{spec.name} keeps no record of its flight: {error}'))
    if given['composed'] == 'true':
        actions.append(_stack(given, stack_options, records))
    else:
        actions += [_node(spec, graph, given, records.get(spec.name, {})) for spec in graph.nodes]
    return [*actions, _state_publisher(graph, given)]


def record_of(spec: NodeSpec, given: dict[str, str]) -> dict[str, str]:
    """Return where a flight computer keeps its record, as a parameter; {} where that is given.

    Raises OSError where the folder cannot be made.
    """
    if spec.executable != 'flight_state_node' or given['replay'] == 'true':
        return {}
    if given['params_file']:
        own = ParameterFile(given['params_file']).of(spec.name, given['namespace'])
        if 'state_file' in own:
            return {}
    home = Path(os.environ.get('ROS_HOME') or Path.home() / '.ros')
    folder = home.joinpath('propulsion_ros', *filter(None, given['namespace'].split('/')))
    folder.mkdir(parents=True, exist_ok=True)
    domain = os.environ.get('ROS_DOMAIN_ID', '0')
    of_domain = f'.domain_{domain}' if domain not in ('', '0') else ''
    return {'state_file': str(folder / f'{spec.name}{of_domain}.json')}


def _stack(
    given: dict[str, str], options: Sequence[str], records: dict[str, dict[str, str]]
) -> Node:
    """Return one process with all nodes of a graph."""
    return Node(
        package=PACKAGE,
        executable='stack',
        # No name here: it would rename every node of the process.
        namespace=given['namespace'],
        arguments=[
            *options, '--use-sim-time', given['use_sim_time'],
            *_simulation_options(given),
            *(['--replay'] if given['replay'] == 'true' else []),
            *(['--visualize'] if given['visualize'] == 'true' else []),
        ],
        ros_arguments=[
            *(['--params-file', given['params_file']] if given['params_file'] else []),
            *(
                part for name, record in records.items() for key, value in record.items()
                for part in ('-p', f'{name}:{key}:={value}')
            ),
            '-p', f'autostart:={given["autostart"]}', '-r', f'/clock:={given["clock_topic"]}',
            '--log-level', given['log_level'],
        ],
        output='screen',
        on_exit=_shutdown_once('stack'),
    )


def _simulation_options(given: dict[str, str]) -> list[str]:
    """Return the options of `stack` for what `_simulation` reads."""
    options = [f'--wait-for={topic}' for topic in _listed(given['wait_for'])]
    return options + [
        f'--{key.replace("_", "-")}={given[key]}'
        for key in ('duration', 'real_time_factor') if given[key]
    ]


def _node(
    spec: NodeSpec, graph: Graph, given: dict[str, str], record: dict[str, str]
) -> LifecycleNode:
    files = [str(path) for path in (graph.params_file, given['params_file']) if path]
    respawns = spec.respawn_delay is not None
    wiring = {key: value for key, value in spec.parameters.items() if value not in (None, [])}
    return LifecycleNode(
        package=PACKAGE,
        executable=spec.executable,
        name=spec.name,
        namespace=given['namespace'],
        parameters=[*files, {**wiring, **record}, {'autostart': given['autostart'] == 'true'}],
        remappings=[*spec.remappings.items(), ('/clock', given['clock_topic'])],
        # Where the body stops, the launch ends.
        arguments=['--exit-at-end'] if spec.name == BODY else [],
        ros_arguments=['--log-level', given['log_level']],
        output='screen',
        on_exit=_shutdown_once(spec.name) if graph.in_lockstep and not respawns else None,
        respawn=respawns,
        respawn_delay=spec.respawn_delay,
    )


def _shutdown_once(name: str) -> OpaqueFunction:
    """Return the end of a launch whose nodes wait for each other, unless it is ending already."""
    def _end(context: LaunchContext) -> list[Any]:
        return [] if context.is_shutdown else [Shutdown(reason=f'{name} has ended')]
    return OpaqueFunction(function=_end)


def _state_publisher(graph: Graph, given: dict[str, str]) -> Any:
    """Return robot_state_publisher, or a line in the log that it is not installed."""
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


def record_actions(context: LaunchContext) -> list[Any]:
    """Return the recorder: rosbag2's where it is installed, else the one of this package."""
    given = context.launch_configurations
    topics = [name.strip() for name in given['topics'].split(',') if name.strip()]
    in_simulation = given['use_sim_time'] == 'true'
    output, is_sqlite = given['output'], given['storage'] == 'sqlite3'
    try:
        get_package_prefix('ros2bag')
    except PackageNotFoundError:
        # Its format follows the name.
        output += '.db3' if is_sqlite and not output.endswith('.db3') else ''
        command = [
            sys.executable, '-m', 'propulsion_ros.tools.cli', 'record', output,
            *(part for topic in topics for part in ('--topic', topic)),
        ]
    else:
        overrides = share_directory() / 'qos' / 'record.yaml'
        command = [
            'ros2', 'bag', 'record', '--output', output, '--storage', given['storage'],
            '--qos-profile-overrides-path', str(overrides),
            *(['--topics', *topics] if topics else ['--all-topics']),
        ]
    return [ExecuteProcess(
        cmd=[*command, *(['--use-sim-time'] if in_simulation else [])], output='screen'
    )]
