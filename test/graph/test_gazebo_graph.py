# SPDX-License-Identifier: Apache-2.0
"""Which nodes of a vehicle run beside Gazebo."""
from __future__ import annotations

import pytest

from propulsion_ros.graph.wiring import gazebo_graph


@pytest.mark.parametrize('inside', [False, True])
def test_actuators_are_nodes_unless_they_run_inside_the_system(inside):
    nodes = {spec.name: spec for spec in gazebo_graph('quadrotor', inside).nodes}
    assert 'vehicle' not in nodes
    assert ('rotors' in nodes) != inside
    if 'rotors' in nodes:
        assert nodes['rotors'].parameters['publish_numbers']
