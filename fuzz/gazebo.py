# SPDX-License-Identifier: Apache-2.0
"""What Gazebo gets of a robot description and its settings, and where its actuators push."""
from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable

import numpy as np
import yaml

from fuzz.descriptions import OUTLINE_WORDS, URDF_WORDS, description, outlined, outlines
from fuzz.target import Target, UnsoundError, require, shipped, text_of, written
from fuzz.text_formats import XML, YAML
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.gz.bridge import bridge_yaml
from propulsion_ros.gz.host import ActuatorHost
from propulsion_ros.gz.model import GazeboRobot, gazebo_robot
from propulsion_ros.gz.simulated_model import SimulatedModel
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.urdf.link_tree import IDENTITY, LinkTree
from propulsion_ros.urdf.reader import mass_from_urdf
from propulsion_ros.urdf.xml import parse_urdf

_ROS_NAME = re.compile(r'/?[^\W\d]\w*(/[^\W\d]\w*)*', re.ASCII)
_FOREIGN_TO_GZ = re.compile(r'//|[@~]|:=|[^!-~\u00a1-\U0010ffff]')
"""As gz-transport's TopicUtils has it, and what cannot be read."""
_BRIDGED = ('quadrotor', 'rov')


def _system(data: bytes) -> None:
    """Read a description for the models inside gz-sim."""
    _model('system', text_of(data))


def _outline(data: bytes) -> None:
    """Read an outline of plugin blocks, for a route that its first byte picks too."""
    _model(('system', 'bridge')[data[0] // 128 if data else 0], outlined(data))


def _bridge(data: bytes) -> None:
    """Read a description for gz-sim's own systems."""
    _model('bridge', text_of(data))


def _model(route: str, xml: str) -> None:
    robot = gazebo_robot(written('robot.urdf', xml.encode()), route)
    _judge(robot)
    dry, (_, wet) = mass_from_urdf(xml)[1], _reread(mass_from_urdf, robot)
    propellant = wet.mass - dry.mass
    require(propellant >= -1e-9 * max(abs(dry.mass), 1.0), f'{-propellant} kg are lost')


def _settings(data: bytes) -> None:
    """Read settings of a vehicle that takes both routes."""
    path = written('robot.urdf', description('rov').encode())
    settings = written('settings.yaml', data)
    for route in ('system', 'bridge'):
        _judge(gazebo_robot(path, route, [settings]))


def _judge(robot: GazeboRobot) -> None:
    """Hold what was made to what Gazebo and its bridge can read."""
    _reread(lambda xml: LinkTree(parse_urdf(xml)), robot)
    rows = yaml.safe_load(bridge_yaml(robot.topics))
    require(len(rows) == len(robot.topics), f'{len(rows)} topics')
    for row in rows:
        ros, gz = row['ros_topic_name'], row['gz_topic_name']
        require(_ROS_NAME.fullmatch(ros) is not None, f'ROS has no topic {ros!r}')
        require(not _FOREIGN_TO_GZ.search(gz), f'Gazebo has no topic {gz!r}')
    require(all(note.isprintable() for note in robot.notes), f'{robot.notes}')


def _reread(read: Callable[[str], object], robot: GazeboRobot) -> object:
    try:
        return read(robot.description)
    except ConfigError as error:
        raise UnsoundError(f'a description that cannot be read again: {error}') from error


def _host(data: bytes) -> None:
    """Find the actuators of an outline in a model that lacks every link of some letter."""
    lacks = chr(ord('a') + data[0] % 32) if data else ''
    text = outlined(data)
    tree = LinkTree(parse_urdf(text))
    links = [tree.root, *(joint.child for joint in tree.joints.values())]
    poses = {
        link: tree.pose(link, tree.root) for link in links if not lacks or lacks not in link
    }
    host = ActuatorHost(SimulatedModel('robot', poses, list(tree.joints.values())), text)
    require(host.base.link in host.links, f'{host.links} without {host.base.link!r}')
    motion = host.base.motion(IDENTITY, np.ones(3), np.ones(3))
    require(all(map(math.isfinite, motion.velocity)), f'{motion}')


def _descriptions(*vehicles: str) -> list[bytes]:
    return [description(vehicle).encode() for vehicle in vehicles]


TARGETS = (
    Target('gazebo_system', _system, lambda: _descriptions(*VEHICLES), words=URDF_WORDS, form=XML),
    Target(
        'gazebo_bridge', _bridge, functools.partial(_descriptions, *_BRIDGED), words=URDF_WORDS,
        form=XML,
    ),
    Target(
        'gazebo_blocks', _outline,
        lambda: [bytes([o[0] | side]) + o[1:] for o in outlines() for side in (0, 128)],
        words=OUTLINE_WORDS,
    ),
    Target(
        'gazebo_settings', _settings,
        lambda: shipped('config/rov.yaml', 'config/rocket.yaml', 'config/thrusters.yaml'),
        words=('body.', 'drag_area:', 'displaced_volume:', 'vehicle:', '/**:', '.inf', '1e308',
               '-1'),
        form=YAML,
    ),
    Target('gazebo_host', _host, outlines, words=OUTLINE_WORDS),
)
