# SPDX-License-Identifier: Apache-2.0
"""Every lifecycle transition of every kind of node, by its service."""
from __future__ import annotations

import pytest
from lifecycle_msgs.msg import Transition
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from parts import few_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.allocator_node import AllocatorNode
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from propulsion_ros.nodes.inverse_fam_node import InverseFamNode
from propulsion_ros.nodes.vehicle_node import VehicleNode
from propulsion_ros.nodes.visualizer_node import VisualizerNode

ROTORS = {'family': 'rotors', 'names': ['r'], 'max_thrust': [5.0], 'motor_constant': [1e-5]}
QUADROTOR = read_description(share_directory() / 'urdf' / 'quadrotor.urdf.xacro').text
NODES = [
    pytest.param(ActuatorNode, ROTORS, id='actuators'),
    pytest.param(AllocatorNode, {'robot_description': QUADROTOR, 'plugin': 'rotors'},
                 id='allocator'),
    pytest.param(InverseFamNode, {}, id='inverse_fam'),
    *(pytest.param(FlightStateNode, {
        'config_file': str(share_directory() / 'config' / 'rocket_flight.jsonc'),
        'altitude_source': source,
    }, id=f'flight_state of {source}') for source in ('odometry', 'pressure', 'sensors')),
    pytest.param(VehicleNode, {
        'robot_description': QUADROTOR, 'wrench_topics': ['rotors/wrench'],
        'tank_topics': ['boosters/tanks/main'], 'deployer_topic': 'flight_state/deployers',
        'parachutes.names': ['main'], 'parachutes.drag_area': [1.0],
    }, id='vehicle'),
    pytest.param(VisualizerNode, {
        'robot_description': QUADROTOR, 'state_topics': ['rotors/state'],
    }, id='visualizer'),
]
# Each row: what is asked, and the state that it leaves.
WAY = [
    (Transition.TRANSITION_CONFIGURE, 'inactive'),
    (Transition.TRANSITION_ACTIVATE, 'active'),
    (Transition.TRANSITION_DEACTIVATE, 'inactive'),
    (Transition.TRANSITION_ACTIVATE, 'active'),
    (Transition.TRANSITION_DEACTIVATE, 'inactive'),
    (Transition.TRANSITION_CLEANUP, 'unconfigured'),
    (Transition.TRANSITION_CONFIGURE, 'inactive'),
    (Transition.TRANSITION_ACTIVATE, 'active'),
]
ENDS = {
    'unconfigured': ([], Transition.TRANSITION_UNCONFIGURED_SHUTDOWN),
    'inactive': ([Transition.TRANSITION_CONFIGURE], Transition.TRANSITION_INACTIVE_SHUTDOWN),
    'active': (
        [Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE],
        Transition.TRANSITION_ACTIVE_SHUTDOWN,
    ),
}


@pytest.mark.parametrize(('cls', 'parameters'), NODES)
def test_there_and_back_and_there_again(graph, capfd, cls, parameters):
    graph.add(cls, 'node', {'autostart': False, **parameters})
    for transition, state in WAY:
        assert graph.change('node', transition)
        assert graph.state_of('node') == state
    assert 'Traceback' not in capfd.readouterr().err


@pytest.mark.parametrize(('cls', 'parameters'), NODES)
def test_what_comes_before_the_first_activation_does_nothing(graph, cls, parameters):
    node = graph.add(cls, 'node', {'autostart': False, **parameters})
    assert graph.change('node', Transition.TRANSITION_CONFIGURE)
    # rclpy calls back in every state.
    for subscription in node.subscriptions:
        message = subscription.msg_type()
        # Faults of a group are latched, so they are taken before activation too.
        is_latched = subscription.topic_name.endswith('/effectiveness')
        if isinstance(message, JointState) and not is_latched:
            message.name, message.effort = ['main'], [1.0]
        subscription.callback(serialize_message(message) if subscription.raw else message)
    for timer in node.timers:
        timer.callback()
    assert not node.counts
    assert graph.change('node', Transition.TRANSITION_ACTIVATE)
    assert graph.state_of('node') == 'active'


@pytest.mark.parametrize(('cls', 'parameters'), NODES)
@pytest.mark.parametrize('state', few_of(['active', 'inactive', 'unconfigured'], 3))
def test_shutdown_from_every_state(graph, capfd, cls, parameters, state):
    graph.add(cls, 'node', {'autostart': False, **parameters})
    first, last = ENDS[state]
    for transition in first:
        assert graph.change('node', transition)
    assert graph.state_of('node') == state
    assert graph.change('node', last)
    assert graph.state_of('node') == 'finalized'
    assert 'Traceback' not in capfd.readouterr().err


def test_transition_that_does_not_apply_is_refused(graph):
    graph.add(ActuatorNode, 'node', {'autostart': False, **ROTORS})
    assert not graph.change('node', Transition.TRANSITION_ACTIVATE)
    assert graph.state_of('node') == 'unconfigured'
