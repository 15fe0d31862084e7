# SPDX-License-Identifier: Apache-2.0
"""Which nodes of a vehicle run beside Gazebo."""
from __future__ import annotations

import pytest

from propulsion_ros.gz.model import ROUTES
from propulsion_ros.gz.vehicle import gazebo_vehicle


@pytest.mark.parametrize('route', ROUTES)
def test_actuators_are_nodes_unless_they_run_inside_the_system(route):
    nodes = {spec.name: spec for spec in gazebo_vehicle('quadrotor', route).graph.nodes}
    assert 'vehicle' not in nodes
    assert ('rotors' in nodes) == (route != 'system')
    if 'rotors' in nodes:
        assert nodes['rotors'].parameters['publish_numbers']
