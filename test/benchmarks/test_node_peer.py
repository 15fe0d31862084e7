# SPDX-License-Identifier: Apache-2.0
"""The bare node of a comparison takes and publishes what the node beside it does."""
from __future__ import annotations

import time

import pytest
import rclpy
from rclpy.node import Node
from rclpy.serialization import serialize_message

from benchmarks.node_peer import FAMILIES, Work, make_node
from propulsion_ros.nodes.spin import make_executor


@pytest.fixture(scope='module', autouse=True)
def context():
    rclpy.init(args=[])
    yield
    rclpy.try_shutdown()


def published(work, bare):
    """Return topic, type and size of what a node publishes for one command."""
    node, listener = make_node(work, bare), Node('listener')
    kind, topic = work.input
    subscription = next(s for s in node.subscriptions if s.topic_name.endswith(f'/{topic}'))
    assert subscription.msg_type is kind
    received = []

    def note(publisher):
        name = publisher.topic_name

        def on_message(message):
            size = len(serialize_message(message))
            received.append((name.split('/')[-1], publisher.msg_type, size))

        listener.create_subscription(publisher.msg_type, name, on_message, 10)

    # Without a subscription our node publishes nothing.
    compared = [p for p in node.publishers if p.topic_name.split('/')[-1] in ('state', 'wrench')]
    for publisher in compared:
        note(publisher)
    executor = make_executor('single')
    executor.add_node(listener)
    end = time.monotonic() + 30.0
    while not all(publisher.get_subscription_count() for publisher in compared):
        assert time.monotonic() < end
        executor.spin_once(timeout_sec=0.01)
    message = work.command()
    message.header.stamp.sec = 1
    subscription.callback(serialize_message(message) if subscription.raw else message)
    while len(received) < len(compared):
        assert time.monotonic() < end
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    listener.destroy_node()
    node.destroy_node()
    return sorted(received, key=lambda row: row[0])


@pytest.mark.slow
@pytest.mark.parametrize('family', FAMILIES)
def test_bare_node_publishes_messages_of_the_same_types_and_sizes(family):
    work = Work(family, 8)
    ours = published(work, bare=False)
    assert [topic for topic, _, _ in ours] == ['state', 'wrench']
    assert published(work, bare=True) == ours
