# SPDX-License-Identifier: Apache-2.0
"""Reads links and joints of a model in the simulator, and describes them as a robot."""
from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from propulsion_ros.models.common.rotation import rows_of, rpy_of, unit
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import IDENTITY, Joint, LinkTree, Pose
from propulsion_ros.urdf.reader import FILENAME
from propulsion_ros.urdf.xml import path_step

_ALONG = 1.0 - 1e-6
"""Least cosine between a shaft and the thrust along it."""
_SAME = 1e-9
"""Poses that differ by less are the same [m], [rad]."""
_WORLD = 'world'
_KINDS = {'FIXED': 'fixed', 'CONTINUOUS': 'continuous', 'REVOLUTE': 'revolute'}
_OTHER = 'prismatic'
"""Kind that stands for all others, which move a link but do not turn it about one axis."""
_UNLIMITED = 1e15
_ACROSS = np.array([1.0, 0.0, 0.0])
_SENSORS = {
    'imu': ('imu', 'Imu'), 'air_pressure': ('air-pressure', 'AirPressure'),
    'magnetometer': ('magnetometer', 'Magnetometer'), 'navsat': ('navsat', 'NavSat'),
    'altimeter': ('altimeter', 'Altimeter'),
}
"""Systems of gz-sim for the sensors that flight software reads, by a part of the sensor's name."""


@dataclass(frozen=True)
class SimulatedModel:
    """A model in the simulator, with its nested models, and with every joint at position 0."""

    name: str
    """Name of the model."""
    poses: Mapping[str, Pose]
    """Pose of each link in one frame, by its name."""
    ends: Sequence[Joint] = ()
    """Its joints, each with parent, child and axis in the child as in the simulator."""
    root: str = ''
    """The canonical link."""
    joints: Mapping[str, Joint] = field(init=False)
    """The joint that carries each link on the way from `root`, by the link."""

    def __post_init__(self) -> None:
        object.__setattr__(self, 'root', self.root or next(iter(self.poses), ''))
        object.__setattr__(self, 'joints', dict(self._outward()))

    def _outward(self) -> Iterator[tuple[str, Joint]]:
        """Yield the links that joints reach from the root, each with the joint."""
        reached, level = {self.root}, [self.root]
        while level:
            found = []
            for link in level:
                for joint in self.ends:
                    ends = {joint.parent: joint.child, joint.child: joint.parent}
                    other = ends.get(link, link)
                    if other not in reached and other in self.poses:
                        reached.add(other)
                        found.append(other)
                        yield other, self._turned(joint, link, other)
            level = found

    def _turned(self, joint: Joint, parent: str, child: str) -> Joint:
        """Return a joint with ``child`` as its child link."""
        axis = joint.axis
        if child != joint.child:
            axis = -self.place(joint.child, child).rotation @ axis
        return replace(
            joint, parent=parent, child=child, origin=self.place(child, parent), axis=axis
        )

    def place(self, link: str, other: str) -> Pose:
        """Return the pose of a link in another one."""
        return self.poses[other].inverse() @ self.poses[link]

    def missing(self, link: str, hint: str = '') -> SourceError:
        """Return the error of a link that is missing in the model."""
        has = ', '.join(self.poses) or 'none'
        return SourceError(f'link {link!r}', f'the model has no such link{hint}; it has: {has}')

    def robot(self) -> Element:
        """Return a robot description of the links and joints."""
        robot = Element('robot', name=self.name)
        for link in self.poses:
            SubElement(robot, 'link', name=link)
            if link != self.root:
                joint = self.joints.get(link) or Joint(
                    f'{link} is free', 'floating', self.root, link, self.place(link, self.root),
                    _ACROSS,
                )
                _add_joint(robot, joint)
        return robot


def _add_joint(robot: Element, joint: Joint) -> None:
    element = SubElement(robot, 'joint', name=joint.name, type=joint.kind)
    SubElement(element, 'parent', link=joint.parent)
    SubElement(element, 'child', link=joint.child)
    _set(element, 'origin', xyz=joint.origin.position, rpy=rpy_of(joint.origin.rotation))
    _set(element, 'axis', xyz=joint.axis)
    if joint.limits:
        lower, upper = map(repr, joint.limits)
        SubElement(element, 'limit', lower=lower, upper=upper, effort='0', velocity='0')


def _set(joint: Element, tag: str, **vectors: Iterable[float]) -> None:
    """Replace a part of a joint."""
    for old in joint.findall(tag):
        joint.remove(old)
    SubElement(joint, tag, {
        key: ' '.join(repr(float(value)) for value in vector) for key, vector in vectors.items()
    })


def placed_description(
    model: SimulatedModel, robot: Element | None, blocks: Sequence[Element]
) -> str:
    """Return a robot description whose places are those of a simulated model.

    Without ``robot`` the model itself is described. Links that are missing in the model keep their
    poses in the links that carry them. ``blocks`` are additional plugin blocks, each with a name.

    Raises
    ------
    SourceError
        For a block whose name is also in the description.
    """
    if robot is None:
        whole = model.robot()
    else:
        whole = copy.deepcopy(robot)
        _move(whole, model)
    given = {
        plugin.get('name') for plugin in whole.iterfind('gazebo/plugin')
        if plugin.get('filename') == FILENAME
    }
    for block in blocks:
        name = block.get('name')
        if name in given:
            raise SourceError(
                f'plugin/{path_step("actuators", name)}',
                'the robot description has a block of this name too, remove one',
            )
        plugin = SubElement(
            SubElement(whole, 'gazebo'), 'plugin', filename=FILENAME, name=name or ''
        )
        plugin.extend(list(block))
    return tostring(whole, encoding='unicode')


def _move(robot: Element, model: SimulatedModel) -> None:
    """Set the origins and axes of a description's joints to those of the model."""
    tree = LinkTree(robot)
    for element in robot.findall('joint'):
        joint = tree.joints[element.get('name', '')]
        parent, own = _placed(model, tree, joint.parent), _placed(model, tree, joint.child)
        if parent is None or own is None:
            continue
        origin = parent.inverse() @ own
        if max(distances(origin, joint.origin)) > _SAME:
            _set(element, 'origin', xyz=origin.position, rpy=rpy_of(origin.rotation))
        there = model.joints.get(joint.child)
        if there is not None and joint.turns and there.turns and (
            np.linalg.norm(joint.axis - there.axis) > _SAME
        ):
            _set(element, 'axis', xyz=there.axis)


def _placed(model: SimulatedModel, tree: LinkTree, link: str) -> Pose | None:
    """Return the pose of a link in the model, None if the model has no link that carries it."""
    pose = IDENTITY
    for joint in tree.joints_between(link, tree.root):
        if link in model.poses:
            break
        pose, link = joint.origin @ pose, joint.parent
    return model.poses[link] @ pose if link in model.poses else None


def distances(first: Pose, second: Pose) -> tuple[float, float]:
    """Return the distance of two poses [m], and the angle between them [rad]."""
    # Matrices that are an angle apart differ by sqrt(8) of the sine of its half.
    sine = float(np.linalg.norm(first.rotation - second.rotation)) / math.sqrt(8.0)
    angle = 2.0 * math.asin(min(sine, 1.0))
    return float(np.linalg.norm(first.position - second.position)), angle


def is_shaft(joint: Joint, axis: FloatArray) -> bool:
    """Whether a joint turns its link about a thrust along ``axis`` in that link, (3,).

    The bearings of a shaft take thrust and reaction torque, so both act on the link that carries
    it.
    """
    return joint.turns and abs(float(joint.axis @ axis)) > _ALONG


def carrier_of(
    model: SimulatedModel, tree: LinkTree, link: str, held: Collection[str],
    axis: FloatArray | None = None,
) -> tuple[str, Pose]:
    """Return the link of the model on which an actuator acts, and the pose of its own link there.

    That is its own link, or, if that is fixed to another one or turns on a shaft, the other link.

    ``link`` is that of the actuator in the description, ``tree`` the description placed as in the
    model; joints that are ``held`` count as fixed. ``axis`` is the thrust in the link, (3,).

    Raises
    ------
    SourceError
        If the model has neither the link nor one to which it is fixed.
    """
    pose, at = IDENTITY, link
    while True:
        is_there = at in model.poses
        above = tree.joints_between(at, tree.root)
        joint = model.joints.get(at) if is_there else next(iter(above), None)
        is_held = joint is not None and (
            joint.kind == 'fixed' or joint.name in held
            or (axis is not None and is_shaft(joint, pose.rotation @ axis))
        )
        if is_there and not is_held:
            return at, pose
        if joint is None:
            raise model.missing(at)
        if not is_held:
            raise model.missing(at, f', which {joint.kind} joint {joint.name!r} moves')
        pose, at = joint.origin @ pose, joint.parent


def array_of(vector: Any) -> FloatArray:
    """Return a vector of gz.math as an array."""
    return np.array([vector.x(), vector.y(), vector.z()])


def pose_of(pose: Any) -> Pose:
    """Return a pose of gz.math."""
    turn = pose.rot()
    rows = rows_of(unit((turn.x(), turn.y(), turn.z(), turn.w())))
    return Pose(np.array(rows), array_of(pose.pos()))


def read_model(
    gz: Any, model: Any, ecm: Any
) -> tuple[SimulatedModel, dict[str, int], dict[str, int]]:
    """Return a model with its nested models, and the entities of links and joints by name.

    Names in nested models are as in SDF: ``arm::tip``.
    """
    entities: dict[str, int] = {}
    joints: list[tuple[str, Any]] = []
    turning: dict[str, int] = {}
    level = [('', model)]
    while level:
        prefix, each = level.pop(0)
        for entity in each.links(ecm):
            entities[prefix + str(gz.Link(entity).name(ecm))] = entity
        for entity in each.joints(ecm):
            joints.append((prefix, gz.Joint(entity)))
            turning[prefix + str(joints[-1][1].name(ecm))] = entity
        level += [
            (f'{prefix}{nested.name(ecm)}::', nested)
            for nested in map(gz.Model, each.models(ecm))
        ]
    poses = {name: pose_of(gz.Link(entity).world_pose(ecm)) for name, entity in entities.items()}
    ends = [
        joint for prefix, given in joints for joint in _joint(prefix, given, ecm)
        if joint.parent in poses and joint.child in poses
    ]
    root = next((name for name, entity in entities.items() if entity == model.canonical_link(ecm)),
                '')
    return SimulatedModel(str(model.name(ecm)), poses, ends, root), entities, turning


def _joint(prefix: str, joint: Any, ecm: Any) -> Iterator[Joint]:
    parent, child = str(joint.parent_link_name(ecm)), str(joint.child_link_name(ecm))
    if _WORLD in (parent, child):
        return
    axis, limits = _ACROSS, None
    kind = _KINDS.get(getattr(joint.type(ecm), 'name', ''), _OTHER)
    if kind != 'fixed' and (axes := joint.axis(ecm)):
        turn = pose_of(joint.pose(ecm)).rotation
        axis = turn @ array_of(axes[0].xyz())
        limits = float(axes[0].lower()), float(axes[0].upper())
    if kind == 'revolute' and (limits is None or max(map(abs, limits)) > _UNLIMITED):
        kind, limits = 'continuous', None
    if kind != 'revolute' or limits is None or not all(map(math.isfinite, limits)):
        limits = None
    # The pose of the joint follows from its links.
    yield Joint(
        prefix + str(joint.name(ecm)), kind, prefix + parent, prefix + child, IDENTITY, axis, limits
    )


def element_of(sdf: Any) -> Element:
    """Return an sdf.Element as an Element of Python."""
    element = Element(str(sdf.get_name()), {
        str(each.get_key()): str(each.get_as_string()) for each in sdf.get_attributes()
    })
    value = sdf.get_value()
    element.text = str(value.get_as_string()) if value is not None else ''
    child = sdf.get_first_element()
    while child is not None:
        element.append(element_of(child))
        child = child.get_next_element('')
    return element


def place_of(sdf: Any) -> tuple[str, str]:
    """Return the file of a plugin, '' if it is not in a file, and ``:LINE`` or ''."""
    # gz-sim copies the element of the plugin without its place, so take that of a child.
    child = sdf.get_first_element()
    if child is None:
        return '', ''
    file, line = str(child.file_path()), child.line_number()
    return ('', '') if not file or file.startswith('<') else (file, f':{line}' if line else '')


class Rest:
    """Detects a model that is pushed but never moves."""

    def __init__(self) -> None:
        self._first: list[FloatArray] = []
        self._left_ns = 1_000_000_000

    def lasts(self, poses: Iterable[Pose], pushed_ns: int) -> str:
        """Return once a line, after the model was pushed for a second and no link has moved."""
        if self._left_ns <= 0:
            return ''
        now = [each for pose in poses for each in (pose.position, pose.rotation)]
        self._first = self._first or now
        if not all(map(np.array_equal, self._first, now)):
            self._left_ns = 0
            return ''
        self._left_ns -= pushed_ns
        return '' if self._left_ns > 0 else (
            'has not moved in the first second in which it was pushed; where it neither rests on '
            'something nor is joined to the world, the world has no '
            f'{_plugin("physics", "Physics")}, add it'
        )


def silent_sensors(gz: Any, links: Iterable[int], ecm: Any) -> Iterator[str]:
    """Yield a line for each sensor whose system is missing in the world.

    Parameters
    ----------
    gz : module
        gz.sim.
    links : iterable of int
        Entities of the links that may have sensors. gz-sim's Python does not have the type of a
        sensor, so its name has to contain it.
    ecm : gz.sim.EntityComponentManager
        State after some steps: the system of a sensor sets its topic in the first one.
    """
    for link in map(gz.Link, links):
        for sensor in map(gz.Sensor, link.sensors(ecm)):
            name = str(sensor.name(ecm))
            system = next((system for kind, system in _SENSORS.items() if kind in name), None)
            if system is not None and sensor.topic(ecm) is None:
                yield (
                    f'sensor {name!r} of link {str(link.name(ecm))!r} publishes nothing, because '
                    f'the world has no {_plugin(*system)}, add it'
                )


def _plugin(library: str, name: str) -> str:
    """Return the line in a world that adds a system."""
    return f'<plugin filename="gz-sim-{library}-system" name="gz::sim::systems::{name}"/>'
