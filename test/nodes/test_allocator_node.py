# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from propulsion_ros.loops.decoders import msg_to_wrench
from propulsion_ros.messages import qos
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.allocator_node import AllocatorNode
from ros_graph import wrench_message

MS = 1_000_000
ROTORS = {
    'family': 'rotors', 'names': ['a', 'b', 'c', 'd'], 'max_thrust': [10.0],
    'motor_constant': [1e-5], 'step_on': 'stamp', 'command_timeout': 0.0,
    'position': [0.2, 0.2, 0.0, 0.2, -0.2, 0.0, -0.2, 0.2, 0.0, -0.2, -0.2, 0.0],
}
BOOSTERS = {
    'family': 'boosters', 'names': ['a', 'b', 'c'], 'max_thrust': [100.0], 'min_thrust': [10.0],
    'max_fuel_rate': [0.1], 'step_on': 'stamp', 'command_timeout': 0.0,
    'position': [1.0, 0.0, 0.0, -0.5, 0.8, 0.0, -0.5, -0.8, 0.0],
}


class Robot:
    """A group and its allocator as a launch file joins them, or in one process."""

    def __init__(self, graph, group, **parameters):
        self.graph, self.ms = graph, 0
        self.group = graph.add(ActuatorNode, 'group', {**group, **parameters})
        self.add_allocator(group)
        graph.listen(WrenchStamped, 'group/wrench', qos.COMMAND)
        self.commands = graph.listen(JointState, 'group/command', qos.COMMAND)
        self.talk = graph.talk(WrenchStamped, 'group_allocator/wrench_command', qos.COMMAND)
        graph.connected(self.group, '~/wrench')
        graph.until(lambda: (
            self.allocator.subscriptions_to(self.allocator.loop.outlets[0]) == 2
        ), 'the group and the probe to be found')

    def add_allocator(self, group):
        remap = [
            f'group_allocator/{topic}:=group/{topic}' for topic in ('command', 'effectiveness')
        ]
        self.allocator = self.graph.add(AllocatorNode, 'group_allocator', group, cli_args=[
            '--ros-args', *(word for rule in remap for word in ('-r', rule)),
        ])

    def set(self, node, **values):
        for key, value in values.items():
            (result,) = node.set_parameters([Parameter(key, value=value)])
            assert result.successful, result.reason

    def faulty(self, count):
        def found():
            ((_, _, _, values),) = self.allocator.health()
            return values['faulty'] == count
        self.graph.until(found, f'{count} faults to be known')

    def make(self, *wrench):
        """Return the wrench that the group makes of a demand."""
        self.ms += 100
        self.talk.publish(wrench_message(self.ms * MS, wrench))
        return msg_to_wrench(self.graph.at('group/wrench', self.ms * MS))


@pytest.mark.parametrize(('group', 'lift', 'fault', 'thrusts'), [
    pytest.param(ROTORS, 12.0, {'efficiency': [0.0, 1.0, 1.0, 1.0]}, [0.0, 6.0, 6.0, 0.0],
                 id='failed rotor'),
    pytest.param(ROTORS, 12.0, {'switched_off': ['a']}, [0.0, 6.0, 6.0, 0.0],
                 id='rotor switched off'),
    pytest.param(BOOSTERS, 60.0, {'efficiency': [1.0, 0.8, 0.8]}, None, id='derated boosters'),
])
def test_faults_of_the_running_group_are_reckoned_with(graph, group, lift, fault, thrusts):
    robot = Robot(graph, group)
    demand = [0.0, 0.0, lift, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(robot.make(*demand), demand, atol=1e-9)
    robot.set(robot.group, **fault)
    robot.faulty(1 if thrusts else 2)
    np.testing.assert_allclose(robot.make(*demand), demand, atol=1e-9)
    if thrusts:
        np.testing.assert_allclose(robot.commands[-1].effort, thrusts, atol=1e-9)
    n = len(group['names'])
    if 'efficiency' in fault:
        robot.set(robot.group, efficiency=[1.0] * n)
        robot.faulty(0)
        np.testing.assert_allclose(robot.make(*demand), demand, atol=1e-9)
        np.testing.assert_allclose(robot.commands[-1].effort, lift / n, atol=1e-9)


def test_an_allocator_that_starts_later_learns_of_faults(graph):
    robot = Robot(graph, ROTORS, efficiency=[1.0, 1.0, 0.25, 1.0])
    robot.faulty(1)
    demand = [0.0, 0.0, 8.0, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(robot.make(*demand), demand, atol=1e-9)
