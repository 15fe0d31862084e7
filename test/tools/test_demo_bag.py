# SPDX-License-Identifier: Apache-2.0
"""The demo bag, a recorded live flight, replayed: without DDS and with it."""
from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from parts import few_of
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.tools import cli
from propulsion_ros.tools.demo import reserved_domain

pytest.importorskip('rosbags')

DATA = Path(__file__).resolve().parent.parent / 'data'
BAG, CONFIG = DATA / 'demo_bag', DATA / 'demo.yaml'
REPOSITORY = DATA.parent.parent
HELD = (
    '/boosters/wrench', '/boosters/state', '/boosters/tanks/main_tank', '/fins/wrench',
    '/fins/state', '/flight_state/fit',
)
SAID = ('/flight_state/phase', '/flight_state/events', '/flight_state/apogee')
NUMBER = re.compile(r'-?\d+\.?\d*(?:e-?\d+)?')


def numbers(message) -> Iterator[float]:
    """Yield every number of a message, in its order."""
    for name in message.__dataclass_fields__:
        value = getattr(message, name)
        if hasattr(value, '__dataclass_fields__'):
            yield from numbers(value)
        elif isinstance(value, np.ndarray):
            yield from value.tolist()
        elif isinstance(value, (float, int)):
            yield value


@pytest.fixture(scope='module')
def flight(replayed):
    """Return what was said live and what a replay says, decoded, by topic."""
    runs = {}, {}
    for path, topics in zip((BAG, replayed('out')[0]), runs, strict=True):
        with BagReader(path) as reader:
            for message in reader.messages():
                topics.setdefault(message.topic, []).append(reader.decode(message))
    return runs


@pytest.mark.parametrize('topic', HELD)
def test_replay_is_the_flight_that_was_recorded(flight, topic):
    """On the machine that recorded it byte by byte; another one rounds its last digits anew."""
    live, replayed = flight
    assert len(replayed[topic]) == len(live[topic]) > 1000
    expected = np.array([list(numbers(message)) for message in live[topic]])
    found = np.array([list(numbers(message)) for message in replayed[topic]])
    scale = np.nanmax(np.abs(expected), axis=0)
    # What is 0 but for rounding is held to the rest.
    scale = np.maximum(scale, 1e-6 * scale.max())
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize('topic', SAID)
def test_flight_is_told_alike(flight, topic):
    live, replayed = flight
    texts = [
        [NUMBER.sub('#', repr(message)) for message in run[topic]] for run in (live, replayed)
    ]
    assert texts[0] == texts[1]


def test_flight_has_all_that_a_flight_has(flight):
    _, replayed = flight
    phases = [message.data for message in replayed['/flight_state/phase']]
    assert phases == ['preflight', 'launch', 'flight', 'recovery']
    events = [s.name for m in replayed['/flight_state/events'] for s in m.status]
    assert events == ['drogue parachute', 'main parachute']
    (apogee,) = replayed['/flight_state/apogee']
    assert apogee.point.z == pytest.approx(1260.4, abs=0.5)
    assert apogee.header.stamp.sec == 19


@pytest.fixture(scope='module')
def replayed(tmp_path_factory):
    """Return what the command makes of the bag, by the end of the name, and the last it prints."""
    @functools.cache
    def replay(target):
        path, printed = tmp_path_factory.mktemp('replayed') / target, io.StringIO()
        with contextlib.redirect_stderr(printed):
            words = 'replay', str(CONFIG), str(BAG), str(path), '--vehicle', 'rocket'
            assert cli.main([*words]) == 0
        return path, printed.getvalue()
    return replay


def test_command_line_gives_the_same_and_a_table(replayed, tmp_path):
    # Nothing was late or refused, or it would be said behind.
    assert re.search(r': \d{4} messages, \d{4} written\n$', replayed('out')[1])
    table = tmp_path / 'out.csv'
    assert cli.main([
        'replay', str(CONFIG), str(BAG), str(table), '--vehicle', 'rocket', '--node', 'boosters',
    ]) == 0
    header, *rows = table.read_text().splitlines()
    assert len(rows) == 1080
    assert 'main_tank.mass' in header.split(',')


@pytest.mark.parametrize('target', few_of(['out', 'out.csv'], 2))
def test_neither_ros_nor_its_messages_need_to_be_installed(replayed, tmp_path, target):
    blocked = (
        'import sys\n'
        'for name in ("rclpy", "rcl_interfaces", "builtin_interfaces", "std_msgs", "sensor_msgs",\n'
        '             "geometry_msgs", "nav_msgs", "diagnostic_msgs", "rosgraph_msgs", "launch"):\n'
        '    sys.modules[name] = None\n'
    )
    command = 'from propulsion_ros.tools.cli import main; sys.exit(main(sys.argv[1:]))'
    without = tmp_path / target
    arguments = [str(CONFIG), str(BAG), str(without), '--vehicle', 'rocket']
    done = subprocess.run(
        [sys.executable, '-c', blocked + command, 'replay', *arguments],
        capture_output=True, text=True, check=False, cwd=REPOSITORY,
    )
    assert done.returncode == 0, done.stderr
    assert _contents(without) == _contents(replayed(target)[0])


def _contents(path):
    if path.suffix == '.csv':
        return path.read_text()
    with BagReader(path) as reader:
        return list(reader.messages())


@pytest.mark.slow
def test_replay_over_dds_gives_the_same_bytes_ten_times_as_fast():
    """Into fresh nodes in a process of their own, with a clock of 40 Hz and without."""
    with reserved_domain() as domain:
        done = subprocess.run(
            [sys.executable, '-m', 'benchmarks.replay_identity', '--bag', str(BAG),
             '--config', str(CONFIG), '--rates', '10', '--runs', '1'],
            capture_output=True, text=True, check=False, cwd=REPOSITORY,
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain)},
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('identical in 1 of 1, late 0\n') == 2
