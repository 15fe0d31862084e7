# SPDX-License-Identifier: Apache-2.0
"""Topics that ros_gz_bridge carries between ROS and Gazebo, as its parameter file."""
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import yaml

from propulsion_ros.loops.payloads import Kind
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import is_name

TO_ROS, TO_GZ = 'GZ_TO_ROS', 'ROS_TO_GZ'
_GZ_NAME = re.compile(r'(/[^/\s@~:]+)+')


@dataclass(frozen=True)
class Release:
    """Differences between generations of Gazebo; systems have the same names from Fortress on."""

    messages: str
    """Package of its messages."""
    frame_tag: str
    """Tag of a sensor that names its frame."""


GZ = Release('gz.msgs', 'gz_frame_id')
"""Garden and later."""
FORTRESS = Release('ignition.msgs', 'ignition_frame_id')
"""Fortress, which comes with Humble."""


@dataclass(frozen=True)
class BridgeTopic:
    """One topic of the bridge.

    Raises `SourceError` for names that ROS or Gazebo does not take: those of robots, joints and
    actuators are parts of them.
    """

    ros_topic: str
    """Name in ROS, relative to the namespace of the bridge unless it begins with '/'."""
    gz_topic: str
    """Name in Gazebo."""
    ros_type: str
    """Such as 'std_msgs/msg/Float64'."""
    gz_type: str
    """Message of Gazebo without its package, such as 'Double'."""
    direction: str
    """`TO_ROS` or `TO_GZ`."""

    def __post_init__(self) -> None:
        if not is_name(self.ros_topic, before='/'):
            raise SourceError(
                f'topic {self.ros_topic!r}', 'ROS takes letters, digits and _ in the name of an '
                'actuator or joint, and no digit first'
            )
        if not (_GZ_NAME.fullmatch(self.gz_topic) and self.gz_topic.isprintable()):
            raise SourceError(
                f'topic {self.gz_topic!r}', 'Gazebo takes no space, @, ~ or : in the name of a '
                'robot or joint'
            )


CLOCK = BridgeTopic('/clock', '/clock', Kind.CLOCK, 'Clock', TO_ROS)
"""It has a bridge of its own: in one with many other messages it would be late."""


def body_topic(name: str, kind: str, model: str, gz_name: str, gz_type: str) -> BridgeTopic:
    """Return a topic of this package's simulated body, which Gazebo publishes of a model."""
    return BridgeTopic(f'vehicle/{name}', f'/model/{model}/{gz_name}', kind, gz_type, TO_ROS)


def joint_topic(ros_topic: str, model: str, joint: str, command: str) -> BridgeTopic:
    """Return the topic of a node's plain numbers, to a command of gz-sim to a joint."""
    return BridgeTopic(
        ros_topic, f'/model/{model}/joint/{joint}/{command}', Kind.FLOAT, 'Double', TO_GZ
    )


def bridge_yaml(topics: Iterable[BridgeTopic], release: Release = GZ) -> str:
    """Return the ``config_file`` of ros_gz_bridge's ``parameter_bridge``."""
    return str(yaml.safe_dump([
        {
            'ros_topic_name': topic.ros_topic,
            'gz_topic_name': topic.gz_topic,
            'ros_type_name': topic.ros_type,
            'gz_type_name': f'{release.messages}.{topic.gz_type}',
            'direction': topic.direction,
        }
        for topic in topics
    ], sort_keys=False))
