# SPDX-License-Identifier: Apache-2.0
"""A system for gz-sim's PythonSystemLoader that writes how a link moves, and what pushes it.

It is in one interpreter with the system under test, whose forces it records as they are applied.
Each line of the file in NEWTON_PROBE has the time at the begin of a step [s], the velocity of the
link [m/s], and the force of the step before [N], in world axes.
"""
import json
import os
import sys


class Probe:
    """Follows base_link of the model that it is in."""

    def configure(self, entity, sdf, ecm, event_mgr):
        """Record what any system applies to the link."""
        gz = next(sys.modules[name] for name in ('gz.sim8', 'gz.sim9', 'gz.sim')
                  if name in sys.modules)
        self.link = gz.Link(gz.Model(entity).link_by_name(ecm, 'base_link'))
        self.link.enable_velocity_checks(ecm)
        self.force = [0.0, 0.0, 0.0]
        self.file = open(os.environ['NEWTON_PROBE'], 'w', buffering=1)  # noqa: SIM115  for ever
        apply = gz.Link.add_world_wrench

        def record(link, ecm, force, torque, *more):
            pushed = force.x(), force.y(), force.z()
            self.force = [a + b for a, b in zip(self.force, pushed, strict=True)]
            return apply(link, ecm, force, torque, *more)

        gz.Link.add_world_wrench = record

    def pre_update(self, info, ecm):
        """Write a line for each step."""
        if info.paused:
            return
        speed = self.link.world_linear_velocity(ecm)
        begin = (info.sim_time - info.dt).total_seconds()
        self.file.write(json.dumps([begin, speed.x(), speed.y(), speed.z(), *self.force]) + '\n')
        self.force = [0.0, 0.0, 0.0]


def get_system():
    """Return a new probe; the loader calls this."""
    return Probe()
