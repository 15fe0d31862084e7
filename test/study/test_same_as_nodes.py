# SPDX-License-Identifier: Apache-2.0
"""A flight of a study is the flight that ROS nodes fly, to the bit."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.demos.demo import demo_of
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.simulation import Simulation
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.study.closed_loop import ClosedLoop

pytest.importorskip('rclpy')
from propulsion_ros.demos import flight

pytestmark = [pytest.mark.slow, pytest.mark.part('flights')]
UNTIL = 4.0


@pytest.mark.parametrize('vehicle', ['quadrotor', 'rocket', 'cubesat'])
def test_the_motion_is_that_of_the_nodes(vehicle):
    demo, config = demo_of(vehicle), share_directory() / 'config' / f'{vehicle}_demo.yaml'
    motion = flight.fly(demo, vehicle, [config], UNTIL).series('motion')
    pilot = demo.make_pilot()
    graph = robot_graph(vehicle, simulation=Simulation(
        tuple(pilot.commands), {'duration': UNTIL, 'real_time_factor': 0.0, 'publish_tf': False},
    ))
    ClosedLoop(graph, [graph.params_file], pilot, lambda *message: None).fly()
    np.testing.assert_array_equal(pilot.recording.series('motion')[:len(motion)], motion)
