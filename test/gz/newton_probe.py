# SPDX-License-Identifier: Apache-2.0
"""A system for gz-sim's PythonSystemLoader that writes how a link moves, and what pushes it.

It is in one interpreter with the system under test, whose forces it records as they are applied.
The file in the tag <file> has mass and inertia about the centre of mass in the first line, then a
line for each step: the time at its begin [s], the velocity of the centre of mass and the angular
velocity then, and force and torque on it in this step, all in axes of the link. gz-sim calls the
systems of a model in the order of its plugins, and this one is the last.
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


class Probe:
    """Follows the link of the model that carries all others."""

    def configure(self, entity, sdf, ecm, event_mgr):
        """Find the link."""
        gz = next(sys.modules[name] for name in ('gz.sim8', 'gz.sim9', 'gz.sim')
                  if name in sys.modules)
        record(gz.Link)
        self.link = gz.Link(gz.Model(entity).canonical_link(ecm))
        self.file = open(sdf.get_string('file'), 'w', buffering=1)  # noqa: SIM115  for ever
        self.reset(None, ecm)
        inertial = self.link.world_inertial(ecm)
        rotation, moments = self.axes(ecm), self.link.world_inertia_matrix(ecm)
        moments = np.array([[moments(i, j) for j in range(3)] for i in range(3)])
        self.write([inertial.mass_matrix().mass(), (rotation.T @ moments @ rotation).tolist()])

    def write(self, line):
        """Write a line of JSON."""
        self.file.write(json.dumps(line) + '\n')

    def axes(self, ecm):
        """Return the rotation from the link to the world."""
        turn = self.link.world_pose(ecm).rot()
        return Rotation.from_quat([turn.x(), turn.y(), turn.z(), turn.w()]).as_matrix()

    def reset(self, info, ecm):
        """Ask for velocities, also after the world has begun again."""
        self.link.enable_velocity_checks(ecm)
        APPLIED.pop(self.link.entity(), None)

    def pre_update(self, info, ecm):
        """Write a line for each step."""
        if info.paused:
            return
        rotation = self.axes(ecm)
        arm = vector(self.link.world_inertial_pose(ecm).pos()) - vector(
            self.link.world_pose(ecm).pos()
        )
        turning = vector(self.link.world_angular_velocity(ecm))
        speed = vector(self.link.world_linear_velocity(ecm)) + np.cross(turning, arm)
        wrench = APPLIED.pop(self.link.entity(), np.zeros(6))
        force, torque = wrench[:3], wrench[3:] - np.cross(arm, wrench[:3])
        begin = (info.sim_time - info.dt).total_seconds()
        self.write([begin, *np.concatenate([
            of_world @ rotation for of_world in (speed, turning, force, torque)
        ])])


def get_system():
    """Return a new probe; the loader calls this."""
    return Probe()
