"""The command ``policy``: write what the nodes of a robot may do as a policy of SROS2."""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from propulsion_ros.errors import ConfigError, SourceError
from propulsion_ros.graph_options import add_graph_options, graph_of
from propulsion_ros.tools.policy_xml import Profile, policy_text

_PARAMETER_SERVICES = (
    'describe_parameters', 'get_parameter_types', 'get_parameters', 'get_type_description',
    'list_parameters', 'set_parameters', 'set_parameters_atomically',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_graph_options(parser)
    parser.add_argument(
        '--params-file', action='append', default=[], metavar='YAML',
        help="settings that win over the vehicle's own (repeat for several)",
    )
    parser.add_argument(
        '--clock-topic', default='/clock', metavar='TOPIC', help='simulated time'
    )
    parser.add_argument(
        '--enclave', default='', help='path of the enclave (default: /<vehicle>, else /robot)'
    )
    parser.add_argument(
        '--output', type=Path, metavar='FILE', help='file to write (default: standard output)'
    )


def run(args: argparse.Namespace) -> int:
    """Write the policy; return the exit code."""
    if not (args.vehicle or args.model):
        return _fail('expected --vehicle or --model')
    try:
        from propulsion_ros.nodes.base import reason_of
        from propulsion_ros.nodes.spin import ROS_REFUSALS
    except ImportError as error:
        return _fail(f'needs ROS 2: {error}')
    try:
        profiles = profiles_of(args)
        text = policy_text(args.enclave or f'/{args.vehicle or "robot"}', profiles)
        if args.output is None:
            sys.stdout.write(text)
        else:
            args.output.write_text(text, encoding='utf-8')
    except ConfigError as error:
        return _fail(str(error))
    except ROS_REFUSALS as error:
        return _fail(reason_of(error))
    except OSError as error:
        return _fail(f'{args.output}: {error.strerror}')
    return 0


def profiles_of(args: argparse.Namespace) -> list[Profile]:
    """Return what each node of a graph does, as the nodes themselves say once configured.

    Parameters
    ----------
    args : argparse.Namespace
        The arguments of the command.

    Raises
    ------
    ConfigError
        For a graph that is wrong; a node that cannot be configured has said why.
    """
    import rclpy

    from propulsion_ros.nodes.stack import make_node

    graph = graph_of(args, args.params_file)
    files = [str(file) for file in (graph.params_file, *args.params_file) if file]
    context, nodes = rclpy.Context(), []
    with _without_discovery():
        rclpy.init(
            args=['--ros-args', '--log-level', 'warn', '-r', f'/clock:={args.clock_topic}',
                  *(part for file in files for part in ('--params-file', file))],
            context=context,
        )
    try:
        for spec in graph.nodes:
            nodes.append(make_node(spec, args.namespace, context=context))
            nodes[-1].trigger_configure()
            if nodes[-1].has_failed:
                raise SourceError(spec.name, 'cannot be configured, see above')
        profiles = [_profile(node) for node in nodes]
    finally:
        for node in nodes:
            node.close()
        rclpy.try_shutdown(context=context)
    return [*profiles, _state_publisher(args, graph.in_lockstep)]


@contextmanager
def _without_discovery() -> Iterator[None]:
    """Make contexts whose nodes neither hear a robot nor are heard by one."""
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


def _state_publisher(args: argparse.Namespace, in_lockstep: bool) -> Profile:
    """Return what robot_state_publisher does, as the launch files start it."""
    name, namespace = 'robot_state_publisher', args.namespace.strip('/')
    prefix = f'/{namespace}/' if namespace else '/'
    joints, clock = 'joint_states', {'/clock'} if _is_simulated(args) else set()
    if in_lockstep:
        joints, clock = 'vehicle/joint_states', {args.clock_topic}
    return Profile(
        name, f'/{namespace}',
        frozenset({'/parameter_events', '/rosout', *(
            prefix + topic for topic in ('robot_description', 'tf', 'tf_static')
        )}),
        frozenset({'/parameter_events', prefix + joints, *clock}),
        frozenset(f'{prefix}{name}/{service}' for service in _PARAMETER_SERVICES),
    )


def _is_simulated(args: argparse.Namespace) -> bool:
    return bool(args.use_sim_time == 'true' or (args.vehicle and args.use_sim_time is None))


def _fail(reason: str) -> int:
    print(f'propulsion_ros policy: {reason}', file=sys.stderr)
    return 1
