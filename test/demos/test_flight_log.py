# SPDX-License-Identifier: Apache-2.0
"""What is received of a flown robot from its first step on."""
from rclpy.node import Node
from sensor_msgs.msg import JointState

from propulsion_ros.demos.demo import FlightLog
from propulsion_ros.demos.flight import joined
from propulsion_ros.demos.pilot_node import PilotNode
from propulsion_ros.messages import qos


def test_commands_are_recorded_once_their_publisher_was_found(graph):
    allocator = Node('rotors_allocator', context=graph.context)
    with joined():
        log = PilotNode(FlightLog('robot', ['rotors/state', 'fins/state']))
        allocated, own = ['/rotors_allocator/wrench_command'], ['rotors/command']
        assert log.lacks(allocated)
        assert log.lacks(own)
        assert not log.lacks([])
        allocator.create_publisher(JointState, 'rotors/command', qos.LOCKSTEP_COMMAND)
        graph.until(lambda: not log.lacks(allocated), 'the publisher of the allocator')
        assert log.lacks(own)
        graph.talk_later(JointState, 'rotors/command', qos.LOCKSTEP_COMMAND)
        graph.until(lambda: not log.lacks(own), 'the publisher of the controller')
        assert log.lacks([*own, 'fins/command'])
        log.destroy_node()
    allocator.destroy_node()
