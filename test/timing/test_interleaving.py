# SPDX-License-Identifier: Apache-2.0
"""One sensor with late stamps is not called two, and two that take turns are."""
from __future__ import annotations

import random

import pytest

from propulsion_ros.timing.time_lines import TimeLines

S, MS = 10**9, 10**6
EPOCH, BOOT = 1_700_000_000 * S, 5 * S


def sensor(late=lambda k: 0.0, period=0.02, end=20.0, begin=0.0, jitter=0.0, lost=0.0, seed=0):
    """Return stamp and arrival of messages [s], some of which have late stamps."""
    rng = random.Random(seed)
    rows = [
        (t - late(k) + rng.uniform(-jitter, jitter) * period, t)
        for k in range(round((end - begin) / period)) for t in [begin + k * period]
    ]
    return [row for row in rows if rng.random() >= lost]


def every(n, seconds, since=0):
    return lambda k: seconds if k % n == 0 and k >= since else 0.0


def at_random(part, low, high):
    rng = random.Random(1)
    return lambda k: rng.uniform(low, high) if rng.random() < part else 0.0


def relayed(n, seconds):
    """Return the messages of a relay that passes some on late: the stamps are right."""
    rows = [(k * 0.02, k * 0.02 + (seconds if k % n == 0 else 0.0)) for k in range(1000)]
    return sorted((row for row in rows if row[1] < 19.0), key=lambda row: row[1])


def finding(*publishers):
    """Return what is seen after all messages."""
    lines = TimeLines()
    rows = sorted((row for rows in publishers for row in rows), key=lambda row: row[1])
    for stamp, arrival in rows:
        now = round(arrival * S)
        lines.takes(EPOCH + round(stamp * S), BOOT + now, EPOCH + now)
    return lines.finding(BOOT + round(rows[-1][1] * S))


@pytest.mark.parametrize(('messages', 'expected'), [
    pytest.param(sensor(), '', id='none is late'),
    pytest.param(sensor(every(10**6, 0.8, 1)), '', id='one is'),
    pytest.param(sensor(every(5, 0.8)), 'every fifth stamp is 0.8 s late', id='every fifth'),
    pytest.param(sensor(every(5, 0.8), jitter=0.3), 'every fifth stamp is 0.8 s late',
                 id='with jitter'),
    pytest.param(sensor(every(3, 2.5)), 'every third stamp is 2.5 s late', id='every third'),
    pytest.param(sensor(every(10, 60.0)), 'every tenth stamp is 60.0 s late', id='every tenth'),
    pytest.param(sensor(every(25, 0.8)), 'one in 25 stamps is 0.8 s late', id='one in 25'),
    pytest.param(sensor(every(900, 0.8), period=0.001), 'a few stamps are of another time',
                 id='few at 1 kHz'),
    pytest.param(sensor(every(5, 0.8), period=0.2, end=60.0), 'every fifth stamp is 0.8 s late',
                 id='5 Hz'),
    pytest.param(sensor(every(5, -3.0)), 'every fifth stamp is 3.0 s ahead', id='ahead'),
    pytest.param(sensor(every(2, 0.8, since=100)), 'every second stamp is 0.8 s late',
                 id='every second, later'),
    pytest.param(sensor(every(2, 0.8)), 'every second stamp is 0.8 s late, of one publisher or of '
                 'two', id='every second from the beginning'),
    pytest.param(relayed(5, 0.8), 'every fifth stamp is 0.8 s late', id='held back'),
    pytest.param(relayed(4, 0.81), 'every fourth stamp is 0.8 s late', id='held back, in between'),
])
def test_late_stamps_of_one_sensor_are_described(messages, expected):
    assert finding(messages) == expected


@pytest.mark.parametrize('seed', range(5))
def test_random_late_stamps_are_of_one_sensor(seed):
    messages = sensor(at_random(0.2, 0.7, 3.0), seed=seed, jitter=0.1)
    words = finding(messages)
    assert 'publishers' not in words
    assert words.endswith(' s late')
    assert ' to ' in words


@pytest.mark.parametrize('shift', [0.0, 0.003, 0.0071])
@pytest.mark.parametrize(('messages', 'lost'), [
    pytest.param({}, 0.0, id='of the same rate'),
    pytest.param({'period': 0.1}, 0.0, id='of a fifth of it'),
    pytest.param({'period': 0.013}, 0.0, id='of another one'),
    pytest.param({'period': 0.5}, 0.0, id='that is slow'),
    pytest.param({}, 0.1, id='beside one that loses messages'),
])
def test_two_publishers_are_called_two(messages, lost, shift):
    second = [(stamp - 12.5, at) for stamp, at in sensor(begin=4.0 + shift, **messages)]
    assert finding(sensor(lost=lost, jitter=0.1), second) == (
        'two publishers, whose clocks are 12.5 s apart'
    )


def test_recording_at_another_rate_has_a_span():
    second = [(20.0 * stamp - 300.0, at) for stamp, at in sensor(begin=4.003)]
    words = finding(sensor(), second)
    assert words.startswith('two publishers, whose clocks are ')
    assert ' to ' in words
