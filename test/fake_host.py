# SPDX-License-Identifier: Apache-2.0
"""A host without ROS that keeps what is published, a graph for it, and messages."""
from __future__ import annotations

from collections import Counter

from propulsion_ros.study.bench_host import BenchHost, message, xyz

__all__ = ['MS', 'FakeHost', 'joints', 'message', 'wrench_message', 'xyz']
MS = 1_000_000


class FakeHost(BenchHost):
    """Keeps what its loop publishes; who publishes and receives is set."""

    def __init__(self):
        super().__init__()
        self.published, self.has_failed = [], False
        self.publishers, self.subscriptions = Counter(), Counter()
        self.receivers = {'~/deployers': ('/driver',), '~/engines': ('/driver',)}
        self.unrecorded = []

    def publish(self, outlet, stamp_ns, payload):
        self.published.append((outlet.topic, stamp_ns, payload))

    def publishers_of(self, topic, unless=''):
        return self.publishers[topic] - self.publishers[unless]

    def subscriptions_to(self, outlet):
        return self.subscriptions[outlet.topic]

    def receivers_of(self, outlet):
        return self.receivers.get(outlet.topic, ())

    def topics_without(self, node):
        return self.unrecorded

    def deactivate(self):
        self.has_failed = True
        super().deactivate()

    def of(self, topic):
        """Return stamp [ns] and payload of all that was published on a topic."""
        return [(stamp_ns, payload) for own, stamp_ns, payload in self.published if own == topic]

    def said(self, level):
        """Return the lines of a level."""
        return [line for own, line in self.lines if own == level]


def joints(stamp_ns, names, position=(), velocity=(), effort=()):
    """Return what looks like a JointState."""
    return message(
        stamp_ns, name=list(names), position=list(position), velocity=list(velocity),
        effort=list(effort),
    )


def wrench_message(stamp_ns, wrench, frame='base_link'):
    """Return what looks like a WrenchStamped."""
    values = [float(value) for value in wrench]
    return message(stamp_ns, frame, wrench={
        'force': xyz(*values[:3]), 'torque': xyz(*values[3:]),
    })
