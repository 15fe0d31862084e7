# SPDX-License-Identifier: Apache-2.0
"""Robots whose servos turn actuators, in a fake world that moves their links as it is commanded."""
from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

from fake_gz import Element, Hinge, worlds
from propulsion_ros.gz.system import ActuatorSystem
from propulsion_ros.urdf.link_tree import LinkTree
from propulsion_ros.urdf.xml import parse_urdf

EXAMPLES = Path(__file__).parents[2] / 'examples'
STEP = 2e-3


class Robot(NamedTuple):
    """An example: how its actuators are commanded, and what each does in its own link."""

    field: str
    command: list
    axis: tuple
    moments: list
    """Torque about the axis over the thrust [m]."""
    rate: float
    """Limit of its joints [rad/s]."""


ROBOTS = {
    'tiltrotor': Robot('effort', [3.0, 4.0, 5.0, 2.0], (0, 0, 1),
                       [-0.016, 0.016, 0.016, -0.016], 3.0),
    'azimuth_boat': Robot('velocity', [100.0, 200.0], (1, 0, 0), [0.0, 0.0], 1.2),
}


class Moved:
    """A world that turns hinges at the rates that they got, and carries all links along."""

    def __init__(self, path, make_world):
        self.tree = LinkTree(parse_urdf(path.read_text()))
        joints = [joint for joint in self.tree.joints.values() if joint.kind != 'fixed']
        hinges = [
            Hinge(joint.name, joint.kind.upper(), joint.parent, joint.child, tuple(joint.axis))
            for joint in joints
        ]
        places = {'base_link': (0, 0, 0)} | {
            joint.child: self.tree.pose(joint.child, 'base_link').position for joint in joints
        }
        self.world = make_world(places, Element.plugin(urdf_file=path), STEP, hinges)
        self.count = 0

    def step(self):
        """Move all links, then run a step."""
        self.count += 1
        base = self.world['base_link']
        base.rotation = Rotation.from_rotvec([0.3, 2e-3 * self.count, 0.5]).as_matrix()
        base.position = np.array([1.0, 2.0, 1e-3 * self.count])
        for hinge in self.world.hinges:
            # Shafts have no servo; they turn as they like.
            hinge.velocity = hinge.commanded[-1][0] if hinge.commanded else 20.0
            hinge.position += STEP * hinge.velocity
            origin = self.tree.joints[hinge.name].origin
            parent, child = self.world[hinge.parent], self.world[hinge.child]
            turn = Rotation.from_rotvec(hinge.position * np.array(hinge.axis)).as_matrix()
            child.position = parent.position + parent.rotation @ origin.position
            child.rotation = parent.rotation @ origin.rotation @ turn
        self.world.step()


@pytest.mark.parametrize('name', ROBOTS)
def test_servos_turn_thrusts_in_each_step(monkeypatch, name):
    """Each thrust that the model has is along its link as it is, on what carries its shaft."""
    robot = ROBOTS[name]
    with worlds(monkeypatch, ActuatorSystem) as make:
        moved = Moved(EXAMPLES / name / f'{name}.urdf', make)
        world = moved.world
        moved.step()
        node = world.system.host.nodes[0]
        family = node.loop.family
        shafts = [next(hinge for hinge in world.hinges if hinge.child == frame)
                  for frame in family.actuator_frames]
        rng = np.random.default_rng(5)
        for k in range(700):
            if k in (0, 75, 150):
                goals = rng.uniform(-0.4, 1.5, len(family.joint_names))
            if k % 20 == 0:
                none = np.full(len(family.command_names), np.nan)
                given = {'position': none.copy(), robot.field: none.copy()}
                given['position'][-len(goals):] = goals
                given[robot.field][:-len(goals)] = robot.command
                node.loop.ports[0].take(JointState(name=list(family.command_names), **{
                    field: values.tolist() for field, values in given.items()
                }))
            moved.step()
            thrusts = node.loop.core.output.thrusts
            expected = {body.name: np.zeros(6) for body in world.bodies.values()}
            for shaft, thrust, moment in zip(shafts, thrusts, robot.moments, strict=True):
                link, pod = world[shaft.child], world[shaft.parent]
                along = thrust * (link.rotation @ robot.axis)
                expected[pod.name] += np.concatenate(
                    (along, moment * along + np.cross(link.position - pod.position, along))
                )
            for body in world.bodies.values():
                np.testing.assert_allclose(
                    body.wrenches[-1], expected[body.name], rtol=0.0, atol=1e-9,
                    err_msg=f'{body.name} in step {k}',
                )
        servos = {hinge.name: hinge for hinge in world.hinges if hinge.commanded}
        assert list(servos) == list(family.joint_names)
        for hinge, goal in zip(servos.values(), goals, strict=True):
            assert hinge.position == pytest.approx(goal, abs=1e-3)
            assert np.max(np.abs(hinge.commanded)) == pytest.approx(robot.rate, rel=1e-9)
        assert np.all(thrusts > 1.0)
