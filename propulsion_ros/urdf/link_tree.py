# SPDX-License-Identifier: Apache-2.0
"""The links and joints of a robot description, and their poses."""
from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.common.rotation import matrix_of_rpy
from propulsion_ros.settings.errors import FIRST, Faults, FollowingError, SourceError
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.xml import name_of, numbers, parse_urdf, path_step

TURNING = ('revolute', 'continuous')
_LOOSE = ('floating', 'planar')
_KINDS = ('fixed', *TURNING, 'prismatic', *_LOOSE)

CHAIN_LIMIT = 1000
"""Most joints between a link and the root."""

_SHOWN = 4
"""Joints of a loop, or names, that errors show."""
_OFTEN_ZERO = ('ixy', 'ixz', 'iyz')
"""Attributes that are 0 if they are left out."""

_LARGEST = 1e9
"""Largest size of every length, angle, mass and moment of inertia, so that no product overflows."""


@dataclass(frozen=True)
class Pose:
    """Pose of a frame in a base: p_base = rotation @ p_frame + position."""

    rotation: FloatArray
    position: FloatArray

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(
            self.rotation @ other.rotation, self.rotation @ other.position + self.position
        )

    def at(self, points: FloatArray) -> FloatArray:
        """Return points of the frame, (m, 3), in the base."""
        return np.asarray(points @ self.rotation.T + self.position)

    def inverse(self) -> Pose:
        """Return the pose of the base in the frame."""
        return Pose(self.rotation.T, -(self.rotation.T @ self.position))


IDENTITY = Pose(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Joint:
    """One joint."""

    name: str
    kind: str
    parent: str
    child: str
    """Names and type as in the description."""
    origin: Pose
    """Pose of the child link in the parent link at position 0."""
    axis: FloatArray
    """Unit vector in the child link, (3,)."""
    limits: tuple[float, float] | None = None
    """Lower and upper end of a revolute or prismatic joint [rad or m]."""
    mimics: str = ''
    """Joint that it follows, '' for none."""
    speed_limit: str = ''
    """Text of the velocity in its <limit> [rad/s or m/s], '' for none."""

    @property
    def path(self) -> str:
        """XML path of the joint."""
        return f'robot/{path_step("joint", self.name)}'

    @property
    def turns(self) -> bool:
        """Whether the joint turns about its axis."""
        return self.kind in TURNING

    @property
    def is_loose(self) -> bool:
        """Whether the joint has no single position 0: a floating or planar joint."""
        return self.kind in _LOOSE


class LinkTree:
    """The kinematic tree of a robot description with every joint at position 0.

    Names of links and joints may be named without their namespace, as long as only one fits:
    ``base_link`` finds ``rov/base_link``. Raises `SourceError` for joints without ends, links or
    joints of one name, links with two parents, loops, chains that are too long, or several roots.
    A joint that closes a loop is left out, so that every walk from a link to its parents ends.

    Attributes
    ----------
    root : str
        The link without a parent, '' if there is no link.
    joints : dict
        Joints by name, in the order of the description.
    """

    def __init__(self, robot: Element, faults: Faults = FIRST) -> None:
        self._links: dict[str, Element] = {}
        for element in robot.findall('link'):
            with faults.kept():
                self._add_link(element)
        self._ends = Counter(
            end.get('link', '') for joint in robot.findall('joint') for end in joint
        )
        self.joints: dict[str, Joint] = {}
        self._parent: dict[str, Joint] = {}
        self._left_out: set[str] = set()
        self._tops: dict[str, str] = {}
        for element in robot.findall('joint'):
            self._left_out.add(element.get('name', ''))
            with faults.kept():
                self._add_joint(_read_joint(element, self._links, self._ends, faults))
        roots = [link for link in self._links if link not in self._parent]
        self.root = next(iter([*roots, *self._links]), '')
        if len(roots) != 1 and not self._left_out:
            found = ', '.join(map(repr, roots[:4])) or 'none'
            found += ', ...' * (len(roots) > 4)
            faults.add(SourceError(
                'robot', f'expected one root link, got {len(roots)}: {found}'
                + '; join them by <joint>s' * (len(roots) > 1)
            ))
        self._poses = self._poses_in_root(roots)

    def _add_link(self, element: Element) -> None:
        name = name_of(element, 'robot/link')
        if name in self._links:
            raise SourceError(f'robot/{path_step("link", name)}', 'is named twice, rename one')
        self._links[name] = element

    def _add_joint(self, joint: Joint) -> None:
        if joint.name in self.joints:
            raise SourceError(joint.path, 'is named twice, rename one')
        first = self._parent.get(joint.child)
        if first:
            remedy = '; remove one joint'
            if self._ends[joint.parent] == 1:
                remedy = f'; swap <parent> and <child>: {joint.parent!r} hangs on no joint'
            near = suggestion(joint.child, self._links.keys() - self._ends.keys())
            raise SourceError(
                f'{joint.path}/child', f'link {joint.child!r} already has a parent, '
                f'{first.parent!r} by joint {first.name!r}{near or remedy}'
            )
        if self._top(joint.parent) == joint.child:
            raise SourceError(joint.path, f'closes a loop: {self._loop(joint)}; remove one joint')
        self.joints[joint.name] = joint
        self._parent[joint.child] = joint
        self._tops[joint.child] = joint.parent
        self._left_out.discard(joint.name)

    def _top(self, link: str) -> str:
        """Return the link without a parent that carries a link, with path compression."""
        way = []
        while link in self._tops:
            way.append(link)
            link = self._tops[link]
        self._tops.update(dict.fromkeys(way, link))
        return link

    def _loop(self, last: Joint) -> str:
        """Return the links and joints of the loop that a joint closes, as a phrase."""
        way = [last, *itertools.islice(self._above(last.parent), _SHOWN)]
        words = [f'{joint.child!r} on {joint.parent!r} by joint {joint.name!r}' for joint in way]
        return ', '.join(words if len(words) <= _SHOWN else [*words[:_SHOWN], '...'])

    def _poses_in_root(self, roots: list[str]) -> dict[str, Pose]:
        below: dict[str, list[Joint]] = {}
        for joint in self.joints.values():
            below.setdefault(joint.parent, []).append(joint)
        poses, level, depth = dict.fromkeys(roots, IDENTITY), roots, 0
        while level:
            carried = [joint for link in level for joint in below.get(link, ())]
            for joint in carried:
                poses[joint.child] = poses[joint.parent] @ joint.origin
            level, depth = [joint.child for joint in carried], depth + 1
            if carried and depth > CHAIN_LIMIT:
                raise SourceError(
                    carried[0].path, f'its link hangs on more than {CHAIN_LIMIT} joints in a row'
                )
        return poses

    def require_link(self, link: str, path: str) -> str:
        """Return the full name of a link, or raise `SourceError` with ``path``."""
        if link in self.joints and link not in self._links:
            raise SourceError(path, f'{link!r} is a joint, expected a link; write <joint>')
        return _require('link', link, self._links, path)

    def joint(self, name: str, path: str) -> Joint:
        """Return a joint, or raise `SourceError` with ``path`` if there is none."""
        if name in self._left_out:
            raise FollowingError(path, f'joint {name!r} has a fault')
        if name in self._links and name not in self.joints:
            mover = self._parent.get(name)
            raise SourceError(path, f'{name!r} is a link, expected a joint' + (
                f'; joint {mover.name!r} carries it' if mover else ''
            ))
        return self.joints[_require('joint', name, self.joints, path)]

    def pose(self, link: str, base_link: str) -> Pose:
        """Return the pose of ``link`` in ``base_link``."""
        return self._poses[base_link].inverse() @ self._poses[link]

    def joints_between(self, link: str, base_link: str) -> list[Joint]:
        """Return the joints that carry ``link`` on its way to ``base_link``, nearest first."""
        mine, other = list(self._above(link)), list(self._above(base_link))
        while mine and other and mine[-1] is other[-1]:
            mine.pop()
            other.pop()
        return [*mine, *reversed(other)]

    def _above(self, link: str) -> Iterator[Joint]:
        """Yield the joints that carry a link, nearest first."""
        while link in self._parent:
            yield self._parent[link]
            link = self._parent[link].parent

    def inertials(
        self, base_link: str, faults: Faults = FIRST
    ) -> Iterator[tuple[str, MassProperties]]:
        """Yield path and mass, in ``base_link``, of each <inertial>.

        ``faults`` takes the faults of masses that no body can have.
        """
        for name, link in self._links.items():
            inertial = link.find('inertial')
            if inertial is not None:
                path = f'robot/{path_step("link", name)}/inertial'
                with faults.kept():
                    yield path, _mass_of(inertial, path, self.pose(name, base_link))


@functools.lru_cache(maxsize=2)
def tree_of(xml: str) -> LinkTree:
    """Return the links and joints of a robot description, cached for several readers."""
    return LinkTree(parse_urdf(xml))


def _mass_of(inertial: Element, path: str, link: Pose) -> MassProperties:
    pose = link @ origin_of(inertial, path)
    mass = _attribute(inertial, 'mass', 'value', path)
    xx, xy, xz, yy, yz, zz = (
        _attribute(inertial, 'inertia', key, path)
        for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    )
    if mass < 0.0:
        raise SourceError(f'{path}/mass/@value', f'{mass:g} is below 0 kg; write {-mass:g}')
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    found = MassProperties(mass, pose.position, pose.rotation @ tensor @ pose.rotation.T)
    if not found.is_possible:
        moments = ', '.join(f'{moment:.4g}' for moment in np.linalg.eigvalsh(tensor))
        raise SourceError(f'{path}/inertia', (
            f'its principal moments are {moments} kg m^2, expected none below 0; '
            'ixx, iyy and izz are above 0 and the others small beside them'
        ))
    return found


def _require(kind: str, name: str, known: Collection[str], path: str) -> str:
    """Return the known name that is meant, or raise `SourceError`."""
    if name in known:
        return name
    near = [full for full in known if name and full.endswith(f'/{name}')]
    if len(near) > 1:
        raise SourceError(path, f'{kind} {name!r} may be {near[0]!r} or {near[1]!r}')
    if not near:
        some = ', '.join(itertools.islice(known, _SHOWN)) + ', ...' * (len(known) > _SHOWN)
        hint = suggestion(name, known) or f', known: {some or "none"}'
        raise SourceError(path, f'unknown {kind} {name!r}{hint}')
    return near[0]


def _read_joint(
    element: Element, links: Collection[str], ends: Collection[str], faults: Faults
) -> Joint:
    """Return a joint; a wrong kind or number is reported and ignored."""
    name = name_of(element, 'robot/joint')
    path = f'robot/{path_step("joint", name)}'
    kind = element.get('type', '')
    if kind not in _KINDS:
        near = suggestion(kind, _KINDS)
        faults.add(SourceError(
            f'{path}/@type', f'expected one of {", ".join(_KINDS)}, got {kind!r}{near}'
        ))
    parent, child = _end(element, 'parent', path, links), _end(element, 'child', path, links, ends)
    origin, axis, limits = IDENTITY, np.array([1.0, 0.0, 0.0]), None
    with faults.kept():
        origin = origin_of(element, path)
    with faults.kept():
        axis = _axis(element, path)
    limit = element.find('limit')
    with faults.kept():
        if limit is not None and kind in ('revolute', 'prismatic'):
            lower, upper = (
                numbers(limit.get(key, '0'), f'{path}/limit/@{key}', 1)[0]
                for key in ('lower', 'upper')
            )
            limits = lower, upper
        elif kind == 'revolute':
            faults.warn(path, (
                'is revolute without <limit>, so that other readers of URDF refuse it and its '
                'angle has no bounds here; write <limit lower="..." upper="..." effort="..." '
                'velocity="..."/>, or make it continuous'
            ))
    mimic = element.find('mimic')
    mimics = '' if mimic is None else mimic.get('joint', '')
    speed = '' if limit is None else limit.get('velocity', '')
    return Joint(name, kind, parent, child, origin, axis, limits, mimics, speed)


def _end(
    element: Element, tag: str, path: str, links: Collection[str], taken: Collection[str] = ()
) -> str:
    """Return the link at one end of a joint; never suggest one of ``taken`` for a misspelt one."""
    end = element.find(tag)
    link = None if end is None else end.get('link')
    if link is None:
        raise SourceError(f'{path}/{tag}', 'expected a link attribute')
    if link not in links:
        near = suggestion(link, [each for each in links if each not in taken])
        near = near or f'; add <link name="{link}">'
        raise SourceError(f'{path}/{tag}', f'unknown link {link!r}{near}')
    return link


def origin_of(element: Element, path: str) -> Pose:
    """Return the pose in the <origin> of an element at a path, or the identity without one."""
    origin = element.find('origin')
    if origin is None:
        return IDENTITY
    xyz = numbers(origin.get('xyz', '0 0 0'), f'{path}/origin/@xyz', 3, _LARGEST)
    rpy = numbers(origin.get('rpy', '0 0 0'), f'{path}/origin/@rpy', 3, _LARGEST)
    return Pose(matrix_of_rpy(rpy), np.array(xyz))


def _axis(element: Element, path: str) -> FloatArray:
    axis = element.find('axis')
    xyz = '1 0 0' if axis is None else axis.get('xyz', '1 0 0')
    vector = np.array(numbers(xyz, f'{path}/axis/@xyz', 3, _LARGEST))
    length = float(np.linalg.norm(vector))
    if length < 1e-12:
        raise SourceError(
            f'{path}/axis/@xyz', 'expected a direction, got length 0; write 0 0 1, say'
        )
    return vector / length


def _attribute(element: Element, tag: str, key: str, path: str) -> float:
    child = element.find(tag)
    if child is None:
        raise SourceError(f'{path}/{tag}', f'is missing; write <{tag} {key}="NUMBER" .../>')
    text = child.get(key)
    if text is None and key not in _OFTEN_ZERO:
        raise SourceError(f'{path}/{tag}/@{key}', (
            f'is missing; write <{tag} {key}="{(child.text or "").strip() or "NUMBER"}" .../>'
        ))
    return numbers(text or '0', f'{path}/{tag}/@{key}', 1, _LARGEST)[0]
