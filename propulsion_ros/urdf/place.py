# SPDX-License-Identifier: Apache-2.0
"""Finds the joints and links of the rows of a plugin block, and the values that they give."""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import Quantity
from propulsion_ros.urdf.link_tree import Joint, LinkTree, Pose
from propulsion_ros.urdf.xml import Tag, numbers

NAMES_EXPR = 'names_expr'
"""Tag of an expression that selects joints."""
LENGTH_LIMIT = 200
"""Most characters of an expression."""
STEP_LIMIT = 10_000_000
"""Most ways that the matcher may have to try for all names together."""
_FEW = 5
"""Number of joints that an error lists."""

_TOKENS = re.compile(
    r'(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<repeat>[*+]|\{[^}]*\})[?+]?'
    r'|(?P<maybe>\?)[?+]?|(?P<special>\(\?(?!:))|(?P<end>\))|(?P<bar>\|)|(?P<other>.)',
    re.DOTALL,
)
_NESTED = re.compile(r'\[|--|&&|~~|\|\|')
"""Characters that Python reserves in a character class for nested sets."""


@dataclass(frozen=True)
class Place:
    """Link, joints and poses of one row of a plugin block."""

    link: str
    """Link on which the actuator acts, '' for a row of joints alone."""
    pose: Pose
    """Pose of the link in base_link."""
    joints: list[Joint]
    """Joints that the row names."""
    joint_poses: list[Pose]
    """Poses of their child links in base_link."""

    def role(self, role: str, own: Any) -> Any:
        """Return the value of a field with this geometry role; ``own`` is its tag or default."""
        if role == 'origin':
            return self.pose.position.tolist()
        if role == 'rotation':
            return self.pose.rotation.ravel().tolist()
        if role == 'direction':
            return (self.pose.rotation @ np.asarray(own)).tolist()
        if role == 'link':
            return self.link
        if role == 'joints':
            return [joint.name for joint in self.joints]
        if role == 'joint_origins':
            return [x for pose in self.joint_poses for x in pose.position.tolist()]
        if role == 'joint_axes':
            pairs = zip(self.joint_poses, self.joints, strict=True)
            return [x for pose, joint in pairs for x in (pose.rotation @ joint.axis).tolist()]
        raise ValueError(f'unknown geometry role {role!r}')

    def from_joint(self, facts: FamilyFacts) -> dict[str, tuple[Any, str]]:
        """Return parameters, with their paths, that the row's joint gives if no tag does."""
        if len(self.joints) != 1 or not self.joints[0].turns:
            return {}
        joint = self.joints[0]
        found: dict[str, tuple[Any, str]] = {}
        if facts.joint_axis:
            found[facts.joint_axis] = joint.axis.tolist(), f'{joint.path}/axis/@xyz'
        if facts.joint_limits and joint.limits:
            ends = ('lower', 'upper')
            for key, value, end in zip(facts.joint_limits, joint.limits, ends, strict=True):
                found[key] = value, f'{joint.path}/limit/@{end}'
        return found


@dataclass
class Placer:
    """Places the rows of one plugin block: all geometry is in ``base_link``."""

    tree: LinkTree
    """The robot."""
    base_link: str
    """Frame of all geometry."""
    actuated: set[str] = field(default_factory=set)
    """Joints of actuators that were placed so far."""
    slides: list[str] = field(default_factory=list)
    """A line for each joint that slides."""
    _own: set[str] = field(default_factory=set)
    _passed: dict[tuple[str, bool], tuple[str, str, str]] = field(default_factory=dict)

    def place(self, row: Tag, roles: Mapping[str, Quantity]) -> Place:
        """Return the place of a row, from its <joint> and <link>.

        Raises `SourceError` for an unknown, unsuitable or missing joint or link.

        Parameters
        ----------
        roles : mapping
            Fields of its class that have a role in geometry.
        """
        tags = row.all('joint')
        joints = [self.tree.joint(tag.text, tag.path) for tag in tags]
        for tag, joint in zip(tags, joints, strict=True):
            self._check_commanded(joint, tag.path)
        # A part that joints turn names as many as its fields have; others need only a place.
        count = max(
            (int(spec.shape[1]) for spec in roles.values() if spec.geometry.startswith('joint')),
            default=0,
        )
        if count:
            self._own.update(joint.name for joint in joints)
            self._check_axes(row, tags, joints, count)
            link, path = joints[-1].child, tags[-1].path
        else:
            row.one('joint')
            self.actuated.update(joint.name for joint in joints)
            link, path = self._link(row, tags, joints)
        # A part with a mass and no direction, such as a tank, must not be moved by any joint.
        has_mass = not count and all(spec.geometry != 'direction' for spec in roles.values())
        self._check_way(row, link, path, joints, has_mass)
        self.slides.extend(
            f'{tag.path}: prismatic joint {joint.name!r} gives no axis of thrust, and what it '
            'carries stays where position 0 has it; expected a fixed, continuous or revolute joint'
            for tag, joint in zip(tags, joints, strict=True) if joint.kind == 'prismatic'
        )
        poses = [self.tree.pose(joint.child, self.base_link) for joint in joints]
        return Place(link, self.tree.pose(link, self.base_link), joints, poses)

    def steer(self, row: Tag) -> dict[str, tuple[Any, str]]:
        """Return the values that a joint that turns actuators gives its row of `SteeringParams`.

        Raises `SourceError` for an unknown or unsuitable joint.
        """
        tag = row.one('joint')
        name, path = (tag.text, tag.path) if tag else (row.name, row.path)
        joint = self.tree.joint(name, path)
        self._check_commanded(joint, path)
        if not joint.turns:
            raise SourceError(path, f'expected a revolute or continuous joint, got {joint.kind}')
        if joint not in self.tree.joints_between(joint.child, self.base_link):
            raise SourceError(
                path, f'joint {joint.name!r} carries base_link {self.base_link!r}, expected '
                'another base_link',
            )
        self._own.add(joint.name)
        pose, limit = self.tree.pose(joint.child, self.base_link), f'{joint.path}/limit/@'
        found: dict[str, tuple[Any, str]] = {
            'joints': (joint.name, path), 'pivot': (pose.position.tolist(), path),
            'axis': ((pose.rotation @ joint.axis).tolist(), path),
        }
        for end, value in zip(('lower', 'upper'), joint.limits or (), strict=False):
            found[end] = value, limit + end
        if joint.speed_limit:
            limit += 'velocity'
            found['rate_limit'] = numbers(joint.speed_limit, limit, 1)[0], limit
        return found

    def chain(self, link: str) -> list[str]:
        """Return the joints that can turn, on the way from base_link to a link."""
        way = self.tree.joints_between(link, self.base_link)
        return [joint.name for joint in reversed(way) if joint.turns]

    def stays(self) -> list[str]:
        """Return a line for each joint that moves actuators and has no row of its own."""
        return [
            f'{path}: joint {joint!r} moves {row!r}, which stays where position 0 has it; '
            + (f'see <parent> of joint {last!r}' if has_mass else self._remedy(joint, last))
            for (joint, has_mass), (path, row, last) in self._passed.items()
            if has_mass or joint not in self._own
        ]

    def _remedy(self, joint: str, last: str) -> str:
        """Return the remedy for a joint that moves an actuator but is not the actuator's own."""
        parent = f'see <parent> of joint {last!r}'
        if joint in self.actuated:
            return f'that is the joint of another actuator, {parent}'
        own = f'write <joint>{joint}</joint> where it is its own' if joint == last else parent
        steers = f'<steering name="{joint}"> lets it move where that is meant, else '
        return steers * self.tree.joints[joint].turns + own

    def _check_commanded(self, joint: Joint, path: str) -> None:
        if joint.mimics:
            raise SourceError(
                path, f'joint {joint.name!r} takes no commands, it mimics {joint.mimics!r}; '
                'name that one'
            )

    def _link(self, row: Tag, tags: list[Tag], joints: list[Joint]) -> tuple[str, str]:
        """Return the link of a row and its XML path."""
        tag = row.one('link')
        if tag is None:
            if not joints:
                raise SourceError(row.path, 'expected a <joint> or a <link>, got neither')
            return joints[0].child, tags[0].path
        link = self.tree.require_link(tag.text, tag.path)
        if joints and joints[0].child != link:
            raise SourceError(
                tag.path, f'joint {joints[0].name!r} carries {joints[0].child!r}, not {link!r}'
            )
        return link, tag.path

    def _check_axes(self, row: Tag, tags: list[Tag], joints: list[Joint], count: int) -> None:
        if len(joints) != count:
            raise SourceError(f'{row.path}/joint', f'expected {count} joints, got {len(joints)}')
        for tag, joint in zip(tags, joints, strict=True):
            if not joint.turns:
                raise SourceError(
                    tag.path, f'expected a revolute or continuous joint, got {joint.kind}'
                )
        unused = row.one('link')
        if unused:
            raise SourceError(unused.path, 'unknown tag: its joints place it')

    def _check_way(
        self, row: Tag, link: str, path: str, own: list[Joint], has_mass: bool
    ) -> None:
        way = self.tree.joints_between(link, self.base_link)
        for joint in way:
            if joint.is_loose:
                raise SourceError(
                    path, f'{joint.kind} joint {joint.name!r} lies between {link!r} and '
                    f'base_link {self.base_link!r}, expected another base_link',
                )
            if joint.kind != 'fixed' and joint not in own:
                passed = row.path, row.name, way[0].name
                self._passed.setdefault((joint.name, has_mass), passed)


def expand(row: Tag, tree: LinkTree) -> list[Tag]:
    r"""Return one row for each joint that a row selects, or the row itself if it selects none.

        <thruster><names_expr>thruster_\d+_joint</names_expr> ... </thruster>

    stands for one thruster at each joint whose whole name matches, in the order of the description;
    the other tags apply to all of them. An actuator is named after its joint. Namespaces of joints
    (all up to the last ``/``) neither need to match nor become part of the name.

    Python's matcher takes exponential time for some expressions, so only those with a bounded cost
    are allowed: a repetition may follow a character, a class or a dot, but not a group.

    Raises `SourceError` with the path if the expression is wrong, could take too long or matches no
    joint, or if the row also has a name, a joint or a link.
    """
    selector = row.one(NAMES_EXPR)
    if selector is None:
        return [row]
    if row.name:
        raise SourceError(row.path, f'expected no name attribute beside <{NAMES_EXPR}>')
    others = tuple(child for child in row.children if child is not selector)
    for child in others:
        if child.key in ('joint', 'link'):
            raise SourceError(child.path, f'expected no <{child.key}> beside <{NAMES_EXPR}>')
    return [
        dataclasses.replace(
            row, name=_bare(joint), children=(Tag('joint', joint, selector.path), *others)
        )
        for joint in _matching(selector.text, tree.joints, selector.path)
    ]


def _matching(expression: str, joints: Iterable[str], path: str) -> list[str]:
    """Return the joints whose names without namespace match, in their order."""
    names = [(joint, _bare(joint)) for joint in joints]
    _check(expression, [bare for _, bare in names], path)
    try:
        pattern = re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise SourceError(path, f'expected a regular expression: {error}') from None
    found = [joint for joint, bare in names if pattern.fullmatch(bare)]
    if not found:
        few = ', '.join([bare for _, bare in names[:_FEW]]) + ', ...' * (len(names) > _FEW)
        raise SourceError(path, f'{expression!r} fits no joint; joints: {few or "none"}')
    return found


def _bare(joint: str) -> str:
    return joint.rpartition('/')[2]


def _check(expression: str, names: Iterable[str], path: str) -> None:
    """Raise `SourceError` for an expression whose cost is too high or has no bound."""
    if len(expression) > LENGTH_LIMIT:
        raise SourceError(path, f'{len(expression)} characters, expected at most {LENGTH_LIMIT}')
    repeats, choices, previous = 0, 0, ''
    for token in _TOKENS.finditer(expression):
        kind = token.lastgroup or ''
        if kind == 'special':
            raise SourceError(path, 'of the groups with (? only (?: is supported')
        if token.group() == '[':
            raise SourceError(path, f'[ without its ]: {expression!r}')
        if kind == 'set' and _NESTED.search(token.group(), 1):
            raise SourceError(path, f'a class inside a class is not supported: {token.group()!r}')
        if kind in ('repeat', 'maybe') and previous == 'end':
            raise SourceError(path, f'a group may not be repeated: {expression[:token.end()]!r}')
        repeats += kind == 'repeat'
        choices += kind in ('maybe', 'bar')
        previous = kind
    # Each repetition can end at any character, and each choice doubles the number of ways.
    steps = 2**choices * sum((len(name) + 1) ** repeats for name in names)
    if steps > STEP_LIMIT:
        raise SourceError(path, f'{expression!r} could take too long, expected fewer repetitions')
