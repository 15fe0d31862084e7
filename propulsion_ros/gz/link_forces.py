# SPDX-License-Identifier: Apache-2.0
"""Converts wrenches of actuators in base_link to forces on the links of a model."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.gz.joint_drives import Group
from propulsion_ros.gz.simulated_model import SimulatedModel, carrier_of, distances
from propulsion_ros.models.common.family import Family, Output
from propulsion_ros.models.common.motion import MatrixMotion
from propulsion_ros.models.common.wrench import cross, product, skew
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import IDENTITY, LinkTree, Pose

_FAR, _TURNED = 1e-3, math.radians(0.1)
"""Differences from the description from which an actuator has moved [m], [rad]."""


@dataclass(frozen=True)
class Mount:
    """Place of a link of a robot description in the simulated model.

    A simulator merges links that fixed joints hold into the link that carries them.
    """

    link: str
    """Link of the model that carries it, or itself if the model has it."""
    pose: Pose
    """Pose of the link in the one that carries it, with every joint at position 0."""

    def motion(
        self, pose: Pose, velocity: FloatArray, angular_velocity: FloatArray
    ) -> MatrixMotion:
        """Return the motion of the mounted link.

        ``pose`` is that of the carrying link in the world; the velocities are those of its origin,
        in world axes [m/s, rad/s], (3,).
        """
        position, rotation = pose.position, pose.rotation
        if self.pose is not IDENTITY:
            arm = rotation @ self.pose.position
            velocity = velocity + cross(angular_velocity, arm)
            position, rotation = position + arm, rotation @ self.pose.rotation
        return MatrixMotion(
            position, rotation, product(velocity, rotation), product(angular_velocity, rotation)
        )

    def carried(self, wrench: FloatArray, pose: Pose) -> FloatArray:
        """Return a wrench at the mounted link as a wrench on the carrying link, in world axes.

        ``wrench`` is in the axes of and about the origin of the mounted link, (6,); ``pose`` is
        that of the carrying link in the world.
        """
        if self.pose is IDENTITY:
            return product(wrench.reshape(2, 3), pose.rotation.T).ravel()
        turned = wrench.reshape(2, 3) @ (pose.rotation @ self.pose.rotation).T
        # Plain floats take a fraction of the time of arrays of three.
        (x, y, z), (u, v, w) = turned.tolist()
        a, b, c = (pose.rotation @ self.pose.position).tolist()
        return np.array([
            x, y, z, u + b * z - c * y, v + c * x - a * z, w + a * y - b * x,
        ])


class LinkForces:
    """Divides the wrench of a group of actuators among the links of a simulated model.

    Force and torque of each actuator act at the origin of its link, in the present axes of the
    link. The rest of the group's wrench, such as the shift of a force by a gimbal, acts at
    base_link.

    Parameters
    ----------
    base : Mount
        Place of base_link.
    seats : sequence of Mount and Pose
        Place of each actuator's link in the simulated model, and its pose in base_link with every
        joint at position 0, n.
    turns : bool
        Whether actuators turn their own links (gimbals, fins): the model's links do not follow.

    Attributes
    ----------
    links : tuple of str
        Links of the model on which actuators act.
    is_rigid : bool
        Whether all actuators act on one link, on which the group's wrench acts then.
    """

    def __init__(
        self, base: Mount, seats: Sequence[tuple[Mount, Pose]], turns: bool
    ) -> None:
        self._base, self._turns = base, turns
        self.links = tuple(dict.fromkeys((base.link, *(mount.link for mount, _ in seats))))
        self.is_rigid = len(self.links) == 1
        self._rotations = np.array([pose.rotation for _, pose in seats])
        # The matrix converts wrenches about actuators in base_link axes to those on the links.
        rows, columns = 6 * len(self.links), 6 * len(seats)
        self._matrix, total = np.zeros((rows, columns)), np.zeros((6, columns))
        self._rest = _moved(base.pose)
        for i, (mount, pose) in enumerate(seats):
            own = slice(6 * i, 6 * i + 6)
            k = 6 * self.links.index(mount.link)
            turn = mount.pose.rotation @ pose.rotation.T
            self._matrix[k:k + 6, own] = _moved(Pose(turn, mount.pose.position))
            total[:, own] = _moved(Pose(np.eye(3), pose.position))
        self._matrix[:6] -= self._rest @ total

    def at(
        self, family: Family, output: Output, poses: Mapping[str, Pose]
    ) -> tuple[dict[str, FloatArray], FloatArray]:
        """Return the wrench on each of `links`, and the sum of all.

        ``poses`` has the pose of each of `links` in the world; the output has no batch axes.

        Returns
        -------
        dict of str to FloatArray
            Force and torque in world axes, about the origin of the link, (6,).
        FloatArray
            Their sum in the axes of and about the origin of base_link, (6,).
        """
        own = family.link_wrenches(output).reshape(-1, 2, 3) @ self._rotations.swapaxes(1, 2)
        if self._turns:
            own[:, 0] = output.forces
        wrenches = self._matrix @ own.ravel()
        wrenches[:6] += self._rest @ output.wrench
        there = [poses[link] for link in self.links]
        wrenches = wrenches.reshape(-1, 2, 3) @ np.array([pose.rotation.T for pose in there])
        base = poses[self._base.link] @ self._base.pose
        arms = np.array([pose.position for pose in there]) - base.position
        torque = (wrenches[:, 1] + cross(arms, wrenches[:, 0])).sum(axis=0)
        total = np.concatenate((wrenches[:, 0].sum(axis=0), torque)).reshape(2, 3) @ base.rotation
        return dict(zip(self.links, wrenches.reshape(-1, 6), strict=True)), total.ravel()


def _moved(pose: Pose) -> FloatArray:
    """Return the matrix (6, 6) that moves a wrench from a frame, with a pose, to its parent."""
    moved = np.zeros((6, 6))
    moved[:3, :3] = moved[3:, 3:] = pose.rotation
    moved[3:, :3] = skew(pose.position) @ pose.rotation
    return moved


def group_seats(
    model: SimulatedModel, tree: LinkTree, group: Group, held: Collection[str]
) -> list[tuple[Mount, Pose]]:
    """Return the place at which each actuator of a group acts, see `LinkForces`."""
    base_link, seats = group.spec.base_link, []
    for frame, axis in zip(group.family.actuator_frames, group.output.axes, strict=True):
        if frame:
            pose = tree.pose(frame, base_link)
            own = pose.rotation.T @ axis
            seats.append((Mount(*carrier_of(model, tree, frame, held, own)), pose))
        else:
            seats.append((Mount(*carrier_of(model, tree, base_link, held)), IDENTITY))
    return seats


def shifts(described: LinkTree, tree: LinkTree, groups: Sequence[Group]) -> Iterator[str]:
    """Yield a line on the actuator that is farthest from its described place, if any has moved.

    ``described`` is the description as given, ``tree`` the one with the poses of the model.
    """
    found = []
    for group in groups:
        base, family = group.spec.base_link, group.family
        for name, frame in zip(family.actuator_names, family.actuator_frames, strict=True):
            if frame:
                before, now = described.pose(frame, base), tree.pose(frame, base)
                far, angle = distances(before, now)
                found.append((max(far / _FAR, angle / _TURNED), name, before, now, angle))
    beyond = [each for each in found if each[0] > 1.0]
    if beyond:
        _, name, before, now, angle = max(beyond, key=lambda each: each[0])
        further = f', and {len(beyond) - 1} more' if len(beyond) > 1 else ''
        yield (
            f'{name!r} is at {_shown(now.position)} m in the world and at '
            f'{_shown(before.position)} m in the robot description, turned by '
            f'{math.degrees(angle):.3g} degrees{further}; the place in the world is used'
        )


def _shown(position: FloatArray) -> str:
    return '(' + ', '.join(f'{value:.4g}' for value in position.tolist()) + ')'
