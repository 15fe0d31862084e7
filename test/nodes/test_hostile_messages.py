# SPDX-License-Identifier: Apache-2.0
"""A thousand hostile messages on a topic: nothing moves, nothing dies, a good one still works."""
from __future__ import annotations

import copy
import random
import time

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import FluidPressure, Imu, JointState
from std_msgs.msg import Float64MultiArray

from benchmarks.hostile import (
    BAD,
    hostile_array,
    hostile_joints,
    hostile_wrench,
)
from parts import amount
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.loops.decoders import msg_to_wrench
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.allocator_node import AllocatorNode
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from propulsion_ros.nodes.inverse_fam_node import InverseFamNode
from propulsion_ros.nodes.vehicle_node import VehicleNode
from propulsion_ros.nodes.visualizer_node import VisualizerNode
from ros_graph import stamped, wrench_message

S, MS = 1_000_000_000, 1_000_000
COUNT, BATCH = amount('floods', 200, 1000), 50
pytestmark = pytest.mark.part('floods')
BASE_S = 1000


def joints(names, field, value, ns):
    return stamped(JointState, ns, name=list(names), **{field: [float(value)] * len(names)})


class Subject:
    """A group of actuators under a simulated clock, and what it publishes."""

    def __init__(self, graph, name, file='', **parameters):
        self.graph, self.name, self.now = graph, name, BASE_S * S
        file = file or f'{name}.yaml'
        self.node = graph.add(
            ActuatorNode, name, {'use_sim_time': True, 'update_rate': 50.0, **parameters},
            cli_args=['--ros-args', '--params-file', str(share_directory() / 'config' / file)],
        )
        graph.listen(WrenchStamped, f'{name}/wrench', qos.COMMAND)
        self.clock = graph.talk(Clock, '/clock', qos.CLOCK)
        graph.connected(self.node, '~/wrench')
        graph.until(lambda: self.clock.get_subscription_count() >= 2, 'both clocks of the node')
        self.tick()

    def tick(self):
        """Let 20 ms pass; return the last wrench."""
        self.now += 20 * MS
        self.clock.publish(Clock(clock=ns_to_stamp(self.now)))
        return msg_to_wrench(self.graph.at(f'{self.name}/wrench', self.now))

    @property
    def refused(self):
        return self.node.counts['refused'] + self.node.counts['other_time']


def command(family, names, kind, value, file='', extra=None):
    return pytest.param(
        family, 'command', lambda ns: joints(names, kind, value, ns), hostile_joints, file,
        extra or {}, id=f'{family} command',
    )


def wrench_command(ns):
    return wrench_message(ns, [0.2, 0.0, 0.0, 0.0, 0.0, 0.0])


NOZZLES = [f'nozzle_{i}' for i in range(1, 13)]
BOOSTERS = {
    'names': ['b', 'c'], 'max_thrust': [1000.0], 'max_fuel_rate': [1.0], 'tank': ['t', 't'],
    'tanks.names': ['t'], 'tanks.capacity': [100.0],
}
PUSHING = [
    command('boosters', ['b', 'c'], 'effort', 700.0, 'rocket.yaml', BOOSTERS),
    # At rest from the start: otherwise they run up to their least thrust meanwhile.
    command('rotors', ['front_left', 'rear_right'], 'effort', 5.0, extra={'min_thrust': 0.0}),
    command('thrusters', ['front_left', 'rear_right_up'], 'velocity', 200.0),
    command('jets', ['left_up', 'right_down'], 'effort', 0.03),
    command('propulsion_modules', NOZZLES, 'position', 1.0, 'fam.yaml'),
    pytest.param('fam', 'wrench_command', wrench_command, hostile_wrench, '', {},
                 id='fam wrench_command'),
    pytest.param('thrusters', 'command_array', lambda ns: Float64MultiArray(data=[200.0] * 8),
                 hostile_array, '', {'adapters': ['float64_multi_array']},
                 id='thrusters command_array'),
]


@pytest.mark.parametrize(('family', 'topic', 'good', 'hostile', 'file', 'extra'), PUSHING)
def test_refused_commands_push_nothing_and_a_good_one_still_works(
    graph, capfd, family, topic, good, hostile, file, extra
):
    begun = time.monotonic()
    subject = Subject(graph, family, file, command_timeout=0.0, **extra)
    publisher = graph.talk(type(good(0)), f'{family}/{topic}', qos.COMMAND)
    rest, rng = subject.tick(), random.Random(1)
    for count in range(BATCH, COUNT + 1, BATCH):
        for _ in range(BATCH):
            publisher.publish(hostile(rng, good(subject.now + MS)))
        graph.until(lambda: subject.refused >= count, f'{count} refusals')  # noqa: B023
        assert subject.refused == count
        # A tick that must not see them.
        np.testing.assert_array_equal(subject.tick(), rest)
    publisher.publish(good(subject.now + MS))
    if family == 'propulsion_modules':
        # Nozzles push only with their impellers.
        publisher.publish(joints(['impeller_1', 'impeller_2'], 'velocity', 200.0,
                                 subject.now + MS))
    graph.until(lambda: abs(subject.tick() - rest).max() > 1e-6, 'the good command to push')
    err = capfd.readouterr().err
    assert 'Traceback' not in err
    # Of each kind five in any 5 s, however long that took.
    spans = 1 + (time.monotonic() - begun) // 5.0
    assert err.count('[WARN]') <= 5 * spans * len(subject.node._complaints._logged)


def odometry(ns):
    message = stamped(Odometry, ns, child_frame_id='base_link')
    message.pose.pose.orientation.w = 1.0
    message.twist.twist.linear.x = 3.0
    return message


def inertia(ns):
    message = stamped(InertiaStamped, ns, 'base_link')
    message.inertia.com.x = 0.1
    return message


def test_clock_that_jumps_about_leaves_a_node_that_answers(graph, capfd):
    subject = Subject(graph, 'rotors')
    rng = random.Random(5)
    for _ in range(COUNT // BATCH):
        for _ in range(BATCH):
            subject.clock.publish(Clock(clock=ns_to_stamp(rng.randint(1, 10_000) * S)))
        subject.now = rng.randint(1, 10_000) * S
        subject.tick()
    talk = graph.talk(JointState, 'rotors/command', qos.COMMAND)

    def pushed():
        talk.publish(joints(['front_left'], 'effort', 5.0, subject.now + MS))
        return subject.tick()[2] > 1.0

    graph.until(pushed, 'a good command to push')
    assert 'Traceback' not in capfd.readouterr().err


NO_TIMES = [
    Time(sec=2**31 - 1), Time(sec=2**31 - 1, nanosec=2**32 - 1), Time(sec=-(2**31)),
]
"""What no node can count on from: a stamp ends in 2038."""
QUADROTOR = read_description(share_directory() / 'urdf' / 'quadrotor.urdf.xacro').text
ROTORS = {
    'family': 'rotors', 'names': ['r'], 'max_thrust': [5.0], 'motor_constant': [1e-5],
    'time_constant_up': [0.0], 'time_constant_down': [0.0],
}
THRUST = JointState(name=['r'], effort=[1.0])


@pytest.mark.parametrize(('cls', 'parameters', 'topic', 'good'), [
    pytest.param(ActuatorNode, {**ROTORS, 'step_on': 'stamp'}, 'command', THRUST, id='actuators'),
    pytest.param(ActuatorNode, {'family': 'fam', 'step_on': 'stamp'}, 'wrench_command',
                 wrench_command(0), id='fam'),
    pytest.param(InverseFamNode, {}, 'command', joints(['nozzle_1'], 'position', 0.5, 0),
                 id='inverse_fam'),
    pytest.param(AllocatorNode, {'robot_description': QUADROTOR, 'plugin': 'rotors'},
                 'wrench_command', wrench_command(0), id='allocator'),
    pytest.param(FlightStateNode, {}, 'odometry', odometry(0), id='flight_state of odometry'),
    pytest.param(FlightStateNode, {'altitude_source': 'pressure'}, 'pressure',
                 FluidPressure(fluid_pressure=1e5), id='flight_state of pressure'),
    pytest.param(FlightStateNode, {'altitude_source': 'sensors'}, 'imu', Imu(),
                 id='flight_state of sensors'),
    pytest.param(FlightStateNode, {}, 'request', DiagnosticArray(
        status=[DiagnosticStatus(name='launch')]), id='request'),
    pytest.param(VisualizerNode, {'robot_description': QUADROTOR, 'state_topics': ['node/state']},
                 'state', THRUST, id='visualizer'),
])
def test_stamp_that_is_no_time_is_refused(graph, capfd, cls, parameters, topic, good):
    node = graph.add(cls, 'node', parameters)
    publisher = graph.talk(type(good), f'node/{topic}', qos.COMMAND)
    for k, stamp in enumerate(NO_TIMES * 2, start=1):
        message = copy.deepcopy(good)
        message.header.stamp = stamp
        publisher.publish(message)
        graph.until(lambda: node.counts['refused'] == k, 'a refusal')  # noqa: B023
    assert 'Traceback' not in capfd.readouterr().err


def test_clock_that_is_no_time_is_refused_and_the_next_one_is_followed(graph):
    subject = Subject(graph, 'rotors')
    # rclpy knows no time before 0.
    for k, no_time in enumerate([*NO_TIMES, Time(sec=-1)], start=1):
        subject.clock.publish(Clock(clock=no_time))
        # By the node, and by the clock that rclpy keeps for it.
        graph.until(lambda: subject.node.counts['refused'] == 2 * k, 'refusals')  # noqa: B023
    subject.tick()


URDF = """<robot name="block"><link name="base_link"><inertial><mass value="2"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"""


def hostile_tank(rng, tick_ns):
    message = inertia(tick_ns)
    part = message.inertia
    part.m = 1.0
    kind = rng.randrange(4)
    if kind == 0:
        part.m = rng.choice([*BAD, -1.0, 1e300])
    elif kind == 1:
        part.com.y = rng.choice([*BAD, 1e300])
    elif kind == 2:
        setattr(part, rng.choice(['ixx', 'iyy', 'ixy']), rng.choice([*BAD, -5.0]))
    else:
        message.header.frame_id = rng.choice(['', 'map'])
    return message


@pytest.mark.parametrize('topic', ['wrench', 'tank'])
def test_body_is_not_moved_by_hostile_messages(graph, capfd, topic):
    node = graph.add(VehicleNode, 'vehicle', {
        'robot_description': URDF, 'wrench_topics': ['a/wrench'], 'tank_topics': ['a/tank'],
        'real_time_factor': 0.0, 'wait_for_subscribers': ['odometry'], 'body.gravity': 0.0,
        'body.ground': False,
    })
    odometry = graph.listen(Odometry, 'vehicle/odometry', qos.LOCKSTEP)
    wrenches = graph.talk(WrenchStamped, 'a/wrench', qos.COMMAND)
    tanks = graph.talk(InertiaStamped, 'a/tank', qos.COMMAND)
    graph.until(lambda: odometry, 'the first step')
    rng = random.Random(6)
    strange = lambda: node.counts['refused'] + node.counts['out_of_step']  # noqa: E731
    for batch in range(1, COUNT // BATCH + 1):
        for _ in range(BATCH):
            if topic == 'tank':
                tanks.publish(hostile_tank(rng, 0))
            else:
                wrenches.publish(hostile_wrench(rng, wrench_command(0)))
        graph.until(lambda: strange() == batch * BATCH, 'refusals')  # noqa: B023
    assert {o.header.stamp.sec + o.header.stamp.nanosec for o in odometry} == {0}
    tank = inertia(0)
    tank.inertia.m, tank.inertia.ixx, tank.inertia.iyy, tank.inertia.izz = 1.0, 0.1, 0.1, 0.1
    tanks.publish(tank)
    wrenches.publish(wrench_command(0))
    graph.until(lambda: odometry[-1].header.stamp.nanosec, 'the next step')
    # 0.2 N on 3 kg for 10 ms.
    assert odometry[-1].twist.twist.linear.x == pytest.approx(0.2 / 3.0 * 0.01, rel=0.1)
    assert 'Traceback' not in capfd.readouterr().err
