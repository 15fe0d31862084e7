# SPDX-License-Identifier: Apache-2.0
"""A flight of a study is the flight that ROS nodes fly, to the bit."""
from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from propulsion_ros.demos.pilot import roll_pitch_yaw, target_at
from propulsion_ros.demos.quadrotor_guidance import QuadrotorGuidance
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.simulation import Simulation
from propulsion_ros.graph.wiring import vehicle_graph
from propulsion_ros.study.closed_loop import ClosedLoop

pytest.importorskip('rclpy')
from propulsion_ros.demos import flight, quadrotor, rocket

pytestmark = [pytest.mark.slow, pytest.mark.part('flights')]
UNTIL = 4.0


class Quadrotor:
    """The pilot of the demo, which notes what it records."""

    topic = 'rotors_allocator/wrench_command'

    def __init__(self):
        self._guidance, self.rows = QuadrotorGuidance(), []

    def steer(self, time, motion):
        self.rows.append((
            time, *motion.position.tolist(), *roll_pitch_yaw(motion.rotation),
            float(motion.velocity_world[2]),
        ))
        name, target = target_at(quadrotor._PLAN, time)
        is_up = name != 'on the ground'
        wrench = self._guidance.wrench(target, motion) if is_up else np.zeros(6)
        return {self.topic: wrench}


def _rocket():
    """Return the controller of the shipped study, which notes what the demo records."""
    path = share_directory() / 'studies' / 'rocket.py'
    spec = importlib.util.spec_from_file_location('rocket_controller', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Rocket(module.Controller):
        topic = 'boosters/command'

        def __init__(self):
            super().__init__(0)
            self.rows = []

        def steer(self, time, motion):
            self.rows.append((
                time, float(motion.position[2]), float(motion.velocity_world[2]),
                float(np.linalg.norm(motion.velocity)),
            ))
            return super().steer(time, motion)

    return Rocket()


@pytest.mark.parametrize(('vehicle', 'demo', 'make'), [
    ('quadrotor', quadrotor.QUADROTOR, Quadrotor), ('rocket', rocket.ROCKET, _rocket),
])
def test_the_motion_is_that_of_the_nodes(vehicle, demo, make):
    config = share_directory() / 'config' / f'{vehicle}_demo.yaml'
    motion = flight.fly(demo, vehicle, [config], UNTIL).series('motion')
    controller = make()
    graph = vehicle_graph(vehicle, simulation=Simulation(
        (controller.topic,), {'duration': UNTIL, 'real_time_factor': 0.0, 'publish_tf': False}
    ))
    ClosedLoop(graph, [graph.params_file], controller, lambda *message: None).fly()
    np.testing.assert_array_equal(np.array(controller.rows)[:len(motion)], motion)
