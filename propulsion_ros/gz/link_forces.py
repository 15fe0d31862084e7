# SPDX-License-Identifier: Apache-2.0
"""From what actuators do in base_link to forces at the links of a simulated model."""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.family import Output
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.rotation import Quaternion, product, quaternion_of
from propulsion_ros.models.common.wrench import cross, move_wrench, net_wrench
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import LinkTree, Pose


@dataclass(frozen=True)
class Mount:
    """Where a link of a robot description is in the simulated model.

    A simulator merges links that fixed joints hold into the one that carries them.
    """

    link: str
    """Link of the model that carries it, itself where the model has it."""
    pose: Pose
    """Pose of the link in the one that carries it, with every joint at position 0."""

    @staticmethod
    def find(tree: LinkTree, link: str, is_there: Callable[[str], bool]) -> Mount:
        """Return the mount of a link.

        Parameters
        ----------
        tree : LinkTree
            The robot description.
        link : str
            One of its links.
        is_there : callable
            Whether the model has a link of this name.

        Raises
        ------
        SourceError
            Where the model has neither the link nor any that carries it.
        """
        carriers = [joint.parent for joint in tree.joints_between(link, tree.root)]
        for carrier in (link, *carriers):
            if is_there(carrier):
                return Mount(carrier, tree.pose(link, carrier))
        raise SourceError(f'link {link!r}', 'neither it nor one that carries it is in the model')

    @functools.cached_property
    def quaternion(self) -> Quaternion:
        """Rotation from the link to the one that carries it."""
        x, y, z, w = quaternion_of(self.pose.rotation).tolist()
        return x, y, z, w

    def motion(
        self, pose: Pose, quaternion: Quaternion, velocity: FloatArray, angular_velocity: FloatArray
    ) -> Motion:
        """Return how the mounted link moves.

        Parameters
        ----------
        pose : Pose
            Of the carrying link in the world.
        quaternion : Quaternion
            The same rotation, of length 1.
        velocity, angular_velocity : FloatArray
            Of the carrying link's origin, in world axes [m/s, rad/s], (3,).
        """
        arm = pose.rotation @ self.pose.position
        rotation = pose.rotation @ self.pose.rotation
        return Motion(
            pose.position + arm, np.array(product(quaternion, self.quaternion)),
            (velocity + cross(angular_velocity, arm)) @ rotation, angular_velocity @ rotation,
        )

    def carried(self, wrench: FloatArray, pose: Pose) -> FloatArray:
        """Return a wrench at the mounted link as that on the carrying one, in world axes.

        Parameters
        ----------
        wrench : FloatArray
            In the axes of and about the origin of the mounted link, (6,).
        pose : Pose
            Of the carrying link in the world.
        """
        turned = wrench.reshape(2, 3) @ (pose.rotation @ self.pose.rotation).T
        # Plain floats take a fraction of the time of arrays of three.
        (x, y, z), (u, v, w) = turned.tolist()
        a, b, c = (pose.rotation @ self.pose.position).tolist()
        return np.array([
            x, y, z, u + b * z - c * y, v + c * x - a * z, w + a * y - b * x,
        ])


class LinkForces:
    """Divides the wrench of a group of actuators among the links of a simulated model.

    Each actuator's force acts at the origin of its link. What these forces leave of the group's
    wrench (reaction torques, the way of a force over a gimbal) acts at base_link, so that all
    together are that wrench, wherever the links are.

    Parameters
    ----------
    base : Mount
        Of base_link.
    mounts : sequence of Mount
        Of the link of each actuator, n.
    """

    def __init__(self, base: Mount, mounts: Sequence[Mount]) -> None:
        self._base = base
        self.links = tuple(dict.fromkeys((base.link, *(mount.link for mount in mounts))))
        self._link = np.array([self.links.index(mount.link) for mount in mounts], dtype=np.int64)
        self._positions = np.array([mount.pose.position for mount in mounts])

    def at(self, output: Output, poses: Mapping[str, Pose]) -> dict[str, FloatArray]:
        """Return the wrench on each of `links`.

        Parameters
        ----------
        output : Output
            What the actuators do, without batch axes.
        poses : mapping of str to Pose
            Of each of `links` in the world.

        Returns
        -------
        dict of str to FloatArray
            Force and torque in world axes, about the origin of the link, (6,).
        """
        carrier = poses[self._base.link]
        if len(self.links) == 1:
            # Whatever acts on one rigid link is one wrench.
            return {self._base.link: self._base.carried(output.wrench, carrier)}
        base = carrier @ self._base.pose
        rotations = np.array([poses[link].rotation for link in self.links])[self._link]
        origins = np.array([poses[link].position for link in self.links])[self._link]
        forces = output.forces @ base.rotation.T
        arms = (rotations @ self._positions[..., None])[..., 0]
        wrenches = np.zeros((len(self.links), 6))
        np.add.at(wrenches, self._link, np.hstack((forces, cross(arms, forces))))
        rest = (output.wrench.reshape(2, 3) @ base.rotation.T).ravel()
        rest -= net_wrench(forces, origins + arms - base.position)
        wrenches[0] += move_wrench(rest, base.position - carrier.position)
        return dict(zip(self.links, wrenches, strict=True))
