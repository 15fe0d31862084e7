# SPDX-License-Identifier: Apache-2.0
"""The live page follows a graph, also one that begins anew, and only while it is open."""
from __future__ import annotations

import json
import time

import pytest
import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from propulsion_ros.messages import qos
from propulsion_ros.view.live import LiveView, scene_data
from propulsion_ros.view.robot import robot_of

NAMES = ['front_left', 'front_right', 'rear_left', 'rear_right']


class Watched:
    """A view of the quadrotor, what it sends, and a node that publishes."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.is_open, self.frames = False, []
        self.view = LiveView(
            robot_of('quadrotor'), lambda: self.is_open,
            lambda text: self.frames.append(json.loads(text)), context=self.context,
        )
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.view)
        self.start()

    def start(self):
        """Begin to publish."""
        self.node = rclpy.create_node('robot', context=self.context)
        self.place = self.node.create_publisher(Odometry, 'vehicle/odometry', 10)
        self.state = self.node.create_publisher(JointState, 'rotors/state', 10)
        phase = self.node.create_publisher(String, 'flight_state/phase', qos.LATCHED)
        phase.publish(String(data='launch'))

    def publish(self, seconds):
        """Publish one state at a time, at a height of as many metres."""
        place = Odometry()
        place.header.stamp.sec = seconds
        place.pose.pose.position.z = float(seconds)
        place.pose.pose.orientation.w = 1.0
        self.place.publish(place)
        state = JointState(name=NAMES, effort=[1.0, 2.0, 3.0, 4.0])
        state.header.stamp.sec = seconds
        self.state.publish(state)

    def spin_until(self, condition, seconds=None):
        """Spin, and publish, until a condition holds."""
        end = time.monotonic() + 30.0
        while not condition():
            assert time.monotonic() < end
            if seconds is not None:
                self.publish(seconds)
            self.executor.spin_once(timeout_sec=0.05)

    @property
    def topics(self):
        """Topics that the view is subscribed to."""
        return sorted(each.topic_name for each in self.view.subscriptions)

    def close(self):
        """End both nodes."""
        self.executor.shutdown()
        self.view.destroy_node()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def watched():
    made = Watched()
    try:
        yield made
    finally:
        made.close()


def test_without_a_page_nothing_is_subscribed_to(watched):
    end = time.monotonic() + 2.0
    watched.spin_until(lambda: time.monotonic() > end, seconds=3)
    assert (watched.topics, watched.frames) == ([], [])
    watched.is_open = True
    watched.spin_until(lambda: watched.frames, seconds=3)
    assert watched.topics == ['/flight_state/phase', '/rotors/state', '/vehicle/odometry']
    watched.is_open = False
    watched.spin_until(lambda: not watched.topics)


def test_a_picture_has_place_thrusts_phase_and_plots(watched):
    watched.is_open = True
    watched.spin_until(
        lambda: watched.frames and watched.frames[-1]['phase'] and watched.frames[-1]['isKnown']
        and watched.frames[-1]['arrows'][3][2] and watched.frames[-1]['plots'], seconds=7)
    frame = watched.frames[-1]
    assert (frame['time'], frame['position'], frame['phase']) == (7.0, [0, 0, 7], 'launch')
    data = scene_data(robot_of('quadrotor'), 'mine')
    assert [arrow['name'] for arrow in data['arrows']] == NAMES
    lengths = [length for _, _, length, _ in frame['arrows']]
    assert lengths == pytest.approx([data['robot']['size'] * k / 8.0 for k in (1, 2, 3, 4)])
    values = {
        (plot['title'], line['name']): line['value']
        for plot in frame['plots'] for line in plot['lines']
    }
    assert values['rotors: thrust [N]', 'rear_left'] == 3


def test_a_graph_that_begins_anew_is_drawn_again(watched):
    watched.is_open = True
    watched.spin_until(lambda: watched.frames, seconds=7)
    watched.node.destroy_node()
    watched.spin_until(lambda: not watched.topics)
    watched.frames.clear()
    watched.start()
    watched.spin_until(
        lambda: watched.frames and watched.frames[-1]['isKnown'], seconds=1)
    assert watched.frames[-1]['time'] == 1.0


def test_two_robots_on_one_topic_are_one_line(watched, capfd):
    other = watched.node.create_publisher(Odometry, 'vehicle/odometry', 10)
    watched.spin_until(lambda: watched.view.count_publishers('/vehicle/odometry') == 2)
    watched.is_open = True
    watched.spin_until(lambda: watched.frames, seconds=7)
    # The other one is far behind, and comes again and again.
    watched.frames.clear()
    watched.spin_until(lambda: other.publish(Odometry()) or len(watched.frames) > 3, seconds=8)
    assert capfd.readouterr().err.count('/vehicle/odometry has 2 publishers') == 1


def test_a_parachute_stays_open_after_its_pulse(watched):
    watched.view.destroy_node()
    watched.view = LiveView(
        robot_of('rocket'), lambda: True, lambda text: watched.frames.append(json.loads(text)),
        context=watched.context,
    )
    watched.executor.add_node(watched.view)
    assert [chute['name'] for chute in scene_data(robot_of('rocket'), '')['canopies']] == [
        'drogue', 'main']
    deployers = watched.node.create_publisher(JointState, 'flight_state/deployers', 10)
    pulse = JointState(name=['drogue', 'main'], effort=[1.0, 0.0])
    pulse.header.stamp.sec = 3
    watched.spin_until(lambda: deployers.publish(pulse) or watched.view._fired, seconds=3)
    pulse.effort = [0.0, 0.0]
    watched.spin_until(
        lambda: deployers.publish(pulse) or watched.frames[-1]['canopies'][0], seconds=6)
    drogue, main = watched.frames[-1]['canopies']
    assert (drogue, main) == (pytest.approx(0.5353, abs=1e-3), 0)
    # The graph begins anew.
    watched.frames.clear()
    watched.spin_until(
        lambda: watched.frames and watched.frames[-1]['time'] == 1.0
        and not watched.frames[-1]['canopies'][0], seconds=1)


def test_what_is_no_state_draws_nothing_and_ends_nothing(watched):
    watched.is_open = True
    watched.spin_until(lambda: watched.frames, seconds=7)
    for wrong in (
        JointState(name=NAMES), JointState(name=['</script>'] * 3, effort=[float('nan')] * 3),
        JointState(name=NAMES, effort=[float('inf')] * 4),
    ):
        watched.frames.clear()
        wrong.header.stamp.sec = 8
        watched.state.publish(wrong)
        watched.spin_until(lambda: watched.frames)
    watched.frames.clear()
    watched.spin_until(lambda: watched.frames and watched.frames[-1]['arrows'][0][2], seconds=9)
