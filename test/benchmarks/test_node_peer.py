# SPDX-License-Identifier: Apache-2.0
"""The bare node of a comparison takes and publishes what the node beside it does."""
from __future__ import annotations

import pytest
import rclpy
from rclpy.serialization import deserialize_message, serialize_message

from benchmarks.node_peer import FAMILIES, Work, make_node


@pytest.fixture(scope='module', autouse=True)
def context():
    rclpy.init(args=[])
    yield
    rclpy.try_shutdown()


def published(work, bare):
    """Return topic, type and size of what a node publishes for one command."""
    node = make_node(work, bare)
    kind, topic = work.input
    subscription = next(s for s in node.subscriptions if s.topic_name.endswith(f'/{topic}'))
    assert subscription.msg_type is kind
    said = []

    def note(publisher):
        def publish(message):
            if isinstance(message, bytes):
                message = deserialize_message(message, publisher.msg_type)
            size = len(serialize_message(message))
            said.append((publisher.topic_name.split('/')[-1], publisher.msg_type, size))

        return publish

    for publisher in node.publishers:
        publisher.publish = note(publisher)
    message = work.command()
    message.header.stamp.sec = 1
    subscription.callback(serialize_message(message) if subscription.raw else message)
    node.destroy_node()
    return said


@pytest.mark.parametrize('n', [1, 8])
@pytest.mark.parametrize('family', FAMILIES)
def test_bare_node_publishes_messages_of_the_same_types_and_sizes(family, n):
    work = Work(family, n)
    ours = published(work, bare=False)
    assert [topic for topic, _, _ in ours] == ['state', 'wrench']
    assert published(work, bare=True) == ours
