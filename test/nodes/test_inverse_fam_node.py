# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from propulsion_ros.loops.decoders import msg_to_wrench
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.inverse_fam_node import InverseFamNode
from ros_graph import stamped, wrench_message

MS = 1_000_000
SIM = {'use_sim_time': True}
WANTED = np.array([0.1, 0.02, -0.05, 0.004, 0.002, -0.003])


class Pair:
    """Force allocation and its inverse, joined as on a robot, with a clock and the topics."""

    def __init__(self, graph, fam=(), inverse=()):
        self.graph = graph
        self.fam = graph.add(
            ActuatorNode, 'fam', {**SIM, 'family': 'fam', 'update_rate': 62.5, **dict(fam)},
        )
        self.inverse = graph.add(
            InverseFamNode, 'inverse_fam', {**SIM, **dict(inverse)},
            cli_args=['--ros-args', '-r', '~/command:=/fam/state',
                      '-r', '~/wrench_command:=/fam/wrench_command'],
        )
        for topic in ('wrench', 'residual'):
            graph.listen(WrenchStamped, f'inverse_fam/{topic}', qos.COMMAND)
        self.clock = graph.talk(Clock, '/clock', qos.CLOCK)
        self.demand = graph.talk(WrenchStamped, 'fam/wrench_command', qos.COMMAND)
        graph.connected(self.inverse, '~/wrench', '~/residual')
        graph.connected(self.fam, '~/state')
        graph.until(
            lambda: self.clock.get_subscription_count() == 4
            and self.demand.get_subscription_count() == 2,
            'both nodes, each with its own clock too, to be found',
        )

    def run(self, ms, wrench=WANTED):
        """Ask for a wrench at one tick; return what is applied there, and the residual."""
        self.demand.publish(wrench_message(ms * MS, wrench))
        for node in (self.fam, self.inverse):
            self.graph.becomes(lambda node=node: node.loop.inputs.newest_ns, ms * MS)
        self.clock.publish(Clock(clock=ns_to_stamp(ms * MS)))
        return [self.graph.at(f'inverse_fam/{topic}', ms * MS) for topic in ('wrench', 'residual')]


def test_applied_wrench_comes_back_at_the_stamp_of_the_command(graph):
    applied, residual = Pair(graph).run(160)
    assert applied.header.frame_id == 'base_link'
    wrench = msg_to_wrench(applied)
    np.testing.assert_allclose(wrench[:3], WANTED[:3], atol=3e-3)
    np.testing.assert_allclose(msg_to_wrench(residual) + wrench, WANTED, atol=1e-12)


@pytest.mark.parametrize('early', [False, True], ids=['active', 'inactive'])
@pytest.mark.parametrize(('cls', 'name'), [(ActuatorNode, 'fam'), (InverseFamNode, 'inverse_fam')])
def test_latched_centre_of_mass_holds_for_late_joiners_and_after_a_reset(graph, cls, name, early):
    publisher = graph.probe.create_publisher(InertiaStamped, f'{name}/inertia', qos.LATCHED)
    message = stamped(InertiaStamped, 5 * MS, 'base_link')
    com = message.inertia.com
    com.x, com.y, com.z = 0.05, 0.02, -0.03
    publisher.publish(message)
    parameters = {'family': name, 'use_sim_time': True, 'autostart': not early}
    node = graph.add(cls, name, parameters)
    if early:
        # It comes once only, before anybody activates the node.
        node.trigger_configure()
        graph.until(lambda: node.loop.core.com.value is not None, 'the latched inertia')
        node.trigger_activate()
    # Time has gone on since then, as it has for any latched message.
    clock = graph.talk(Clock, '/clock', qos.CLOCK)
    clock.publish(Clock(clock=ns_to_stamp(100_000 * MS)))
    graph.until(lambda: node.loop.core.com.value is not None, 'the latched inertia')
    graph.until(lambda: node.loop.inputs.clock_ns is not None, 'the clock')
    assert node.loop.core.com.value.tolist() == [0.05, 0.02, -0.03]
    node.loop.core.reset()
    if name == 'fam':
        moved = Fam(FamParams(com=[0.05, 0.02, -0.03])).allocate(WANTED).thrust
        np.testing.assert_array_equal(node.loop.family.allocate(WANTED).thrust, moved)
    else:
        np.testing.assert_allclose(
            node.loop.family.to_origin[3:, :3] @ [1.0, 0.0, 0.0],
            np.cross([0.05, 0.02, -0.03], [1.0, 0.0, 0.0]),
        )


@pytest.mark.parametrize('settings', [
    pytest.param({**SIM, 'reliable_inputs': True}, id='replay without a clock'),
    pytest.param({}, id="robot, by the system's clock"),
])
def test_command_is_answered_without_a_clock_topic(graph, settings):
    node = graph.add(InverseFamNode, 'inverse_fam', settings)
    wrenches = graph.listen(WrenchStamped, 'inverse_fam/wrench', qos.COMMAND)
    command = graph.talk(JointState, 'inverse_fam/command', qos.COMMAND)
    graph.connected(node, '~/wrench')
    stamp_ns = node.now_ns() or 500_000 * MS
    message = stamped(JointState, stamp_ns, name=['nozzle_1'], position=[1.0])
    command.publish(message)
    graph.until(lambda: wrenches, 'an answer')
    assert wrenches[0].header.stamp == message.header.stamp
