# SPDX-License-Identifier: Apache-2.0
"""What a node says that has heard nothing yet, over a real graph."""
from __future__ import annotations

from collections import Counter

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import FluidPressure, JointState
from std_msgs.msg import String

from parts import few_of
from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.ports import OK, WARN
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.allocator_node import AllocatorNode
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from propulsion_ros.nodes.host_node import FirstMessage
from propulsion_ros.nodes.inverse_fam_node import InverseFamNode
from propulsion_ros.settings.names import full_name


class Waiting:
    """A node that waits for /rotors/command, and others about it."""

    def __init__(self, graph):
        self.graph, self.members, self.contexts = graph, [], []
        self.node = self.join('rotors', graph.context)
        # A test that ran before may have asked rclpy for warnings alone.
        self.node.get_logger().set_level(LoggingSeverity.INFO)
        self.node.create_subscription(JointState, '~/command', lambda message: None, 10)
        self.first = FirstMessage(self.node, {'~/command': JointState}, 'command', Counter())

    def join(self, name, context=None):
        """Add a node, in a context of its own: one has no topic with two types."""
        if context is None:
            context = rclpy.Context()
            rclpy.init(args=[], context=context)
            self.contexts.append(context)
        self.members.append(Node(name, context=context, namespace='/'))
        return self.members[-1]

    def close(self):
        for node in self.members:
            node.destroy_node()
        for context in self.contexts:
            rclpy.shutdown(context=context)

    def publish(self, kind, topic, quality=10):
        """Add the node /pilot with a publisher."""
        pilot = self.join('pilot')
        pilot.create_publisher(kind, topic, quality)
        self.known(self.node.count_publishers, topic)
        self.graph.until(
            lambda: '/pilot' in map(full_name, self.node.get_publishers_info_by_topic(topic)),
            'the name of the pilot',
        )
        return pilot

    def known(self, count, topic):
        self.graph.until(lambda: count(topic) > 0, f'{topic} to be known')


@pytest.fixture
def waiting(graph):
    waiting = Waiting(graph)
    yield waiting
    waiting.close()


@pytest.mark.parametrize(('kind', 'topic', 'level', 'said'), [
    pytest.param(None, '', OK, '/rotors/command has no publisher', id='nobody'),
    pytest.param(JointState, '/rotors/command', OK, '/rotors/command has had none from /pilot',
                 id='a silent publisher'),
    pytest.param(String, '/rotors/command', WARN, '/rotors/command is published as '
                 'std_msgs/msg/String, expected sensor_msgs/msg/JointState', id='of another type'),
    pytest.param(JointState, '/rotor/command', WARN, '/rotor/command is published without a '
                 'subscription, expected /rotors/command', id='misspelt'),
    pytest.param(JointState, '/robot/rotors/command', WARN, '/robot/rotors/command is published '
                 'without a subscription, expected /rotors/command', id='another namespace'),
    pytest.param(String, '/rotor/command', OK, '/rotors/command has no publisher',
                 id='misspelt, of another type'),
    pytest.param(JointState, '/joint_states', OK, '/rotors/command has no publisher',
                 id='something else'),
])
def test_graph_says_why_nothing_came(waiting, kind, topic, level, said):
    if kind:
        waiting.publish(kind, topic)
    assert waiting.first.look() == (level, f'no command yet: {said}')


@pytest.mark.parametrize(('topic', 'kind', 'said'), [
    pytest.param('/odometry', Odometry, '/odometry, which has no publisher, expected '
                 '/vehicle/odometry', id='another namespace'),
    pytest.param('/vehicle/odometri', Odometry, '/vehicle/odometri, which has no publisher, '
                 'expected /vehicle/odometry', id='misspelt'),
    pytest.param('/vehicle/odometry', FluidPressure, '/vehicle/odometry as sensor_msgs/msg/'
                 'FluidPressure, which is published as nav_msgs/msg/Odometry', id='another type'),
    pytest.param('/goal', Odometry, '', id='something else'),
    pytest.param('/pilot/odometry', Odometry, '', id='offered by itself'),
    pytest.param('/vehicle/odometry', Odometry, '', id='right'),
])
def test_publisher_that_listens_in_vain_is_a_mistake(waiting, topic, kind, said):
    waiting.node.create_publisher(Odometry, '/vehicle/odometry', 10)
    pilot = waiting.publish(JointState, '/rotors/command')
    pilot.create_subscription(kind, topic, lambda message: None, 10)
    waiting.known(waiting.node.count_publishers, '/vehicle/odometry')
    ends = waiting.node.get_subscriptions_info_by_topic
    waiting.graph.until(lambda: '/pilot' in map(full_name, ends(topic)), 'what the pilot hears')
    assert waiting.first.look() == (
        (WARN, f'no command yet: /pilot listens to {said}') if said else
        (OK, 'no command yet: /rotors/command has had none from /pilot')
    )


def test_best_effort_for_a_reliable_subscription_is_a_mistake(waiting):
    waiting.publish(JointState, '/rotors/command', qos_profile_sensor_data)
    assert waiting.first.look() == (
        WARN, 'no command yet: /pilot publishes /rotors/command as best effort, expected reliable'
    )


def test_own_topic_is_no_mistake(waiting):
    waiting.node.create_publisher(JointState, '~/commands', 10)
    waiting.known(waiting.node.count_publishers, '/rotors/commands')
    assert waiting.first.look()[0] == OK


@pytest.mark.parametrize(('topic', 'look', 'level', 'text'), [
    pytest.param('/rotor/command', 4, 'WARN', '/rotor/command is published', id='mistake, fifth'),
    pytest.param('', 9, 'INFO', '/rotors/command has no publisher', id='absence, tenth'),
])
def test_it_is_logged_at_one_look_and_once(waiting, capfd, topic, look, level, text):
    if topic:
        waiting.publish(JointState, topic)
    lines = []
    for _ in range(12):
        waiting.first.look()
        lines.append(capfd.readouterr().err)
    assert f'[{level}]' in lines[look]
    assert f'no command yet: {text}' in lines[look]
    assert not any(lines[:look] + lines[look + 1:])


@pytest.mark.parametrize(('cls', 'name', 'file', 'topic', 'command'), few_of([
    pytest.param(ActuatorNode, 'rotors', 'rotors', '/rotors/command',
                 JointState(name=['front_left'], effort=[1.0]), id='actuators'),
    pytest.param(ActuatorNode, 'fam', 'fam', '/fam/wrench_command', WrenchStamped(), id='fam'),
    pytest.param(AllocatorNode, 'rotors', 'rotors', '/rotors/wrench_command', WrenchStamped(),
                 id='allocator'),
    pytest.param(InverseFamNode, 'inverse_fam', 'fam', '/inverse_fam/command',
                 JointState(name=['nozzle_1'], position=[0.3]), id='inverse_fam'),
], 3))
def test_nodes_say_it_in_their_diagnostics_until_commanded(graph, cls, name, file, topic, command):
    path = share_directory() / 'config' / f'{file}.yaml'
    graph.add(cls, name, cli_args=['--ros-args', '--params-file', str(path)])
    diagnostics = graph.listen(DiagnosticArray, '/diagnostics')
    graph.heard('/diagnostics')
    assert diagnostics[-1].status[0].level == DiagnosticStatus.OK
    assert diagnostics[-1].status[0].message == f'no command yet: {topic} has no publisher'
    talk = graph.talk(type(command), topic)

    def is_content():
        talk.publish(command)
        return 'no command yet' not in diagnostics[-1].status[0].message
    graph.until(is_content, 'a diagnosis without the complaint')


def test_commands_that_are_all_refused_are_counted(graph):
    """The line had none of them."""
    path = share_directory() / 'config' / 'rotors.yaml'
    graph.add(ActuatorNode, 'rotors', cli_args=['--ros-args', '--params-file', str(path)])
    diagnostics = graph.listen(DiagnosticArray, '/diagnostics')
    commands = graph.talk(JointState, '/rotors/command')
    for _ in range(3):
        commands.publish(JointState(name=['no_rotor'], effort=[1.0]))
    graph.until(lambda: diagnostics and 'has had 3' in diagnostics[-1].status[0].message, 'three')
    status = diagnostics[-1].status[0]
    assert status.level == DiagnosticStatus.WARN
    assert status.message.startswith('no command yet: /rotors/command has had 3 from /')
    assert status.message.endswith(', none of use')


def altitude_of(diagnostics):
    """Return level and text of the altitude, as the newest diagnostics have it."""
    rows = diagnostics[-1].status if diagnostics else ()
    return next(
        ((row.level, row.message) for row in rows if row.name.endswith('altitude')), (None, '')
    )


@pytest.mark.parametrize(('source', 'kind'), [('odometry', Odometry), ('pressure', FluidPressure)])
def test_flight_state_says_which_sample_it_lacks(graph, source, kind):
    graph.add(FlightStateNode, 'flight_state', {'altitude_source': source})
    diagnostics = graph.listen(DiagnosticArray, '/diagnostics')
    topic = f'/flight_state/{source}'
    graph.becomes(lambda: altitude_of(diagnostics), (
        DiagnosticStatus.WARN, f'no sample yet: {topic} has no publisher',
    ))
    message = kind()
    message.header.stamp.sec = 1
    talk = graph.talk(kind, topic, 1)

    def is_content():
        talk.publish(message)
        return 'no sample yet' not in altitude_of(diagnostics)[1]

    graph.until(is_content, 'a diagnosis without the complaint')
