# SPDX-License-Identifier: Apache-2.0
"""A process whose middleware hangs ends by itself, with its code, after its last message."""
from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

# PyDLL keeps the lock of the interpreter, as rclpy does.
HANG = 'import ctypes; hang = lambda *_: ctypes.PyDLL(None).pause()\n'
DEADLINE = HANG + """
from propulsion_ros.nodes import spin
spin.DEADLINE = 0.2
with spin.deadline({code}):
    {body}
print('left')
"""
NODE = HANG + """
import sys
from propulsion_ros.nodes import base, spin, vehicle_node
spin.DEADLINE = 0.2
base.PropulsionNode.close = hang
base.PropulsionNode.rest = lambda node: print('at rest', file=sys.stderr)
def start(node):
    node.has_failed = {has_failed}
    print('started', flush=True)
base.PropulsionNode.start = start
vehicle_node.main(['node'])
"""
PUBLISHER = """
from rclpy.publisher import Publisher
from std_msgs.msg import Empty
from propulsion_ros.nodes import base, vehicle_node
wait, close = Publisher.wait_for_all_acked, base.PropulsionNode.close
def spy(publisher, timeout):
    print('waits for', publisher.topic, wait(publisher, timeout))
def start(node):
    node.create_publisher(Empty, 'last', 10).publish(Empty())
    print('started', flush=True)
def end(node):
    print('closes')
    close(node)
Publisher.wait_for_all_acked = spy
base.PropulsionNode.start, base.PropulsionNode.close = start, end
vehicle_node.main(['node'])
"""
LINE = 'fastdds shm clean'


def start(program):
    return subprocess.Popen(
        [sys.executable, '-c', program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=os.environ,
    )


@pytest.mark.parametrize('code', [0, 1])
def test_what_hangs_is_ended_with_its_code_and_one_line(code):
    process = start(DEADLINE.format(code=code, body='hang()'))
    out, err = process.communicate(timeout=40.0)
    assert (process.returncode, out) == (code, '')
    assert err.count('\n') == 1
    assert LINE in err


def test_what_ends_in_time_goes_on():
    process = start(DEADLINE.format(code=3, body='pass') + 'import time; time.sleep(0.6)\n')
    assert process.communicate(timeout=40.0) == ('left\n', '')
    assert process.returncode == 0


@pytest.mark.parametrize('has_failed', [False, True])
def test_node_whose_participant_hangs_rests_and_ends(has_failed):
    process = start(NODE.format(has_failed=has_failed))
    assert process.stdout.readline() == 'started\n'
    if not has_failed:
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=40.0)
    assert err.startswith('at rest\n')
    assert LINE in err
    assert process.returncode == has_failed


def test_what_was_published_last_is_handed_over_before_a_node_is_closed():
    process = start(PUBLISHER)
    assert process.stdout.readline() == 'started\n'
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=40.0)
    *waits, last = out.splitlines()
    assert 'waits for last True' in waits
    assert (last, err, process.returncode) == ('closes', '', 0)
