# SPDX-License-Identifier: Apache-2.0
"""Connects actuator nodes to gz-sim's own systems, Thruster and JointPositionController."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from propulsion_ros.graph.node_config import build_family
from propulsion_ros.graph.wiring import pushing_blocks
from propulsion_ros.gz.bridge import BridgeTopic, joint_topic
from propulsion_ros.gz.sdf_elements import insert, plugin
from propulsion_ros.gz.simulated_model import is_shaft
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.common.facts import LIFT, THRUST_AND_TORQUE
from propulsion_ros.models.common.family import Allocatable, BodyState, Command, Family, Output
from propulsion_ros.models.steering.steered import SteeredFamily
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.settings.yaml_file import settings_of
from propulsion_ros.urdf.link_tree import Joint, LinkTree
from propulsion_ros.urdf.reader import ActuatorSpec
from propulsion_ros.urdf.xml import numbers, path_step

_FASTEST = 10.0
"""Limit for joints without a velocity limit [rad/s]."""
_STRONGEST = 1e6
"""Limit of gz-sim's Thruster [N], so large that only those of the actuator models act."""
_LEFT_OUT = {
    LIFT: "their lift: gz-sim's Thruster pushes along a joint, not across it",
    THRUST_AND_TORQUE: "their reaction torques: gz-sim's Thruster gives forces alone",
}
"""Effects that the bridge cannot carry, by the force that a family declares."""


@dataclass(frozen=True)
class Group:
    """One plugin block that pushes."""

    spec: ActuatorSpec
    """The block."""
    family: Family
    """Its actuators."""
    params: LoopParams
    """Timing of its node."""
    output: Output
    """Output of the actuators at rest."""

    @property
    def left_out(self) -> str:
        """Effects that gz-sim's own systems cannot simulate, '' for none."""
        return _LEFT_OUT.get(self.family.facts.force, '')

    @property
    def steering(self) -> tuple[str, ...]:
        """The joints that turn the links of actuators."""
        return self.family.joint_names if isinstance(self.family, SteeredFamily) else ()

    def turned(self, tree: LinkTree) -> list[str]:
        """Return the position-commanded joints that belong to actuators, as of gimbals."""
        return [name for name in self.positioned(tree) if name not in self.steering]

    def positioned(self, tree: LinkTree) -> list[str]:
        """Return all joints that are commanded by their position."""
        family = self.family
        return [
            name for name, field in zip(family.command_names, family.command_fields, strict=True)
            if field == 'position' and name in tree.joints
        ]


def read_groups(
    specs: Sequence[ActuatorSpec], params_files: Sequence[str | Path], namespace: str
) -> Iterator[Group]:
    """Yield the blocks that push; raise `ConfigError`."""
    for spec in pushing_blocks(specs):
        given = settings_of(params_files, spec.name, namespace)
        family, params = build_family(spec.family, given, spec)
        output = family.step(Command(), BodyState(), 1.0 / params.update_rate, 0)
        yield Group(spec, family, params, output)


def drive(
    root: Element, tree: LinkTree, model: str, group: Group
) -> Iterator[BridgeTopic]:
    """Add a system of gz-sim for each joint of a group, and yield the topics that command them.

    Raises
    ------
    SourceError
        If gz-sim's systems cannot do what an actuator does.
    """
    node, family, turned = group.spec.name, group.family, group.turned(tree)
    for name in group.positioned(tree):
        joint = tree.joints[name]
        _require_masses(root, tree, joint.child)
        (limit,) = numbers(joint.speed_limit or '0', f'{joint.path}/limit/@velocity', 1)
        topic = joint_topic(f'{node}/positions/{name}', model, name, '0/cmd_pos')
        insert(root, plugin(
            'joint-position-controller', 'JointPositionController', joint_name=name,
            topic=topic.gz_topic, use_velocity_commands='true', cmd_max=limit or _FASTEST,
        ))
        yield topic
    spins = _spins(family, group.output.axes)
    carriers = {joint.child: joint for joint in tree.joints.values()}
    for i, (name, frame) in enumerate(
        zip(family.actuator_names, family.actuator_frames, strict=True)
    ):
        if name in turned:
            # The actuator pushes across its joint, which gz-sim's Thruster cannot.
            continue
        joint = _turning_joint(name, carriers.get(frame))
        turn = tree.pose(frame, group.spec.base_link).rotation
        _require_along(name, joint, turn.T @ group.output.axes[i])
        _require_masses(root, tree, frame)
        topic = joint_topic(f'{node}/thrusts/{name}', model, joint.name, 'cmd_thrust')
        insert(root, plugin(
            'thruster', 'Thruster', namespace=model, joint_name=joint.name,
            velocity_control='true', thrust_coefficient=spins[i], propeller_diameter=1,
            fluid_density=1,
            max_thrust_cmd=_STRONGEST, min_thrust_cmd=-_STRONGEST,
        ))
        yield topic


def _spins(family: Family, axes: FloatArray) -> list[int]:
    """Return the direction in which each propeller of gz-sim turns about its thrust, 1 or -1, n.

    It is opposite to the reaction torque: propellers that all turn one way would turn the body.
    """
    if not isinstance(family, Allocatable):
        return [1] * len(axes)
    torques: FloatArray = family.allocation_matrix[3:].T
    return [-1 if torque > 0.0 else 1 for torque in (torques * axes).sum(axis=-1).tolist()]


def _turning_joint(name: str, joint: Joint | None) -> Joint:
    """Return the joint of an actuator; refuse one that does not turn."""
    if joint is None or not joint.turns:
        found = 'no joint' if joint is None else f'the {joint.kind} joint {joint.name!r}'
        raise SourceError(
            f'actuator {name!r}', f"is carried by {found}; gz-sim's Thruster pushes along a "
            "turning joint: route 'system' needs none"
        )
    return joint


def _require_along(name: str, joint: Joint, axis: FloatArray) -> None:
    """Refuse an actuator that does not push along its joint's axis."""
    if not np.allclose(joint.axis, axis, rtol=0.0, atol=1e-6):
        raise SourceError(
            f'actuator {name!r}', f'pushes along {np.round(axis, 6).tolist()} of its link, but '
            f'its joint {joint.name!r} turns about {np.round(joint.axis, 6).tolist()}, along '
            "which gz-sim's Thruster pushes: route 'system' needs no such joint"
        )


def moved_without_mass(root: Element, tree: LinkTree) -> list[str]:
    """Return the joints that move links without mass: Gazebo drops them, and all they carry."""
    massive = {
        rigid_root(tree, element.get('name', '')) for element in root.findall('link')
        if element.find('inertial') is not None
    }
    return [
        joint.name for joint in tree.joints.values()
        if joint.kind != 'fixed' and joint.child not in massive
    ]


def held_joints(root: Element | None, tree: LinkTree, groups: Sequence[Group]) -> set[str]:
    """Return the joints that count as fixed, with those that mimic them.

    They are turned by actuator models, are shafts, or move links that Gazebo drops.

    ``root`` is the description with its masses, None if every link has one.

    Raises
    ------
    SourceError
        For a joint that turns actuators and would count as fixed.
    """
    held = {name for group in groups for name in (*group.turned(tree), *_shafts(tree, group))}
    if root is not None:
        held.update(moved_without_mass(root, tree))
    while followers := {n for n, joint in tree.joints.items() if joint.mimics in held} - held:
        held |= followers
    for joint in (tree.joints[name] for group in groups for name in group.steering):
        if joint.name in held:
            raise SourceError(
                f'robot/{path_step("link", joint.child)}', 'expected an <inertial>: joint '
                f'{joint.name!r} turns it, and Gazebo drops a link without one'
            )
    return held


def _shafts(tree: LinkTree, group: Group) -> Iterator[str]:
    """Yield the joints that turn about the thrust of an actuator of a group."""
    for frame, axis in zip(group.family.actuator_frames, group.output.axes, strict=True):
        for joint in tree.joints_between(frame, tree.root) if frame else ():
            turn = tree.pose(joint.child, group.spec.base_link).rotation
            if is_shaft(joint, turn.T @ axis) and joint.name not in group.steering:
                yield joint.name
            elif joint.kind != 'fixed':
                break


def _require_masses(root: Element, tree: LinkTree, link: str) -> None:
    """Refuse links without mass that joints move between the root and a link."""
    dropped = moved_without_mass(root, tree)
    for joint in tree.joints_between(link, tree.root):
        if joint.name in dropped:
            raise SourceError(
                f'robot/{path_step("link", joint.child)}',
                f'expected an <inertial>: Gazebo drops a link without one, which joint '
                f"{joint.name!r} moves; route 'system' needs none",
            )


def rigid_root(tree: LinkTree, link: str) -> str:
    """Return the link into which fixed joints merge a link."""
    for joint in tree.joints_between(link, tree.root):
        if joint.kind != 'fixed':
            break
        link = joint.parent
    return link
