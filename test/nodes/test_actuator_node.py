# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from rcl_interfaces.srv import DescribeParameters
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes.actuator_node import ActuatorNode
from ros_graph import stamped

MS = 1_000_000
PLAIN = {
    'family': 'boosters', 'names': ['b'], 'max_thrust': [1000.0], 'max_fuel_rate': [1.0],
    'tank': ['t'], 'tanks.names': ['t'], 'tanks.capacity': [10.0],
    'gimbals.booster': ['b'], 'gimbals.joints': ['x', 'y'], 'gimbals.range': [0.1],
    'step_on': 'stamp',
}


class Boosters:
    """A node under test with its topics."""

    def __init__(self, graph, start=True, **parameters):
        self.graph = graph
        self.node = graph.add(ActuatorNode, 'boosters', {**PLAIN, **parameters}, start)
        self.wrenches = graph.listen(WrenchStamped, 'boosters/wrench', qos.COMMAND)
        self.states = graph.listen(JointState, 'boosters/state', qos.COMMAND)
        if start:
            self.command = graph.talk(JointState, 'boosters/command', qos.COMMAND)
            graph.connected(self.node, '~/wrench', '~/state')

    def send(self, ms, thrust=None, **fields):
        fields = fields or {'name': ['b'], 'effort': [thrust]}
        self.command.publish(stamped(JointState, ms * MS, **fields))

    def fly(self, begin_ms, end_ms, thrust):
        """Command every 10 ms and return the wrench of the last stamp."""
        for ms in range(begin_ms, end_ms + 1, 10):
            self.send(ms, thrust)
        return self.wrench_at(end_ms)

    def wrench_at(self, ms):
        return self.graph.at('boosters/wrench', ms * MS)


@pytest.fixture
def boosters(graph):
    return Boosters(graph)


def test_deactivation_says_zero_once_and_old_commands_do_not_come_back(boosters):
    boosters.fly(10, 20, 800.0)
    graph = boosters.graph
    assert graph.change('boosters', Transition.TRANSITION_DEACTIVATE)
    graph.until(lambda: boosters.wrenches[-1].wrench.force.z == 0.0, 'a zero wrench')
    count = len(boosters.wrenches)
    boosters.send(30, 800.0)
    assert graph.change('boosters', Transition.TRANSITION_ACTIVATE)
    boosters.send(40, name=['y'], position=[0.01])
    assert boosters.wrench_at(40).wrench.force.z == 0.0
    assert len(boosters.wrenches) == count + 1, 'nothing came while it was inactive'


def test_cleanup_leaves_nothing_and_it_can_be_configured_again(boosters):
    graph, node = boosters.graph, boosters.node
    boosters.fly(10, 20, 800.0)
    counts = []
    for _ in range(3):
        assert graph.change(
            'boosters', Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP
        )
        assert not node.entities
        assert not node._managed_entities
        assert graph.change(
            'boosters', Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE
        )
        counts.append((
            len(list(node.publishers)), len(list(node.subscriptions)), len(list(node.services)),
            len(list(node.timers)), len(node._managed_entities),
        ))
    assert counts[0] == counts[1] == counts[2]
    graph.connected(node, '~/wrench')
    graph.until(boosters.command.get_subscription_count, 'its subscription')
    assert boosters.fly(1010, 1020, 700.0).wrench.force.z == 700.0


@pytest.mark.parametrize('comes_first', [True, False], ids=['clock first', 'node first'])
def test_clock_whose_losses_are_not_repaired_steps_it(graph, comes_first):
    """So ``ros2 bag play --clock`` publishes it."""
    profile = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    clock = graph.talk_later(Clock, '/clock', profile) if comes_first else None
    boosters = Boosters(graph, step_on='clock', use_sim_time=True)
    clock = clock or graph.talk_later(Clock, '/clock', profile)
    for _ in range(2):
        # rclpy's own clock hears it too.
        graph.until(lambda: clock.get_subscription_count() == 2, 'the clock to be found')
        boosters.wrenches.clear()

        def steps():
            clock.publish(Clock(clock=ns_to_stamp(1000 * MS)))
            return boosters.wrenches

        graph.until(steps, 'a step')
        assert boosters.wrenches[0].header.stamp == ns_to_stamp(1000 * MS)
        boosters.node.trigger_deactivate()
        boosters.node.trigger_cleanup()
        boosters.node.start()


def test_parameters_describe_themselves(boosters):
    request = DescribeParameters.Request(names=['max_thrust', 'command_timeout'])
    described = boosters.graph.call(
        DescribeParameters, 'boosters/describe_parameters', request
    ).descriptors
    assert described[0].description == 'thrust at throttle 1 [N]'
    assert described[0].additional_constraints == 'above 0, one value per name'
    assert described[1].description.endswith('[s]')
    assert described[0].read_only


@pytest.mark.parametrize(('given', 'text'), [
    pytest.param({'autostart': 1}, "'autostart': expected true or false, got 1", id='autostart'),
    pytest.param({'tanks.names': ['a b'], 'tank': ['a b']},
                 "parameter 'tanks.names[0]': 'a b' cannot be part of a topic name",
                 id='name that is no topic'),
    pytest.param({'robot_description': '<robot name="r"><link name="base_link"/></robot>'},
                 "parameter 'plugin': no plugin block 'boosters'; found: none",
                 id='description without a block'),
])
def test_wrong_configuration_stops_the_start_in_one_line(graph, capfd, given, text):
    boosters = Boosters(graph, start=False, **given)
    boosters.node.start()
    assert boosters.node.has_failed
    assert not boosters.node.is_active
    err = capfd.readouterr().err
    assert err.count('[ERROR]') == 1
    assert text in err
    assert 'Traceback' not in err


def test_family_is_required_of_a_node_whose_name_is_none(graph, capfd):
    assert graph.add(ActuatorNode, 'rotor').has_failed
    assert (
        "parameter 'family': is required, the node's name 'rotor' is none, did you mean 'rotors'?"
    ) in capfd.readouterr().err


def test_robot_description_may_come_from_a_topic(graph):
    publisher = graph.probe.create_publisher(String, 'robot_description', qos.LATCHED)
    publisher.publish(String(data="""<robot name="r"><link name="base_link"/><gazebo>
      <plugin filename="propulsion_ros" name="boosters"><booster name="from_the_topic">
        <link>base_link</link><max_thrust>1000</max_thrust><max_fuel_rate>1</max_fuel_rate>
      </booster></plugin></gazebo></robot>"""))
    node = graph.add(ActuatorNode, 'boosters', {'description_topic': 'robot_description'})
    assert node.loop.family.actuator_names == ('from_the_topic',)


def test_robot_description_that_never_comes_is_said(graph, capfd):
    node = graph.add(ActuatorNode, 'boosters', {
        'description_topic': 'robot_description', 'description_timeout': 0.3,
    })
    assert node.has_failed
    assert 'nothing on robot_description within 0.3 s' in capfd.readouterr().err
