# SPDX-License-Identifier: Apache-2.0
"""Policies of SROS2: the shipped ones, and what the command makes of some words."""
from __future__ import annotations

import argparse
import functools
import gc
from fnmatch import fnmatchcase

import pytest
from rclpy._rclpy_pybind11 import NodeNameNonExistentError

from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.tools import policy
from propulsion_ros.tools.policy_xml import Profile

SHIPPED = {
    **{v: ['--vehicle', v] for v in VEHICLES},
    **{f'gazebo_{v}': ['--vehicle', v, '--gazebo', 'system'] for v in VEHICLES},
    **{f'gazebo_{v}_bridge': ['--vehicle', v, '--gazebo', 'bridge'] for v in ('quadrotor', 'rov')},
    'recorder': ['--record'],
}
"""Arguments that each of them is made with."""
FOREIGN = {'launch_ros_*', 'robot_state_publisher', 'bridge', 'clock_bridge', 'ros_gz_sim'}
"""Nodes of other packages in those of robots."""


def parsed(*words):
    """Return the arguments of the command."""
    parser = argparse.ArgumentParser()
    policy.add_arguments(parser)
    return parser.parse_args(words)


@functools.cache
def asked(*words):
    """Return the profiles that the command writes down."""
    found = policy.profiles_of(parsed(*words))
    # Of nodes with one name in a process only the first has /rosout, until it is collected.
    gc.collect()
    return tuple(found)


def seen(probe, profile):
    """Return what the node of a profile does, as another node knows; None for no such node."""
    node = next((
        (name, namespace) for name, namespace in probe.get_node_names_and_namespaces()
        if namespace == profile.namespace and fnmatchcase(name, profile.name)
    ), None)
    if node is None:
        return None
    asks = (
        probe.get_publisher_names_and_types_by_node, probe.get_subscriber_names_and_types_by_node,
        probe.get_service_names_and_types_by_node, probe.get_client_names_and_types_by_node,
    )
    try:
        return Profile(*node, *(frozenset(topic for topic, _ in ask(*node)) for ask in asks))
    except NodeNameNonExistentError:
        # One of this name that ended has just been forgotten.
        return None


def write_bag(path, *topics):
    """Write a bag with a text on each topic, and return its path."""
    pytest.importorskip('rosbags')
    with BagWriter(path) as writer:
        for stamp, topic in enumerate(topics):
            writer.write(Recorded(topic, 'std_msgs/msg/String', stamp, b'\0\1\0\0\1\0\0\0\0'))
    return path
