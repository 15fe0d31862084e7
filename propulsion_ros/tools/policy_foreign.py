# SPDX-License-Identifier: Apache-2.0
"""What nodes of other packages do that the launch files start, by their sources.

They need not be installed where a policy is made, so they are not asked.
"""
from __future__ import annotations

from collections.abc import Iterable

from propulsion_ros.gz.bridge import CLOCK, TO_ROS, BridgeTopic
from propulsion_ros.tools.policy_xml import Profile

_PARAMETER_SERVICES = (
    'describe_parameters', 'get_parameter_types', 'get_parameters', 'get_type_description',
    'list_parameters', 'set_parameters', 'set_parameters_atomically',
)


def state_publisher(namespace: str, joint_states: str, clock: str) -> Profile:
    """Return what robot_state_publisher does, as the launch files start it.

    Parameters
    ----------
    namespace : str
        Of the robot.
    joint_states : str
        Topic of its joints, relative to the namespace.
    clock : str
        Topic of simulated time, '' for none.
    """
    return _node(
        'robot_state_publisher', namespace, ('robot_description', 'tf', 'tf_static'),
        filter(None, (joint_states, clock)),
    )


def launch_node(profiles: Iterable[Profile]) -> Profile:
    """Return what launch_ros does itself, in a node named after its process, for lifecycle nodes.

    Parameters
    ----------
    profiles : iterable of Profile
        The lifecycle nodes that are launched.
    """
    names = [_whole(profile.namespace, profile.name) for profile in profiles]
    return _node(
        'launch_ros_*', '', subscribes=(f'{name}/transition_event' for name in names),
        requests=(f'{name}/change_state' for name in names),
    )


def gazebo_nodes(namespace: str, topics: Iterable[BridgeTopic]) -> list[Profile]:
    """Return what the nodes of ros_gz do: the two bridges, and what puts the model into the world.

    Parameters
    ----------
    namespace : str
        Of the robot.
    topics : iterable of BridgeTopic
        What the first bridge carries.
    """
    bridges = [
        _node(
            name, namespace,
            (t.ros_topic for t in carried if t.direction == TO_ROS),
            (t.ros_topic for t in carried if t.direction != TO_ROS),
        )
        for name, carried in (('bridge', tuple(topics)), ('clock_bridge', (CLOCK,)))
    ]
    return [*bridges, _node('ros_gz_sim', '')]


def rosbag2_node(name: str, publishes: Iterable[str], subscribes: Iterable[str]) -> Profile:
    """Return what ``ros2 bag`` does; which services it has differs by release.

    Parameters
    ----------
    name : str
        Of its node.
    publishes, subscribes : iterable of str
        What it plays or records.
    """
    return _node(name, '', {'/events/*', *publishes}, subscribes, services=['*'])


def _node(
    name: str,
    namespace: str,
    publishes: Iterable[str] = (),
    subscribes: Iterable[str] = (),
    requests: Iterable[str] = (),
    services: Iterable[str] = _PARAMETER_SERVICES,
) -> Profile:
    """Return what a node does beside what any node with parameters does."""
    events = '/parameter_events'
    publishes, subscribes, replies, requests = (
        frozenset(_whole(namespace, each) for each in names) for names in (
            (events, '/rosout', *publishes), (events, *subscribes),
            (f'{name}/{service}' for service in services), requests,
        )
    )
    return Profile(name, f'/{namespace.strip("/")}', publishes, subscribes, replies, requests)


def _whole(namespace: str, name: str) -> str:
    """Return a name, with the namespace where it is relative."""
    return name if name.startswith('/') else f'/{namespace.strip("/")}/{name}'.replace('//', '/')
