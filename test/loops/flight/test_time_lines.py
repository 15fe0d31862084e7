# SPDX-License-Identifier: Apache-2.0
"""Stamps of one publisher go on from one another, however late they come; those of two do not."""
from __future__ import annotations

import random

import pytest

from propulsion_ros.loops.flight.time_lines import TimeLines

S, MS = 10**9, 10**6
BOOT = 5 * S


def refused(arrivals):
    """Return the indices of messages that are refused, of pairs of stamp and arrival."""
    lines = TimeLines()
    return [i for i, (stamp, arrival) in enumerate(arrivals) if not lines.takes(stamp, arrival)]


def delayed(stamps, delays):
    """Return stamps and arrivals of messages that are late and keep their order."""
    arrivals, newest = [], 0
    for stamp, delay in zip(stamps, delays, strict=True):
        newest = max(newest + 1, stamp + delay)
        arrivals.append((1_700_000_000 * S + stamp, BOOT + newest))
    return arrivals


STEADY = [i * 20 * MS for i in range(500)]
STALL = [max(4 * S - t, 0) if t >= S else 0 for t in STEADY]


@pytest.mark.parametrize('arrivals', [
    pytest.param(delayed(STEADY, [0] * 500), id='on time'),
    pytest.param(delayed(STEADY, STALL), id='all held up for 3 s'),
    pytest.param(
        [m for m in delayed(STEADY, STALL) if not S + 20 * MS <= m[0] % (100 * S) < 4 * S],
        id='of 3 s the oldest and the newest were kept'),
    pytest.param(delayed(STEADY, [0] * 100 + [4 * S] + [0] * 399), id='one was held up for 4 s'),
    pytest.param(delayed([i * S for i in range(60)], [0, 900 * MS] * 30), id='1 Hz, uneven'),
    pytest.param(delayed([t for t in STEADY if not S < t < 8 * S], [0] * 151), id='silent for 7 s'),
])
def test_one_publisher_is_never_refused(arrivals):
    assert refused(arrivals) == []


def test_one_publisher_with_random_delays_is_never_refused_once_one_came_on_time():
    for seed in range(200):
        rng = random.Random(seed)
        period = rng.choice([1, 20, 100, 1000]) * MS
        delays = [0] + [rng.choice([0, 0, 0, rng.randrange(5 * S)]) for _ in range(299)]
        arrivals = delayed([i * period for i in range(300)], delays)
        kept = [m for m in arrivals[1:] if rng.random() < 0.7]
        assert refused(arrivals[:1] + kept) == [], seed


@pytest.mark.parametrize('ahead', [-100 * S, -2 * S, 1.7 * S, 3 * S, 1e6 * S])
def test_second_publisher_with_another_clock_is_refused_while_the_first_goes_on(ahead):
    first = [(1_700_000_000 * S + t, BOOT + t) for t in STEADY]
    second = [(stamp + int(ahead), arrival + 7 * MS) for stamp, arrival in first[50:]]
    both = sorted(first + second, key=lambda message: message[1])
    assert [both[i] for i in refused(both)] == second


@pytest.mark.parametrize('stall', [0, 3 * S], ids=['steady', 'after a stall'])
@pytest.mark.parametrize('step', [-100 * S, 5 * S, -1_700_000_000 * S])
def test_clock_that_is_set_is_followed_within_a_second(step, stall):
    before = [(1_700_000_000 * S + t, BOOT + t) for t in STEADY[:100]]
    start = before[-1][1] + stall
    late = [(before[-1][0] + stall + i * 20 * MS, start + i * 20 * MS) for i in range(1, 5)]
    after = [
        (late[-1][0] + step + i * 20 * MS, late[-1][1] + i * 20 * MS) for i in range(1, 100)
    ]
    arrivals = before + late + after
    assert len(refused(arrivals)) <= 1 * S // (20 * MS)
