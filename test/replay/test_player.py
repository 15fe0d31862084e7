# SPDX-License-Identifier: Apache-2.0
"""The player waits for the time of each message, and no longer."""
from __future__ import annotations

import time

import pytest

pytest.importorskip('rclpy')

from std_msgs.msg import Bool

from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.replay.bags import Recorded
from propulsion_ros.replay.player import Player

TOPIC, KIND = '/flag', 'std_msgs/msg/Bool'
MESSAGES = [
    Recorded(TOPIC, KIND, i * 200_000_000, bytes((0, 1, 0, 0, 1))) for i in range(3)
]


class Idle:
    """An executor of nodes for which nothing ever comes."""

    def __init__(self):
        self.waits = []

    def spin_once(self, timeout_sec):
        self.waits.append(timeout_sec)
        time.sleep(max(timeout_sec, 0.0))


def chosen(graph, rate, clock):
    """Return a player of a topic that another node publishes too."""
    graph.talk_later(Bool, TOPIC)
    player = Player(rate, clock, graph.context)
    graph.executor.add_node(player)
    player.choose({TOPIC: KIND}, graph.executor, 1.0, insists=True)
    return player


@pytest.mark.parametrize(('clock', 'longest'), [(0.0, 0.1), (50.0, 0.02)])
def test_a_message_is_waited_for_until_it_is_due(graph, clock, longest):
    player = chosen(graph, 2.0, clock)
    idle, published = Idle(), []
    begun = time.monotonic()
    player.play(MESSAGES, idle, lambda message: published.append(time.monotonic() - begun))
    assert all(0.0 < wait <= longest for wait in idle.waits)
    assert all(at >= 0.1 * i for i, at in enumerate(published))


def test_the_clock_waits_for_messages_that_are_behind_and_ends_with_the_last(graph, monkeypatch):
    """Else steps on it run before their inputs have come, and the last ones do not run at all."""
    player, seen = chosen(graph, 1e6, 100.0), []

    def late(message):
        seen.append(message.stamp_ns)
        time.sleep(0.02)

    monkeypatch.setattr(
        player._time, 'publish', lambda message: seen.append(stamp_to_ns(message.clock))
    )
    monkeypatch.setattr(player._time, 'wait_for_all_acked', lambda limit: False)
    assert player.play(MESSAGES, Idle(), late) == ['/clock']
    assert len(seen) == 2 * len(MESSAGES) + 1
    assert seen == sorted(seen)
    assert seen[-2:] == [MESSAGES[-1].stamp_ns] * 2


def test_it_waits_until_every_subscription_that_it_knows_of_is_matched(graph, monkeypatch):
    monkeypatch.setattr(Player, '_subscribing', lambda self, topic: 1)
    player, begun = Player(context=graph.context), time.monotonic()
    graph.executor.add_node(player)
    player.choose({TOPIC: KIND}, graph.executor, 1.2)
    assert time.monotonic() - begun >= 1.2
    assert player.unmatched() == [TOPIC]
