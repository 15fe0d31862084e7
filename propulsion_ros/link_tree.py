"""The links and joints of a robot description, and where they are."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from scipy.spatial.transform import Rotation

from propulsion_ros.errors import SourceError
from propulsion_ros.quantity import FloatArray
from propulsion_ros.schema import suggestion

SIZE_LIMIT = 16 * 1024 * 1024
DEPTH_LIMIT = 64


def parse_urdf(xml: str) -> Element:
    """Return the root element of a robot description.

    Raises
    ------
    SourceError
        For text that is not XML, that has a DTD or entities, or that is too large or too deep.
    """
    if len(xml) > SIZE_LIMIT:
        raise SourceError('robot', f'{len(xml)} characters, expected at most {SIZE_LIMIT}')
    if '<' not in xml:
        raise SourceError('robot', f'expected the text of a URDF, got {xml[:60]!r}')
    try:
        root: Element = fromstring(xml, forbid_dtd=True)
    except DefusedXmlException as error:
        kind = type(error).__name__
        raise SourceError('robot', f'DTDs and entities are refused ({kind})') from error
    except (ParseError, ValueError, RecursionError) as error:
        raise SourceError('robot', f'not well-formed XML: {error}') from error
    if root.tag != 'robot':
        raise SourceError(root.tag, 'expected <robot> as the root element')
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > DEPTH_LIMIT:
            raise SourceError('robot', f'elements are nested deeper than {DEPTH_LIMIT}')
        level = [child for element in level for child in element]
    return root


def numbers(text: str | None, path: str, count: int | None = None) -> list[float]:
    """Return the finite numbers of a whitespace-separated text.

    Raises
    ------
    SourceError
        Naming ``path``, for what is not a number or the wrong count.
    """
    values = []
    for word in (text or '').split():
        try:
            value = float(word)
        except ValueError:
            raise SourceError(path, f'expected a number, got {word!r}') from None
        if not np.isfinite(value):
            raise SourceError(path, f'{word} is not finite')
        values.append(value)
    if count is not None and len(values) != count:
        raise SourceError(path, f'expected {count} numbers, got {len(values)}')
    return values


@dataclass(frozen=True)
class Pose:
    """Where a frame is: p_base = rotation @ p_frame + position."""

    rotation: FloatArray
    position: FloatArray

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(
            self.rotation @ other.rotation, self.rotation @ other.position + self.position
        )

    def inverse(self) -> Pose:
        """Return the pose of the base in the frame."""
        return Pose(self.rotation.T, -(self.rotation.T @ self.position))


IDENTITY = Pose(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Joint:
    """One joint: ``origin`` is the pose of the child link in the parent link at position 0."""

    name: str
    parent: str
    child: str
    origin: Pose
    axis: FloatArray


def _origin(element: Element, path: str) -> Pose:
    origin = element.find('origin')
    if origin is None:
        return IDENTITY
    xyz = numbers(origin.get('xyz', '0 0 0'), f'{path}/origin/@xyz', 3)
    rpy = numbers(origin.get('rpy', '0 0 0'), f'{path}/origin/@rpy', 3)
    return Pose(Rotation.from_euler('xyz', rpy).as_matrix(), np.array(xyz))


class LinkTree:
    """The kinematic tree of a robot description with every joint at position 0.

    Parameters
    ----------
    robot : Element
        The root element.

    Raises
    ------
    SourceError
        For joints without ends, links with two parents, loops, or several roots.
    """

    def __init__(self, robot: Element) -> None:
        self._links = {_name(link, 'robot/link'): link for link in robot.findall('link')}
        self._joints: dict[str, Joint] = {}
        self._parent: dict[str, Joint] = {}
        for element in robot.findall('joint'):
            joint = self._read(element)
            self._joints[joint.name] = joint
            if joint.child in self._parent:
                raise SourceError(
                    f'robot/joint[name={joint.name}]/child',
                    f'link {joint.child!r} already has a parent',
                )
            self._parent[joint.child] = joint
        roots = [link for link in self._links if link not in self._parent]
        if len(roots) != 1:
            found = ', '.join(roots[:4]) or 'none'
            raise SourceError('robot', f'expected one root link, got {len(roots)}: {found}')
        self.root = roots[0]
        for link in self._links:
            self._to_root(link)

    def _read(self, element: Element) -> Joint:
        path = f'robot/joint[name={_name(element, "robot/joint")}]'
        ends = []
        for tag in ('parent', 'child'):
            end = element.find(tag)
            link = None if end is None else end.get('link')
            if link is None:
                raise SourceError(f'{path}/{tag}', 'expected a link attribute')
            self.require_link(link, f'{path}/{tag}')
            ends.append(link)
        axis = element.find('axis')
        xyz = '1 0 0' if axis is None else axis.get('xyz', '1 0 0')
        vector = np.array(numbers(xyz, f'{path}/axis/@xyz', 3))
        length = float(np.linalg.norm(vector))
        if length < 1e-12:
            raise SourceError(f'{path}/axis/@xyz', 'expected a direction, got length 0')
        return Joint(
            element.get('name', ''), ends[0], ends[1], _origin(element, path), vector / length
        )

    def _to_root(self, link: str) -> Pose:
        pose, steps = IDENTITY, 0
        while link in self._parent:
            joint = self._parent[link]
            pose = joint.origin @ pose
            link = joint.parent
            steps += 1
            if steps > len(self._joints):
                raise SourceError(f'robot/link[name={link}]', 'its joints form a loop')
        return pose

    def require_link(self, link: str, path: str) -> str:
        """Return ``link``, or raise `SourceError` naming ``path`` where there is none."""
        if link not in self._links:
            raise SourceError(path, f'unknown link {link!r}{suggestion(link, self._links)}')
        return link

    def joint(self, name: str, path: str) -> Joint:
        """Return a joint, or raise `SourceError` naming ``path`` where there is none."""
        if name not in self._joints:
            raise SourceError(path, f'unknown joint {name!r}{suggestion(name, self._joints)}')
        return self._joints[name]

    def pose(self, link: str, base_link: str) -> Pose:
        """Return the pose of ``link`` in ``base_link``."""
        return self._to_root(base_link).inverse() @ self._to_root(link)

    def inertials(self, base_link: str) -> Iterator[tuple[float, FloatArray, FloatArray]]:
        """Yield mass [kg], centre of mass [m] and inertia about it [kg m^2] of each link.

        All in ``base_link``; links without an <inertial> are left out.
        """
        for name, link in self._links.items():
            inertial = link.find('inertial')
            if inertial is None:
                continue
            path = f'robot/link[name={name}]/inertial'
            pose = self.pose(name, base_link) @ _origin(inertial, path)
            mass = _attribute(inertial, 'mass', 'value', path)
            entries = {
                key: _attribute(inertial, 'inertia', key, path)
                for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
            }
            tensor = np.array([
                [entries['ixx'], entries['ixy'], entries['ixz']],
                [entries['ixy'], entries['iyy'], entries['iyz']],
                [entries['ixz'], entries['iyz'], entries['izz']],
            ])
            yield mass, pose.position, pose.rotation @ tensor @ pose.rotation.T


def _attribute(element: Element, tag: str, key: str, path: str) -> float:
    child: Any = element.find(tag)
    if child is None:
        raise SourceError(f'{path}/{tag}', 'is missing')
    return numbers(child.get(key, '0'), f'{path}/{tag}/@{key}', 1)[0]


def _name(element: Element, path: str) -> str:
    name = element.get('name')
    if not name:
        raise SourceError(path, 'expected a name attribute')
    return name
