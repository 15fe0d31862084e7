# SPDX-License-Identifier: Apache-2.0
"""Stamps of one publisher go on from one another, however late they come; those of two do not."""
import random

import pytest

from parts import amount
from propulsion_ros.timing.time_lines import TimeLines

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


# Two publishers.


def publisher(
    begin=0.0, end=60.0, ahead=0.0, rate=1.0, step=0.0, step_at=1e9, gaps=(), period=0.02, name='A'
):
    """Return name, stamp and arrival of messages that come in some time, but not in the gaps.

    The clock is some seconds ahead, runs at a rate from the begin on, and is set by a step.
    """
    found = []
    for k in range(round((end - begin) / period)):
        t = begin + k * period
        if not any(since <= t < until for since, until in gaps):
            s = begin + rate * (t - begin) + ahead + (step if t >= step_at else 0.0)
            found.append((name, round((1e6 + s) * S), BOOT + round(t * S)))
    return found


def taken(*publishers):
    """Return name and time [s] of the messages that are accepted."""
    lines = TimeLines()
    both = sorted((m for found in publishers for m in found), key=lambda message: message[2])
    return [
        (name, (arrival - BOOT) / S) for name, stamp, arrival in both if lines.takes(stamp, arrival)
    ]


def others(**settings):
    return publisher(**{'name': 'B', 'begin': 5.007, 'ahead': -1e5, **settings})


@pytest.mark.parametrize('stall', [0.0, 0.56, 0.72, 3.5, 9.5])
@pytest.mark.parametrize('rival', [
    pytest.param({}, id='all the time'),
    pytest.param({'rate': 10.0}, id='a replay at ten times the rate'),
    pytest.param({'rate': 10.0, 'ahead': 5.0}, id='such a replay from ahead'),
    pytest.param({'rate': 0.5}, id='a replay at half the rate'),
    pytest.param({'rate': 100.0}, id='a replay in which each stamp is far from the last'),
    pytest.param({'ahead': -0.7}, id='whose clock is 0.7 s behind'),
    pytest.param({'ahead': 1.7}, id='whose clock is 1.7 s ahead'),
    pytest.param({'period': 0.5}, id='that is slow'),
    pytest.param({'gaps': [(19.0, 20.3)]}, id='that stalls too, and is back last'),
    pytest.param({'rate': 10.0, 'gaps': [(19.0, 20.3)]},
                 id='a replay at ten times the rate that stalls too'),
    pytest.param({'step': -20.0, 'step_at': 20.3, 'gaps': [(20.1, 20.3)]},
                 id='a replay that begins again in the stall'),
    pytest.param({'gaps': [(19.0, 19.5), (19.9, 20.1)]}, id='that stalls too, and is back first'),
])
def test_publisher_that_was_heard_beside_the_first_has_no_place_in_a_stall(stall, rival):
    """A replay took over after 0.5 s, and then the sensor was refused as long as it went on."""
    first = publisher(gaps=[(20.0, 20.0 + stall)])
    assert taken(first, others(**rival)) == [('A', (m[2] - BOOT) / S) for m in first]


@pytest.mark.parametrize(('begin', 'stall'), [
    pytest.param(20.01, 0.72, id='where the stall begins, 0.72 s'),
    pytest.param(20.01, 5.0, id='where the stall begins, 5 s'),
    pytest.param(20.4, 2.9, id='in a stall of 2.9 s'),
    pytest.param(20.4, 6.0, id='in a stall of 6 s'),
    pytest.param(5.0, 20.0, id='long before a stall of 20 s'),
])
def test_first_publisher_has_its_place_back_with_its_first_message(begin, stall):
    first = publisher(gaps=[(20.0, 20.0 + stall)])
    found = taken(first, others(begin=begin + 0.007))
    assert [m for m in found if m[0] == 'A'] == [('A', (m[2] - BOOT) / S) for m in first]
    assert all(20.0 < t < 20.0 + stall for name, t in found if name == 'B')


@pytest.mark.parametrize(('publishers', 'within'), [
    pytest.param([publisher(step=300.0, step_at=20.0)], 0.6, id='clock set ahead by 5 minutes'),
    pytest.param([publisher(step=-300.0, step_at=20.0)], 0.6, id='clock set back by 5 minutes'),
    pytest.param([publisher(step=-300.0, step_at=20.0, gaps=[(20.0, 21.5)])], 3.1,
                 id='started again after 1.5 s with another clock'),
    pytest.param([publisher(step=-1e5, step_at=20.0, gaps=[(20.0, 26.0)])], 6.3,
                 id='started again after 6 s with another clock'),
    pytest.param([publisher(gaps=[(20.0, 26.0)])], 6.1, id='started again with the same clock'),
    pytest.param([publisher(step=300.0, step_at=20.0), others()], 0.6,
                 id='clock set beside another publisher'),
    pytest.param([publisher(step=300.0, step_at=20.0, gaps=[(20.0, 21.5)]), others()], 3.1,
                 id='started again with another clock beside another publisher'),
    pytest.param([publisher(end=20.0), others(name='A')], 10.1,
                 id='dead, and another publisher goes on'),
    pytest.param([publisher(end=20.0), others(name='A', rate=100.0)], 10.1,
                 id='dead, and one goes on whose stamps jump'),
])
def test_good_data_is_never_refused_for_long(publishers, within):
    times = [t for name, t in taken(*publishers) if name == 'A' and t >= 20.0]
    assert 20.0 <= times[0] <= 20.0 + within


@pytest.mark.parametrize(('ahead', 'name'), [
    pytest.param(0.0, 'A', id='first, and as near'), pytest.param(-2e5, 'B', id='first, and far'),
    pytest.param(2e5, 'B', id='first, and far ahead'),
])
@pytest.mark.parametrize('is_settled', [False, True])
def test_line_that_is_nearer_to_the_clock_is_followed_until_one_is_settled(
    ahead, name, is_settled
):
    lines = TimeLines()
    both = sorted(
        [*publisher(end=20.0, ahead=ahead), *others(end=20.0, ahead=-0.7, begin=2.007)],
        key=lambda message: message[2],
    )
    found = []
    for k, (own, stamp, arrival) in enumerate(both):
        if k == 50 and is_settled:
            lines.settle()
        if lines.takes(stamp, arrival, arrival - BOOT + 1_000_000 * S):
            found.append((own, (arrival - BOOT) / S))
    assert {own for own, t in found if t > 2.5} == {'A' if is_settled else name}
    assert 'two' in lines.finding(both[-1][2])
    assert not lines.finding(both[-1][2] + 4 * S)


@pytest.mark.parametrize(('rival', 'waits', 'taken_from'), [
    pytest.param(others(begin=0.007), True, None, id='beside the one that is expected'),
    pytest.param(others(begin=0.007), False, None, id='beside it, in the air'),
    pytest.param(publisher(name='B', ahead=-2e5), True, 3.0, id='alone'),
    pytest.param(publisher(name='B', ahead=-2e5), False, 0.0, id='alone, in the air'),
])
def test_line_that_is_expected_is_followed(rival, waits, taken_from):
    expected = [] if taken_from is not None else publisher(begin=0.5)
    lines = TimeLines()
    lines.expect(0, waits=waits)
    taken = []
    for own, stamp, arrival in sorted([*rival, *expected], key=lambda message: message[2]):
        if lines.takes(stamp, arrival, arrival - BOOT + 1_000_000 * S):
            taken.append((own, (arrival - BOOT) / S))
    if taken_from is None:
        assert [m for m in taken if m[0] == 'A'] == [('A', (m[2] - BOOT) / S) for m in expected]
        assert all(t < 0.5 for own, t in taken if own == 'B')
        assert not (waits and taken[0][0] == 'B')
    else:
        assert taken[0][1] == pytest.approx(taken_from, abs=0.1)


def test_line_that_is_followed_when_it_settles_has_precedence_over_the_one_before():
    lines = TimeLines()
    first, second = publisher(end=20.0), others(end=40.0)
    for _, stamp, arrival in sorted(first + second, key=lambda message: message[2]):
        lines.takes(stamp, arrival)
    lines.settle()
    both = publisher(begin=40.0) + others(begin=40.007)
    for name, stamp, arrival in sorted(both, key=lambda message: message[2]):
        assert lines.takes(stamp, arrival) is (name == 'B')


def test_random_stalls_and_other_publishers_take_nothing_from_the_first():
    for seed in range(amount('rest', 12, 60)):
        rng = random.Random(seed)
        gaps = [(t, t + rng.uniform(0.0, 9.5)) for t in (12.0, 26.0, 40.0)]
        first = publisher(gaps=gaps, period=rng.choice([0.01, 0.02, 0.1]))
        rivals = [
            others(
                begin=rng.uniform(1.0, 11.0), period=rng.choice([0.01, 0.02, 0.1]),
                gaps=[(t, t + rng.uniform(0.0, 3.0)) for t in (11.5, 26.5)],
                **rng.choice([
                    {'ahead': rng.uniform(2.0, 1e6), 'rate': rng.choice([1.0, 3.0, 10.0])},
                    {'ahead': -rng.uniform(1e3, 9e5)},
                ]),
            ) for _ in range(rng.randint(1, 3))
        ]
        expected = [('A', (m[2] - BOOT) / S) for m in first]
        assert taken(first, *rivals) == expected, seed
        dead = [m for m in first if m[2] < BOOT + 45 * S]
        late = [t for name, t in taken(dead, *rivals) if name == 'B']
        assert late[0] < max(t for _, t in taken(dead)) + 10.5, seed


def test_lines_are_forgotten_however_many_come():
    lines = TimeLines()
    for k in range(5000):
        lines.takes(k * 1000 * S, BOOT + k * MS)
    assert len(lines._others) < 10


EPOCH = 1_700_000_000 * S


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
