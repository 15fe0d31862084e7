# SPDX-License-Identifier: Apache-2.0
"""Where the actuators of a group are in a simulated model, and where a description differs."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from propulsion_ros.gz.joint_drives import Group
from propulsion_ros.gz.link_forces import Mount, Seat
from propulsion_ros.gz.simulated_model import SimulatedModel, carrier_of, distances
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import IDENTITY, LinkTree

_FAR, _TURNED = 1e-3, math.radians(0.1)
"""From where on a place differs from that of the description [m], [rad]."""


def group_seats(
    model: SimulatedModel, tree: LinkTree, group: Group, held: Collection[str]
) -> list[Seat]:
    """Return where each actuator of a group acts, as `carrier_of` finds it."""
    base_link, seats = group.spec.base_link, []
    for frame, axis in zip(group.family.actuator_frames, group.output.axes, strict=True):
        if frame:
            pose = tree.pose(frame, base_link)
            own = pose.rotation.T @ axis
            seats.append(Seat(Mount(*carrier_of(model, tree, frame, held, own)), pose))
        else:
            seats.append(Seat(Mount(*carrier_of(model, tree, base_link, held)), IDENTITY))
    return seats


def shifts(described: LinkTree, tree: LinkTree, groups: Sequence[Group]) -> Iterator[str]:
    """Yield a line, where any, of the actuator that is farthest from where it was described.

    Parameters
    ----------
    described, tree : LinkTree
        The description as it was given, and placed as in the model.
    groups : sequence of Group
        The actuators.
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
