# SPDX-License-Identifier: Apache-2.0
"""The player waits for the time of each message, and no longer."""
from __future__ import annotations

import time

import pytest

pytest.importorskip('rclpy')

from std_msgs.msg import Bool

from propulsion_ros.replay.bags import Recorded
from propulsion_ros.replay.player import Player


class Idle:
    """An executor of nodes for which nothing ever comes."""

    def __init__(self):
        self.waits = []

    def spin_once(self, timeout_sec):
        self.waits.append(timeout_sec)
        time.sleep(max(timeout_sec, 0.0))


@pytest.mark.parametrize(('clock', 'longest'), [(0.0, 0.1), (50.0, 0.02)])
def test_a_message_is_waited_for_until_it_is_due(graph, clock, longest):
    graph.talk_later(Bool, '/flag')
    player = Player(2.0, clock, graph.context)
    graph.executor.add_node(player)
    player.choose({'/flag': 'std_msgs/msg/Bool'}, graph.executor, 1.0, insists=True)
    messages = [
        Recorded('/flag', 'std_msgs/msg/Bool', i * 200_000_000, bytes((0, 1, 0, 0, 1)))
        for i in range(3)
    ]
    idle, published = Idle(), []
    begun = time.monotonic()
    player.play(messages, idle, lambda message: published.append(time.monotonic() - begun))
    assert all(0.0 < wait <= longest for wait in idle.waits)
    assert all(at >= 0.1 * i for i, at in enumerate(published))


def test_it_waits_until_every_subscription_that_it_knows_of_is_matched(graph, monkeypatch):
    monkeypatch.setattr(Player, '_subscribing', lambda self, topic: 1)
    player, begun = Player(context=graph.context), time.monotonic()
    graph.executor.add_node(player)
    player.choose({'/flag': 'std_msgs/msg/Bool'}, graph.executor, 1.2)
    assert time.monotonic() - begun >= 1.2
    assert player.unmatched() == ['/flag']
