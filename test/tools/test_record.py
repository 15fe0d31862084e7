# SPDX-License-Identifier: Apache-2.0
"""The command that records: it fails where something that was asked for never came."""
from __future__ import annotations

import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rosbags')
pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Bool

from propulsion_ros.messages import qos
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.tools import cli


class UntilReceived(SingleThreadedExecutor):
    """Sends Ctrl-C once the recorder has received something."""

    def spin_once(self, timeout_sec=None):
        super().spin_once(timeout_sec=timeout_sec)
        if any(node.counts for node in self.get_nodes()):
            signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def _keep_process(monkeypatch):
    """Undo what the command does to signals, and leave the handler of crashes alone."""
    monkeypatch.setattr(
        'propulsion_ros.nodes.spin.make_executor', lambda kind: UntilReceived()
    )
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(('topics', 'missed'), [
    pytest.param(['/flag'], '', id='all came'),
    pytest.param(['/flag', 'none'], '/none', id='one did not come'),
])
def test_what_did_not_come_is_named(graph, tmp_path, capsys, topics, missed):
    graph.talk_later(Bool, '/flag', qos.LATCHED).publish(Bool(data=True))
    bag = tmp_path / 'bag'
    options = [word for topic in topics for word in ('--topic', topic)]
    assert cli.main(['record', str(bag), *options, '--duration', '40']) == bool(missed)
    err = capsys.readouterr().err
    assert f'{bag}: 1 messages of 1 topics' in err
    assert ('nothing was received' in err) == bool(missed)
    assert not missed or f'nothing was received of {missed}; is a node that publishes it' in err
    with BagReader(bag) as reader:
        assert reader.topics == {'/flag': 'std_msgs/msg/Bool'}


def test_what_came_faster_than_it_was_recorded_is_counted(graph, tmp_path):
    with subprocess.Popen(
        [sys.executable, '-m', 'propulsion_ros', 'record', str(tmp_path / 'b'), '--topic', 'flag'],
        stderr=subprocess.PIPE, text=True,
    ) as process:
        publisher = graph.talk(Bool, '/flag', 1)
        # The subscription knows its publisher by its first message.
        graph.until(lambda: not publisher.publish(Bool()), 'the first message')
        time.sleep(0.5)
        process.send_signal(signal.SIGSTOP)
        for _ in range(5000):
            publisher.publish(Bool())
        process.send_signal(signal.SIGCONT)
        time.sleep(1.0)
        publisher.publish(Bool())
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60.0)[1]
    assert process.returncode == 0, said
    count = int(re.search(r'(\d+) messages were lost: \1 of /flag;', said)[1])
    assert 0 < count < 5002


def test_where_nothing_came_nothing_is_left(graph, tmp_path, capsys):
    bag = tmp_path / 'bag'
    assert cli.main(['record', str(bag), '--topic', 'none', '--duration', '0.5']) == 1
    assert capsys.readouterr().err == (
        f'propulsion_ros record: {bag}, for 0.5 s, or until Ctrl-C\n'
        'propulsion_ros record: nothing was received of /none; is a node that publishes it in the '
        'same ROS_DOMAIN_ID?\n'
    )
    assert not bag.exists()
