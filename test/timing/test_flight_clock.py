# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.timing.flight_clock import FlightClock, Stamp

S = 1_000_000_000


def run(*stamps, flight_from=None):
    """Return (verdict, clock [s]) after each stamp [s]."""
    clock = FlightClock(2.0)
    out = []
    for i, stamp in enumerate(stamps):
        verdict = clock.advance(round(stamp * S)).value
        if i == flight_from:
            clock.begin_flight()
        out.append((verdict, clock.now_ns / S))
    return out


@pytest.mark.parametrize(
    ('stamps', 'expected'),
    [
        pytest.param((5, 6, 8), [('accepted', 0), ('accepted', 1), ('accepted', 3)], id='plain'),
        pytest.param((5, 6, 6), [('accepted', 0), ('accepted', 1), ('duplicate', 1)], id='twice'),
        pytest.param((5, 6, 5.6), [('accepted', 0), ('accepted', 1), ('late', 1)], id='late'),
        pytest.param(
            (5, 6, 900, 7), [('accepted', 0), ('accepted', 1), ('stray', 1), ('accepted', 2)],
            id='one stamp from the far future',
        ),
        pytest.param(
            (5, 6, 0, 7), [('accepted', 0), ('accepted', 1), ('stray', 1), ('accepted', 2)],
            id='one stamp that was never set',
        ),
        pytest.param(
            (5, 6, 20, 21, 22),
            [('accepted', 0), ('accepted', 1), ('stray', 1), ('jumped', 3), ('accepted', 4)],
            id='forward jump counts for the longest step',
        ),
        pytest.param(
            (5, 9, 9.5, 10), [('accepted', 0), ('stray', 0), ('jumped', 2), ('accepted', 2.5)],
            id='gap of 4 s',
        ),
        pytest.param(
            (1, 2, 0, 0.1, 0.2),
            [('accepted', 0), ('accepted', 1), ('stray', 1), ('restarted', 0), ('accepted', 0.1)],
            id='time starts again',
        ),
    ],
)
def test_stamps(stamps, expected):
    got = run(*stamps)
    assert [verdict for verdict, _ in got] == [verdict for verdict, _ in expected]
    assert [now for _, now in got] == pytest.approx([now for _, now in expected])


def test_backward_jump_within_the_flight_goes_on():
    got = run(5, 6, 7, 8, 6.5, 6.6, 6.7, flight_from=1)
    assert [verdict for verdict, _ in got[4:]] == ['stray', 'jumped', 'accepted']
    assert [now for _, now in got[4:]] == pytest.approx([3.0, 3.1, 3.2])


def test_backward_jump_before_the_flight_is_a_new_beginning():
    got = run(5, 6, 7, 8, 5.5, 5.6, flight_from=1)
    assert got[-1] == ('restarted', 0.0)


@given(st.lists(st.integers(-(10**10), 10**12), max_size=60))
def test_clock_never_runs_backward_nor_leaps(stamps):
    clock = FlightClock(2.0)
    for stamp in stamps:
        before = clock.now_ns
        verdict = clock.advance(stamp)
        if verdict is not Stamp.RESTARTED:
            assert 0 <= clock.now_ns - before <= 2 * S
    assert sum(clock.counts.values()) == len(stamps)


def silent(clock, *stamps):
    for stamp in stamps:
        assert clock.pass_silence(round(stamp * S)) is Stamp.ACCEPTED


def taken(clock, *stamps):
    return [clock.advance(round(stamp * S), may_restart=False).value for stamp in stamps]


@pytest.mark.parametrize(('back', 'verdicts'), [
    pytest.param((10.7, 10.8), ['accepted'] * 2, id='a little behind the silence'),
    pytest.param((11.2, 11.3), ['accepted'] * 2, id='ahead of it'),
    pytest.param((10.0, 10.0), ['duplicate'] * 2, id='stuck'),
    pytest.param((5.0, 5.1), ['stray', 'jumped'], id='set back'),
])
def test_sample_is_judged_by_the_one_before_the_silence(back, verdicts):
    clock = FlightClock(2.0, reanchors=True)
    taken(clock, 9.9, 10.0)
    silent(clock, 10.5, 10.8, 11.0)
    assert clock.now_ns == pytest.approx(1.1 * S)
    before = clock.now_ns
    assert taken(clock, *back) == verdicts
    assert 0 <= clock.now_ns - before <= 0.3 * S


def test_sample_after_a_long_silence_is_the_next_and_time_does_not_count_twice():
    clock = FlightClock(2.0, reanchors=True)
    taken(clock, 9.0, 10.0)
    silent(clock, *(10.0 + 0.5 * i for i in range(1, 21)))
    assert clock.now_ns == pytest.approx(11.0 * S)
    assert taken(clock, 19.9, 20.1) == ['accepted'] * 2
    assert clock.now_ns == pytest.approx(11.1 * S, abs=0.11 * S)


def test_stamps_that_stay_late_are_believed_on_a_robot():
    clock = FlightClock(2.0, reanchors=True)
    taken(clock, 9.9, 10.0)
    verdicts = taken(clock, *(9.7 + 0.02 * i for i in range(40)))
    assert verdicts.count('jumped') + verdicts.count('accepted') >= 14
    assert verdicts[-1] == 'accepted'
