# SPDX-License-Identifier: Apache-2.0
"""What the nodes of each launch file do, as they say themselves; needs ROS 2."""
from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import rclpy
from rclpy.exceptions import InvalidTopicNameException
from rclpy.validate_full_topic_name import validate_full_topic_name

from propulsion_ros.graph.graph_options import graph_of
from propulsion_ros.graph.share import load_robot_description
from propulsion_ros.graph.wiring import NodeSpec
from propulsion_ros.gz.host import ActuatorHost
from propulsion_ros.gz.vehicle import gazebo_vehicle
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.replay.player import Player
from propulsion_ros.replay.recorder import Recorder
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.tools.policy_foreign import (
    gazebo_nodes,
    launch_node,
    rosbag2_node,
    state_publisher,
)
from propulsion_ros.tools.policy_xml import Profile

_CLOCK, _ALL = '/clock', '/*'
_STEP_NS = 1_000_000
"""Of the physics, which no topic depends on."""


def graph_profiles(args: argparse.Namespace) -> list[Profile]:
    """Return what a vehicle or any robot does, as its launch file starts it.

    Parameters
    ----------
    args : argparse.Namespace
        The arguments of the command.

    Raises
    ------
    ConfigError
        For a graph that is wrong; a node that cannot be configured has said why.
    """
    graph = graph_of(args, args.params_file)
    files = [file for file in (graph.params_file, *args.params_file) if file]
    own = _configured(graph.nodes, files, args.namespace, args.clock_topic)
    is_simulated = args.use_sim_time == 'true' or (args.vehicle and args.use_sim_time is None)
    clock = args.clock_topic if is_simulated else ''
    return [
        *own, launch_node(own), state_publisher(args.namespace, graph.joint_states, clock),
    ]


def gazebo_profiles(args: argparse.Namespace) -> list[Profile]:
    """Return what a vehicle in Gazebo does: inside gz-sim, beside it, and the bridges.

    Parameters and errors are those of `graph_profiles`.
    """
    vehicle = gazebo_vehicle(
        args.vehicle, args.gazebo, args.model, args.params_file, args.namespace,
        drawn_with=args.params_file if args.visualize else None,
    )
    beside = _configured(vehicle.graph.nodes, vehicle.params_files, args.namespace, _CLOCK)
    inside: list[Profile] = []
    if args.gazebo == 'system':
        description = load_robot_description(vehicle.model)
        with closing(ActuatorHost(
            description, lambda link: True, vehicle.params_files, args.namespace
        )) as host:
            with _without_discovery():
                host.start(_STEP_NS)
            inside = [_profile(node) for node in host.nodes]
    return [
        *inside, *beside, launch_node(beside),
        state_publisher(args.namespace, vehicle.graph.joint_states, _CLOCK),
        *gazebo_nodes(args.namespace, vehicle.robot.topics),
    ]


def recorder_profiles(topics: Iterable[str] = ()) -> list[Profile]:
    """Return what a recorder does, that of this package and that of rosbag2.

    Parameters
    ----------
    topics : iterable of str
        What it records; nothing for whatever there is.
    """
    named = frozenset(f'/{topic.lstrip("/")}' for topic in topics)
    heard = named | {_CLOCK} if named else frozenset({_ALL})
    with _alone() as context:
        node = Recorder(lambda message, offers: None, named, sim_time=True, context=context)
        own = _profile(node)
        node.destroy_node()
    return [replace(own, subscribes=heard), rosbag2_node('rosbag2_recorder', (), heard)]


def player_profiles(bag: Path) -> list[Profile]:
    """Return what playing a bag does, by this package and by rosbag2.

    Parameters
    ----------
    bag : Path
        The bag, each topic of which may be published.

    Raises
    ------
    SourceError
        For a bag that cannot be read, or has topics with names that ROS does not know.
    """
    with BagReader(bag) as reader:
        played = frozenset(reader.topics)
    for topic in played:
        try:
            validate_full_topic_name(topic)
        except InvalidTopicNameException:
            raise SourceError(str(bag), f'{topic!r} is no name of a topic') from None
    with _alone() as context:
        node = Player(clock_rate=1.0, context=context)
        own = _profile(node)
        node.destroy_node()
    return [
        replace(own, publishes=own.publishes | played),
        rosbag2_node('rosbag2_player', played | {_CLOCK}, {_CLOCK}),
    ]


def _configured(
    specs: Iterable[NodeSpec], files: Sequence[str | Path], namespace: str, clock_topic: str
) -> list[Profile]:
    """Return what nodes do once they are configured."""
    settings = [part for file in files for part in ('--params-file', str(file))]
    nodes: list[Any] = []
    with _alone('-r', f'/clock:={clock_topic}', *settings) as context, ExitStack() as stack:
        for spec in specs:
            nodes.append(make_node(spec, namespace, context=context))
            stack.callback(nodes[-1].close)
            nodes[-1].trigger_configure()
            if nodes[-1].has_failed:
                raise SourceError(spec.name, 'cannot be configured, see above')
        return [_profile(node) for node in nodes]


@contextmanager
def _alone(*arguments: str) -> Iterator[rclpy.Context]:
    """Yield a context whose nodes neither hear a robot nor are heard by one."""
    context = rclpy.Context()
    with _without_discovery():
        rclpy.init(args=['--ros-args', '--log-level', 'warn', *arguments], context=context)
    try:
        yield context
    finally:
        rclpy.try_shutdown(context=context)


@contextmanager
def _without_discovery() -> Iterator[None]:
    """Let contexts that begin here have nodes that discover nobody."""
    name = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
    before = os.environ.get(name)
    os.environ[name] = 'OFF'
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _profile(node: Any) -> Profile:
    """Return what the graph knows of a node."""
    name, namespace = node.get_name(), node.get_namespace()
    publishes, subscribes, replies, requests = (
        frozenset(topic for topic, _ in ask(name, namespace)) for ask in (
            node.get_publisher_names_and_types_by_node,
            node.get_subscriber_names_and_types_by_node,
            node.get_service_names_and_types_by_node,
            node.get_client_names_and_types_by_node,
        )
    )
    if node.has_parameter('publish_tf') and node.get_parameter('publish_tf').value:
        # It does so where tf2_msgs is installed, which need not be here.
        publishes |= {node.resolve_topic_name('tf')}
    return Profile(name, namespace, publishes, subscribes, replies, requests)
