# SPDX-License-Identifier: Apache-2.0
"""What is received of a flown robot from its first step on."""
import functools

from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from propulsion_ros.demos.demo import FlightLog
from propulsion_ros.demos.flight import joined
from propulsion_ros.demos.pilot_node import PilotNode
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.replay.recorder import RECORDED, Pace


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


def test_a_step_waits_until_its_motion_is_in_the_picture(graph):
    """1 of 11 pictures lacked commands of two seconds: the flight was faster than its picture."""
    paced = graph.listen(Clock, RECORDED, qos.LOCKSTEP)
    flown = graph.talk_later(Odometry, 'vehicle/odometry', qos.LOCKSTEP)
    with joined() as executor:
        log = PilotNode(FlightLog('robot', ['rotors/state']), 'log')
        log.note_taken = functools.partial(Pace(log, [('log', 'vehicle/odometry')]).take, 'log')
        executor.add_node(log)

        def until(condition):
            graph.until(lambda: executor.spin_once(timeout_sec=0.01) or condition(), 'it')

        until(lambda: flown.get_subscription_count() and log.count_subscribers(RECORDED))
        assert not paced
        flown.publish(Odometry(header=Header(stamp=Time(nanosec=4_000_000))))
        until(lambda: paced)
        assert [stamp_to_ns(each.clock) for each in paced] == [4_000_000]
        log.destroy_node()
