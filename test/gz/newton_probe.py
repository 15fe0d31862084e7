# SPDX-License-Identifier: Apache-2.0
"""A system for gz-sim's PythonSystemLoader that writes how links move, and what pushes them.

It is in one interpreter with the system under test, whose forces it records as they are applied.
The file in the tag <file> has name, mass and inertia about the centre of mass of each link in the
first line, then a line for each step: the time at its begin [s], and of each link where it is then,
as position and rotation matrix, the velocity of the centre of mass and the angular velocity, and
force and torque on it in this step, all four in axes of the link. gz-sim calls the systems of a
model in the order of its plugins, and this one is the last.
"""
import json
import sys
from collections import defaultdict

import numpy as np
from scipy.spatial.transform import Rotation

APPLIED = defaultdict(lambda: np.zeros(6))
"""Force and torque about the link's origin in world axes, by entity of the link."""


def vector(given):
    """Return a vector of gz.math as an array."""
    return np.array([given.x(), given.y(), given.z()])


def record(link_type):
    """Record what any system applies to links from now on."""
    if hasattr(link_type, 'applied_unrecorded'):
        return
    link_type.applied_unrecorded = link_type.add_world_wrench

    def apply(link, ecm, force, torque, *more):
        APPLIED[link.entity()] += [*vector(force), *vector(torque)]
        return link.applied_unrecorded(ecm, force, torque, *more)

    link_type.add_world_wrench = apply


def rotation_of(link, ecm):
    """Return the rotation from a link to the world."""
    turn = link.world_pose(ecm).rot()
    return Rotation.from_quat([turn.x(), turn.y(), turn.z(), turn.w()]).as_matrix()


def links_of(gz, model, ecm, prefix=''):
    """Yield each link of a model with its name, those of nested models last."""
    for entity in model.links(ecm):
        link = gz.Link(entity)
        yield prefix + link.name(ecm), link
    for nested in map(gz.Model, model.models(ecm)):
        yield from links_of(gz, nested, ecm, f'{prefix}{nested.name(ecm)}::')


class Probe:
    """Follows the links of the model."""

    def configure(self, entity, sdf, ecm, event_mgr):
        """Find the links."""
        gz = next(sys.modules[name] for name in ('gz.sim8', 'gz.sim9', 'gz.sim')
                  if name in sys.modules)
        record(gz.Link)
        names, self.links = zip(*links_of(gz, gz.Model(entity), ecm), strict=True)
        self.file = open(sdf.get_string('file'), 'w', buffering=1)  # noqa: SIM115  for ever
        self.reset(None, ecm)
        heads = []
        for name, link in zip(names, self.links, strict=True):
            rotation, moments = rotation_of(link, ecm), link.world_inertia_matrix(ecm)
            moments = np.array([[moments(i, j) for j in range(3)] for i in range(3)])
            heads.append([
                name, link.world_inertial(ecm).mass_matrix().mass(),
                (rotation.T @ moments @ rotation).tolist(),
            ])
        self.write(heads)

    def write(self, line):
        """Write a line of JSON."""
        self.file.write(json.dumps(line) + '\n')

    def reset(self, info, ecm):
        """Ask for velocities, also after the world has begun again."""
        for link in self.links:
            link.enable_velocity_checks(ecm)
        APPLIED.clear()

    def pre_update(self, info, ecm):
        """Write a line for each step."""
        if info.paused:
            return
        line = [(info.sim_time - info.dt).total_seconds()]
        for link in self.links:
            rotation, position = rotation_of(link, ecm), vector(link.world_pose(ecm).pos())
            arm = vector(link.world_inertial_pose(ecm).pos()) - position
            turning = vector(link.world_angular_velocity(ecm))
            speed = vector(link.world_linear_velocity(ecm)) + np.cross(turning, arm)
            wrench = APPLIED.pop(link.entity(), np.zeros(6))
            force, torque = wrench[:3], wrench[3:] - np.cross(arm, wrench[:3])
            line += [*position, *rotation.ravel(), *np.concatenate([
                of_world @ rotation for of_world in (speed, turning, force, torque)
            ])]
        self.write(line)


def get_system():
    """Return a new probe; the loader calls this."""
    return Probe()
