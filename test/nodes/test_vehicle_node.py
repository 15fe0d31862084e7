# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry

from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.nodes.vehicle_node import VehicleNode
from ros_graph import wrench_message

MS = 1_000_000
URDF = """
<robot name="block"><link name="base_link"><inertial><origin xyz="0 0 0.5"/>
  <mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial></link></robot>
"""
SETTINGS = {
    'robot_description': URDF, 'wrench_topics': ['a/wrench', 'b/wrench'],
    'real_time_factor': 0.0, 'wait_for_subscribers': ['odometry'], 'body.gravity': 10.0,
}


class Vehicle:
    """A vehicle under test, pushed by hand."""

    def __init__(self, graph):
        self.graph = graph
        graph.listen(Odometry, 'vehicle/odometry', qos.LOCKSTEP)
        self.node = graph.add(VehicleNode, 'vehicle', SETTINGS)
        self.wrench = {
            topic: graph.talk(WrenchStamped, topic, qos.COMMAND)
            for topic in ('a/wrench', 'b/wrench')
        }

    def push(self, tick):
        """Push with 15 N on each topic, and return the odometry of the next step."""
        for publisher in self.wrench.values():
            publisher.publish(wrench_message(tick * 10 * MS, [0.0, 0.0, 15.0, 0.0, 0.0, 0.0]))
        return self.at(tick + 1)

    def at(self, tick):
        return self.graph.at('vehicle/odometry', tick * 10 * MS)


def test_diagnostics_have_the_simulated_time(graph):
    vehicle = Vehicle(graph)
    diagnostics = graph.listen(DiagnosticArray, '/diagnostics')
    vehicle.at(0)
    vehicle.push(0)
    graph.until(
        lambda: diagnostics and stamp_to_ns(diagnostics[-1].header.stamp) == 10 * MS,
        'diagnostics of step 1',
    )
    assert {stamp_to_ns(message.header.stamp) for message in diagnostics} <= {0, 10 * MS}


def test_pose_is_told_to_tf(graph):
    tf2 = pytest.importorskip('tf2_msgs.msg', reason='tf2_msgs is not installed')
    transforms = graph.listen(tf2.TFMessage, 'tf', qos.TF)
    vehicle = Vehicle(graph)
    vehicle.at(0)
    for tick in range(3):
        odometry = vehicle.push(tick)
    found = lambda: [  # noqa: E731
        t for m in transforms for t in m.transforms if t.header == odometry.header
    ]
    graph.until(found, 'the transform')
    assert found()[0].transform.translation.z == odometry.pose.pose.position.z
