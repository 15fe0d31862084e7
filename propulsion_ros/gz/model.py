# SPDX-License-Identifier: Apache-2.0
"""Makes the robot description for Gazebo, and finds what Gazebo would refuse without a reason."""
from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import located, read_description
from propulsion_ros.gz.bridge import FORTRESS, GZ, BridgeTopic, Release, body_topic
from propulsion_ros.gz.joint_drives import Group, drive, held_joints, read_groups, rigid_root
from propulsion_ros.gz.sdf_elements import (
    add_body,
    clearance,
    insert,
    plugin,
    read_body,
    system_plugin,
)
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.settings.errors import FIRST, ConfigError, Faults, SourceError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import LinkTree
from propulsion_ros.urdf.reader import FILENAME, actuators_from_urdf, family_of
from propulsion_ros.urdf.xml import parse_urdf, path_step

ROUTES = ('system', 'bridge')
"""Models run inside gz-sim, or in nodes that drive its Thruster and JointPositionController."""

_RATE = 100
"""Rate of sensors and odometry [Hz]."""
_MOVING_TAGS = ('axis', 'limit', 'dynamics', 'mimic', 'safety_controller', 'calibration')
_RESERVED = re.compile(r'__.*__|world')
_LIMITED = ('revolute', 'prismatic')
_BOUNDS = ('effort', 'velocity')
_INERTIAL = (
    '<inertial><mass value="..."/><inertia ixx="..." iyy="..." izz="..." ixy="0" ixz="0" '
    'iyz="0"/></inertial>'
)


@dataclass(frozen=True)
class GazeboRobot:
    """A robot for Gazebo and its bridge."""

    name: str
    """Name of the model."""
    description: str
    """URDF."""
    topics: tuple[BridgeTopic, ...]
    """Topics of the bridge, except the clock."""
    notes: tuple[str, ...]
    """Features that are left out, a line each."""
    clearance: float
    """Height of base_link above the ground as the upright robot stands on its shapes [m]."""


def gazebo_robot(
    model: str | Path,
    route: str = 'system',
    params_files: Sequence[str | Path] = (),
    namespace: str = '',
    release: Release = GZ,
    name: str = '',
    faults: Faults = FIRST,
) -> GazeboRobot:
    """Return a robot for Gazebo.

    Systems of gz-sim replace the plugin blocks, which gz-sim would take for its own. The propellant
    at the start becomes the mass of additional links, for gz-sim reads masses once. Raises
    `ConfigError` for any fault, and with 'bridge' if gz-sim's own systems cannot do what an
    actuator does.

    Parameters
    ----------
    model : str or Path
        Its .urdf or .xacro file, with plugin blocks, or the ``package://`` address of it.
    route : str
        One of `ROUTES`. With 'system' shafts, and joints that actuators turn themselves, are
        fixed, since the actuator models simulate them. So are joints that move links without mass,
        which Gazebo would drop.
    params_files : sequence of str or Path
        Parameter files of the nodes; later ones win.
    namespace : str
        Namespace of the nodes.
    release : Release
        Release of Gazebo.
    name : str
        Name of the model, which is in its topics in Gazebo; empty for that of the description,
        after the namespace if there is one. Two models of one description need two names.
    faults : Faults
        Takes the faults for which Gazebo refuses the description.
    """
    if route == 'system' and release is FORTRESS:
        raise ConfigError('route', "'system' needs Harmonic or later, Fortress takes 'bridge'")
    text = read_description(located(model)).text
    root = copy.deepcopy(parse_urdf(text))
    tree = LinkTree(root)
    specs = actuators_from_urdf(text, loop_params_of)
    groups = list(read_groups(specs, params_files, namespace))
    if not groups:
        raise SourceError(str(model), 'no plugin block whose actuators push')
    base_link = groups[0].spec.base_link
    name = name or '_'.join([*namespace.split('/'), root.get('name') or 'robot']).strip('_')
    root.set('name', name)
    _remove_blocks(root)
    for group in groups:
        _add_propellant(root, group)
    topics, notes = [
        body_topic('odometry', Kind.ODOMETRY, name, 'odometry', 'Odometry'),
        body_topic('imu', Kind.IMU, name, 'imu', 'IMU'),
        body_topic('pressure', Kind.PRESSURE, name, 'air_pressure', 'FluidPressure'),
    ], []
    if route == 'system':
        _fix_joints(root, tree, groups)
        insert(root, system_plugin(model, params_files, namespace))
    else:
        topics.append(
            body_topic('joint_states', Kind.JOINTS, name, 'joint_state', 'Model')
        )
        insert(root, plugin(
            'joint-state-publisher', 'JointStatePublisher', topic=topics[-1].gz_topic
        ))
        for group in groups:
            topics += drive(root, tree, name, group)
            if group.left_out:
                notes.append(f'{group.spec.name}: without {group.left_out}')
    insert(root, plugin(
        'odometry-publisher', 'OdometryPublisher', odom_frame='odom',
        robot_base_frame=base_link, odom_publish_frequency=_RATE, dimensions=3,
    ))
    for kind in ('imu', 'air_pressure'):
        insert(root, _sensor(kind, name, base_link, release), base_link)
    for error in refusals(root):
        faults.add(error)
    notes += add_body(root, tree, base_link, read_body(params_files, namespace))
    return GazeboRobot(
        name, tostring(root, encoding='unicode'), tuple(topics), tuple(notes),
        clearance(root, tree, base_link),
    )


def _remove_blocks(root: Element) -> None:
    for extension in root.findall('gazebo'):
        for block in extension.findall('plugin'):
            filename = block.get('filename', '')
            if filename == FILENAME or family_of(filename):
                extension.remove(block)
        if not len(extension):
            root.remove(extension)


def _sensor(kind: str, model: str, frame: str, release: Release) -> Element:
    sensor = Element('sensor', name=kind, type=kind)
    for tag, value in (
        ('always_on', 1), ('update_rate', _RATE), ('topic', f'/model/{model}/{kind}'),
        (release.frame_tag, frame),
    ):
        SubElement(sensor, tag).text = str(value)
    return sensor


def _add_propellant(root: Element, group: Group) -> None:
    """Add a link, fixed to base_link, for the propellant of each tank."""
    tanks = group.output.tanks
    if tanks is None:
        return
    for i, tank in enumerate(group.family.tank_names):
        if tanks.mass[i] > 0.0:
            link = f'{group.spec.name}_{tank}_propellant'
            _require_free(root, link)
            _add_mass(root, link, group.spec.base_link, tanks.mass[i], tanks.com[i],
                      tanks.inertia[i])


def _require_free(root: Element, link: str) -> None:
    """Refuse a description that already has the name of an added link or of its joint."""
    for kind, name in (('link', link), ('joint', f'{link}_joint')):
        if any(element.get('name') == name for element in root.findall(kind)):
            raise SourceError(
                f'robot/{path_step(kind, name)}', "is the name that a tank's propellant gets"
            )


def _add_mass(
    root: Element, name: str, base_link: str, mass: float, com: FloatArray, inertia: FloatArray
) -> None:
    joint = SubElement(root, 'joint', name=f'{name}_joint', type='fixed')
    SubElement(joint, 'parent', link=base_link)
    SubElement(joint, 'child', link=name)
    inertial = SubElement(SubElement(root, 'link', name=name), 'inertial')
    SubElement(inertial, 'origin', xyz=' '.join(map(repr, com.tolist())))
    SubElement(inertial, 'mass', value=repr(float(mass)))
    SubElement(inertial, 'inertia', {
        f'i{"xyz"[i]}{"xyz"[j]}': repr(float(inertia[i, j])) for i in range(3) for j in range(i, 3)
    })


def _fix_joints(root: Element, tree: LinkTree, groups: Sequence[Group]) -> None:
    """Fix joints that actuators turn, shafts of actuators, and joints of links without mass."""
    fixed = held_joints(root, tree, groups)
    for element in root.findall('joint'):
        if element.get('name') in fixed:
            element.set('type', 'fixed')
            for tag in _MOVING_TAGS:
                for child in element.findall(tag):
                    element.remove(child)


def refusals(root: Element) -> Iterator[SourceError]:
    """Yield the faults for which libsdformat refuses a robot description, with a remedy."""
    tree = LinkTree(root)
    yield from _of_names(root, tree)
    yield from _of_joints(root)
    masses: dict[str, list[MassProperties]] = {}
    massive = [each for each in root.findall('link') if each.find('inertial') is not None]
    for link, (_, mass) in zip(massive, tree.inertials(tree.root), strict=True):
        masses.setdefault(rigid_root(tree, link.get('name', '')), []).append(mass)
    for name in {tree.root: None, **masses}:
        path, total = f'robot/{path_step("link", name)}', MassProperties.total(masses.get(name, []))
        if total.mass <= 0.0 and name == tree.root:
            yield SourceError(path, (
                'neither it nor a link that is fixed to it has a mass, and Gazebo refuses such a '
                f'robot; write {_INERTIAL}'
            ))
        moments = np.linalg.eigvalsh(total.inertia).tolist()
        if moments[0] + moments[1] < moments[2] * (1.0 - 1e-9):
            shown = ', '.join(f'{moment:.4g}' for moment in moments)
            yield SourceError(f'{path}/inertial', (
                f'its principal moments, with all that is fixed to it, are {shown} kg m^2: Gazebo '
                'refuses a largest one above the sum of the others, which no body has; correct '
                '<inertia>'
            ))


def _of_names(root: Element, tree: LinkTree) -> Iterator[SourceError]:
    for element in (root, *root.findall('link'), *root.findall('joint')):
        name = element.get('name', '')
        is_world = name == 'world' and element.tag == 'link' and name == tree.root
        if _RESERVED.fullmatch(name) and not is_world:
            path = f'robot/{path_step(element.tag, name)}' if element is not root else 'robot/@name'
            yield SourceError(path, f'Gazebo keeps the name {name!r} for itself, rename it')
    links = {link.get('name') for link in root.findall('link')}
    for joint in root.findall('joint'):
        # A fixed joint that libsdformat merges leaves a frame of its name, from 12.7 on.
        if joint.get('name') in links:
            yield SourceError(f'robot/{path_step("joint", joint.get("name"))}', (
                'Gazebo refuses a joint that has the name of a link, rename one'
            ))


def _of_joints(root: Element) -> Iterator[SourceError]:
    for joint in root.findall('joint'):
        path, kind, limit = (
            f'robot/{path_step("joint", joint.get("name"))}', joint.get('type'), joint.find('limit')
        )
        if kind == 'planar':
            yield SourceError(f'{path}/@type', 'Gazebo has no planar joints; expected another type')
        missing = [key for key in _BOUNDS if limit is None or limit.get(key) is None]
        if kind in _LIMITED and missing:
            yield SourceError(f'{path}/limit', (
                f'Gazebo refuses a {kind} joint without {" and ".join(missing)} in its <limit>; '
                'write <limit lower="..." upper="..." effort="..." velocity="..."/>'
            ))
