# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.decoders import msg_to_wrench, stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import wrench_to_msg
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.allocator_node import AllocatorNode

MS = 1_000_000
GROUPS = [
    pytest.param('thrusters', [5.0, -3.0, 4.0, 0.0, 0.0, 1.0], id='thrusters by velocity'),
    pytest.param('rotors', [0.0, 0.0, 20.0, 0.2, -0.1, 0.05], id='rotors by effort'),
]


def settings(group):
    return ['--ros-args', '--params-file', str(share_directory() / 'config' / f'{group}.yaml')]


def allocator(graph, group, name=None, **parameters):
    """An allocator that reads the group's own parameter file."""
    return graph.add(
        AllocatorNode, name or group, {**parameters},
        namespace='/allocation', cli_args=settings(group),
    )


def demand(graph, node, wrench, ms=100, frame='base_link'):
    name = node.get_fully_qualified_name()
    commands = graph.listen(JointState, f'{name}/command', qos.COMMAND)
    residuals = graph.listen(WrenchStamped, f'{name}/residual', qos.COMMAND)
    talk = graph.talk(WrenchStamped, f'{name}/wrench_command', qos.COMMAND)
    graph.until(
        lambda: all(node.subscriptions_to(outlet) == 1 for outlet in node.loop.outlets),
        'the probe to be found',
    )
    talk.publish(wrench_to_msg(ms * MS, frame, np.asarray(wrench, float)))
    return commands, residuals


@pytest.mark.parametrize(('group', 'wrench'), GROUPS)
def test_command_settles_at_the_demanded_wrench(graph, group, wrench):
    node = allocator(graph, group)
    commands, residuals = demand(graph, node, wrench)
    graph.until(lambda: commands and residuals, 'a command')
    assert stamp_to_ns(commands[0].header.stamp) == 100 * MS
    np.testing.assert_allclose(msg_to_wrench(residuals[0]), 0.0, atol=1e-9)
    # The actuators themselves are the judge.
    actuators = graph.add(
        ActuatorNode, group, {'step_on': 'stamp', 'command_timeout': 0.0},
        cli_args=settings(group),
    )
    wrenches = graph.listen(WrenchStamped, f'/{group}/wrench', qos.COMMAND)
    talk = graph.talk(JointState, f'/{group}/command', qos.COMMAND)
    graph.until(lambda: actuators.subscriptions_to(actuators.loop._wrench) == 1, 'the probe')
    command = commands[0]
    for seconds in range(1, 4):
        command.header.stamp.sec = seconds
        talk.publish(command)
    graph.until(
        lambda: wrenches and wrenches[-1].header.stamp.sec == 3, 'the wrench to settle'
    )
    np.testing.assert_allclose(msg_to_wrench(wrenches[-1]), wrench, atol=2e-6)


def test_too_large_a_demand_is_bounded_and_said(graph):
    node = allocator(graph, 'thrusters')
    diagnostics = graph.listen(DiagnosticArray, '/diagnostics')
    commands, residuals = demand(graph, node, [1e4, 0.0, 0.0, 0.0, 0.0, 0.0])
    graph.until(lambda: commands and residuals, 'a command')
    assert max(abs(v) for v in commands[0].velocity) <= 350.0 + 1e-9
    assert msg_to_wrench(residuals[0])[0] > 9e3
    found = lambda: [  # noqa: E731
        s for m in diagnostics for s in m.status
        if s.name == 'thrusters: allocation' and s.message == 'saturated'
    ]
    graph.until(found, 'a diagnosis')


@pytest.mark.parametrize(('wrench', 'frame', 'said'), [
    pytest.param([np.nan] * 6, 'base_link', 'force.x is not finite', id='NaN'),
    pytest.param([0.0] * 6, 'map', "expected the frame 'base_link', got 'map'", id='frame'),
])
def test_refused_demand_makes_no_command(graph, capfd, wrench, frame, said):
    node = allocator(graph, 'thrusters')
    commands, _ = demand(graph, node, wrench, frame=frame)
    graph.until(lambda: node.counts['refused'] == 1, 'the refusal')
    assert not commands
    assert said in capfd.readouterr().err


def test_only_groups_that_push_at_will_can_be_allocated(graph, capfd):
    node = allocator(graph, 'fins')
    assert node.has_failed
    assert "expected rotors or thrusters or jets, got 'fins'" in capfd.readouterr().err
