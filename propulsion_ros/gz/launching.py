# SPDX-License-Identifier: Apache-2.0
"""A vehicle in Gazebo as launch actions."""
from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import launch.logging
import numpy as np
from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)
from launch import LaunchContext
from launch.actions import AppendEnvironmentVariable, IncludeLaunchDescription, LogInfo
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from propulsion_ros.graph.launch_actions import graph_actions, number_of, plain_booleans
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import gazebo_graph
from propulsion_ros.gz.bridge import CLOCK, FORTRESS, GZ, Release, bridge_yaml
from propulsion_ros.gz.model import GazeboRobot, gazebo_robot
from propulsion_ros.gz.sdf_elements import read_body
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import write_text

_VENDORS = ('gz_sim', 'gz_math', 'gz_msgs', 'gz_transport', 'gz_common', 'sdformat')
"""ROS packages with Python modules of Gazebo that no setup file adds to the path."""


def gazebo_actions(context: LaunchContext) -> list[Any]:
    """Return Gazebo with a vehicle, its bridges, and the nodes that run beside it.

    Raises `SourceError` if Gazebo's packages are not installed, or the vehicle does not support the
    route.
    """
    given = {
        'composed': 'false', 'use_sim_time': 'true', 'replay': 'false', 'clock_topic': '/clock',
        **plain_booleans(
            context.launch_configurations, ('fortress', 'gui', 'join', 'autostart', 'visualize')
        ),
    }
    for package in ('ros_gz_sim', 'ros_gz_bridge'):
        if not _has(package):
            raise SourceError(package, 'is not installed; docs/gazebo.md names the packages')
    release = FORTRESS if given['fortress'] == 'true' else GZ
    share, vehicle, route = share_directory(), given['vehicle'], given['route']
    files: list[str | Path] = [
        share / 'config' / f'{vehicle}.yaml', *filter(None, [given['params_file']])
    ]
    robot = gazebo_robot(
        given['model'] or share / 'urdf' / f'{vehicle}.urdf.xacro', route, files,
        given['namespace'], release,
    )
    graph = gazebo_graph(
        vehicle, route == 'system', given['model'],
        files[1:] if given['visualize'] == 'true' else None,
    )
    world = given['world'] or str(share / 'worlds' / f'{VEHICLES[vehicle].world}.sdf')
    joins = given['join'] == 'true'
    offset = [number_of(axis, given[axis]) for axis in ('x', 'y')]
    folder = Path(launch.logging.launch_config.log_dir) / 'gazebo'
    folder.mkdir(parents=True, exist_ok=True)
    return [
        *(LogInfo(msg=note) for note in robot.notes),
        *(AppendEnvironmentVariable('PYTHONPATH', path) for path in python_path()),
        *([] if joins else [_gazebo(world, given['gui'] == 'true')]),
        _spawn(robot, folder, read_body(files, given['namespace']), offset),
        *_bridges(robot, release, folder, given['namespace'], not joins),
        *graph_actions(given, graph, given['model'] or vehicle),
    ]


def python_path() -> list[str]:
    """Return the folders in which gz-sim's Python finds Gazebo's modules and this package."""
    folders = [
        os.path.join(get_package_prefix(f'{name}_vendor'), 'opt', f'{name}_vendor', 'lib', 'python')
        for name in _VENDORS if _has(f'{name}_vendor')
    ]
    own = Path(__file__).resolve().parent.parent.parent
    return [*(folder for folder in folders if os.path.isdir(folder)), str(own)]


def _has(package: str) -> bool:
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def _gazebo(world: str, has_gui: bool) -> IncludeLaunchDescription:
    source = Path(get_package_share_directory('ros_gz_sim'), 'launch', 'gz_sim.launch.py')
    options = '-r' if has_gui else '-r -s'
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(source)),
        launch_arguments={
            'gz_args': f'{options} {shlex.quote(world)}', 'on_exit_shutdown': 'true',
        }.items(),
    )


def _spawn(
    robot: GazeboRobot, folder: Path, body: BodyParams, offset: Sequence[float]
) -> Node:
    """Return a node that spawns the model, with an offset from the start of a simulated body."""
    path = folder / 'gazebo.urdf'
    write_text(path, robot.description)
    x, y, z = body.start_position + np.array([*offset, 0.0])
    if body.starts_on_ground:
        # The simulated body stands on its origin, Gazebo's on its shapes.
        z = z + robot.clearance
    pose = zip('xyzRPY', (x, y, z, *body.start_rpy), strict=True)
    return Node(
        package='ros_gz_sim', executable='create', output='screen',
        arguments=[
            '-name', robot.name, '-file', str(path),
            *(part for key, value in pose for part in (f'-{key}', repr(float(value)))),
        ],
    )


def _bridges(
    robot: GazeboRobot, release: Release, folder: Path, namespace: str, with_clock: bool
) -> list[Node]:
    nodes = []
    bridges = {'bridge': robot.topics, **({'clock_bridge': (CLOCK,)} if with_clock else {})}
    for name, topics in bridges.items():
        path = folder / f'{name}.yaml'
        write_text(path, bridge_yaml(topics, release))
        nodes.append(Node(
            package='ros_gz_bridge', executable='parameter_bridge', name=name,
            namespace=namespace, parameters=[{'config_file': str(path)}], output='screen',
        ))
    return nodes
