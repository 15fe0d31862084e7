# SPDX-License-Identifier: Apache-2.0
"""Actuators are driven by the messages of ros2_control's hardware interface for topics."""
from __future__ import annotations

import math

import pytest
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState

from markdown_pages import REPOSITORY
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.settings.yaml_file import settings_of

FIELDS = ('position', 'velocity', 'effort')


class Hardware:
    """Reads and writes as `JointStateTopicSystem` does.

    Parameters
    ----------
    joints : dict of str
        Command interface of each joint.
    """

    def __init__(self, graph, group, joints):
        self._graph, self._joints = graph, joints
        self._node = graph.probe
        self.states = {}
        self._commands = graph.talk(JointState, f'/{group}/command', QoSProfile(depth=1))
        self._node.create_subscription(
            JointState, f'/{group}/joint_states', self._read, qos_profile_sensor_data
        )

    def write(self, values):
        """Write a value for each joint, into the arrays of their interfaces."""
        message = JointState(name=list(self._joints))
        message.header.stamp = self._node.get_clock().now().to_msg()
        for (_, interface), value in zip(self._joints.items(), values, strict=True):
            getattr(message, interface).append(value)
        self._commands.publish(message)

    def _read(self, message):
        for i, name in enumerate(message.name):
            if name in self._joints:
                # It takes each field for granted.
                self.states[name] = {field: getattr(message, field)[i] for field in FIELDS}


def group_of(graph, vehicle, name):
    """Return an actuator node of a vehicle as a robot runs it, with its joints' states."""
    share = share_directory()
    [spec] = [spec for spec in robot_graph(vehicle).nodes if spec.name == name]
    settings = settings_of([share / 'config' / f'{vehicle}.yaml'], name)
    return graph.add(ActuatorNode, name, {
        **settings, 'robot_description': spec.parameters['robot_description'],
        'publish_joint_states': True, 'use_sim_time': False, 'step_on': 'clock',
    })


@pytest.mark.parametrize(('vehicle', 'group', 'interface', 'value', 'unset'), [
    ('quadrotor', 'rotors', 'effort', 3.0, 'position'),
    ('rov', 'fins', 'position', 0.2, 'velocity'),
])
def test_group_follows_and_its_state_comes_back(graph, vehicle, group, interface, value, unset):
    node = group_of(graph, vehicle, group)
    joints = dict.fromkeys(node.loop.family.command_names, interface)
    hardware = Hardware(graph, group, joints)

    def follows():
        hardware.write([value] * len(joints))
        return len(hardware.states) == len(joints) and all(
            state[interface] == pytest.approx(value, rel=1e-3)
            for state in hardware.states.values()
        )
    graph.until(follows, 'the state that was commanded')
    assert all(math.isnan(state[unset]) for state in hardware.states.values())
    assert not node.counts['refused']
    assert not node.counts['other_time']


def test_block_with_two_interfaces_is_refused_in_one_line(graph, capfd):
    node = group_of(graph, 'rocket', 'boosters')
    fields = dict(zip(
        node.loop.family.command_names, node.loop.family.command_fields, strict=True
    ))
    hardware = Hardware(graph, 'boosters', fields)
    graph.until(lambda: hardware.write([0.0] * len(fields)) or node.counts['refused'], 'a line')
    assert 'command refused' in capfd.readouterr().err


def test_page_names_joints_and_interfaces_of_the_quadrotor():
    page = (REPOSITORY / 'docs' / 'ros2_control.md').read_text(encoding='utf-8')
    assert 'quadrotor' in VEHICLES
    for name in ('front_left', 'front_right', 'rear_left', 'rear_right'):
        assert f'<joint name="{name}">\n    <command_interface name="effort"/>' in page
