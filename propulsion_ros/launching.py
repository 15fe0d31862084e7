"""Graphs as launch actions: what the launch files share."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext
from launch.actions import LogInfo, OpaqueFunction, Shutdown
from launch_ros.actions import LifecycleNode, Node

from propulsion_ros.share import PACKAGE
from propulsion_ros.wiring import Graph, NodeSpec

ARGUMENTS: dict[str, dict[str, Any]] = {
    'namespace': {'default_value': '', 'description': 'namespace of all nodes'},
    'params_file': {
        'default_value': '', 'description': "settings that win over the vehicle's own file"
    },
    'use_sim_time': {
        'default_value': 'true', 'choices': ['true', 'false'],
        'description': 'with the simulated body; false on a robot that has a real one',
    },
    'autostart': {
        'default_value': 'true', 'choices': ['true', 'false'],
        'description': 'configure and activate every node at the start',
    },
    'log_level': {'default_value': 'info', 'description': 'log level of all nodes'},
}
"""Launch arguments of every vehicle, with their keyword arguments."""


def launch_graph(context: LaunchContext, graph: Graph) -> list[Any]:
    """Return the launch actions of a graph; values of `ARGUMENTS` come from the context."""
    given = context.launch_configurations
    params_file = given['params_file']
    if params_file and not Path(params_file).is_file():
        raise FileNotFoundError(f"params_file: no such file '{params_file}'")
    actions: list[Any] = [_node(spec, graph, given) for spec in graph.nodes]
    actions.append(_state_publisher(graph, given))
    return actions


def _node(spec: NodeSpec, graph: Graph, given: dict[str, str]) -> LifecycleNode:
    files = [str(path) for path in (graph.params_file, given['params_file']) if path]
    wiring = {key: value for key, value in spec.parameters.items() if value not in (None, [])}
    return LifecycleNode(
        package=PACKAGE,
        executable=spec.executable,
        name=spec.name,
        namespace=given['namespace'],
        parameters=[*files, wiring, {'autostart': given['autostart'] == 'true'}],
        remappings=list(spec.remappings.items()),
        ros_arguments=['--log-level', given['log_level']],
        output='screen',
        on_exit=_shutdown_once(spec.name) if graph.in_lockstep else None,
    )


def _shutdown_once(name: str) -> OpaqueFunction:
    """Return the end of a launch whose nodes wait for each other, unless it is ending already."""
    def _end(context: LaunchContext) -> list[Any]:
        return [] if context.is_shutdown else [Shutdown(reason=f'{name} has ended')]
    return OpaqueFunction(function=_end)


def _state_publisher(graph: Graph, given: dict[str, str]) -> Any:
    """Return robot_state_publisher, or say in one line that it is not installed."""
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
        remappings=[('joint_states', 'vehicle/joint_states')],
        output='screen',
    )
