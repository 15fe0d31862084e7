# SPDX-License-Identifier: Apache-2.0
"""What has lasted, what is held, and what is on for a time."""
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.timing.dwell import Dwell, Held, OnTimes

MS = 1_000_000


@pytest.mark.parametrize(('counts_gaps', 'times', 'lasts'), [
    pytest.param(False, (0, 50, 100), 2, id='regular'),
    pytest.param(False, (0, 99, 100), None, id='one step counts for half at most'),
    pytest.param(False, (0, 9000, 9001), None, id='gap'),
    pytest.param(False, (0, 9000, 18000), 2, id='slow feed needs three'),
    pytest.param(True, (0, 99, 100), 2, id='every step in full'),
    pytest.param(True, (0, 9000), 1, id='two are enough'),
    pytest.param(False, (900_000, 900_050, 0, 40, 50), 4, id='a clock that is set back'),
    pytest.param(True, (900_000, 900_050, 0, 40, 50), 4, id='and where gaps count'),
])
def test_dwell_of_a_tenth_of_a_second(counts_gaps, times, lasts):
    dwell = Dwell(0.1, counts_gaps=counts_gaps)
    seen = [dwell.update(t * MS, True) for t in times]
    assert seen == [i == lasts for i in range(len(times))]
    assert dwell.start_ns == times[0] * MS


def test_no_duration_is_satisfied_at_once():
    assert Dwell(0.0).update(5, True)


def test_another_duration_may_be_asked_for():
    dwell = Dwell(0.1, counts_gaps=True)
    assert not dwell.has_lasted(0.0)
    dwell.update(0, True)
    assert dwell.has_lasted(0.0)
    dwell.update(50 * MS, True)
    assert (dwell.has_lasted(0.05), dwell.has_lasted(0.1)) == (True, False)
    dwell.update(60 * MS, False)
    assert not dwell.has_lasted(0.0)


def feed(values, limit_ms=500, period_ms=100):
    """Return a value that was given these, and the stamp of the last one [ns]."""
    held = Held(limit_ms * MS)
    for i, value in enumerate(values):
        held.repeats(i * period_ms * MS, value)
    return held, (len(values) - 1) * period_ms * MS


@pytest.mark.parametrize(('values', 'is_held'), [
    pytest.param([1.0] * 7, True, id='constant'),
    pytest.param([1.0] * 6, False, id='for as long as it may'),
    pytest.param([1.0] * 6 + [2.0], False, id='alive again'),
    pytest.param([float(i) for i in range(7)], False, id='changing'),
    pytest.param([(1.0, 2.0)] * 7, True, id='of several numbers'),
    pytest.param([(1.0, float(i)) for i in range(7)], False, id='of which one changes'),
    pytest.param([float('nan') for _ in range(7)], False, id='NaN is not the same as NaN'),
    pytest.param([repr(float('nan'))] * 7, True, id='but what stands for it is'),
])
def test_a_value_is_held_or_alive(values, is_held):
    held, now_ns = feed(values)
    assert held.is_held(now_ns) is is_held
    assert held.is_alive(now_ns) is not is_held


def test_without_a_value_nothing_is_held_nor_alive():
    held = Held(0)
    assert (held.is_held(5), held.is_alive(5)) == (False, False)
    assert not held.repeats(0, None), 'a first value is new'
    held.repeats(5, 1.0)
    held.reset()
    assert (held.is_held(5), held.is_alive(5), held.value) == (False, False, None)


def test_repeats_says_so_and_keeps_what_was_known_at_the_change():
    held = Held()
    assert [held.repeats(i, v, i) for i, v in enumerate((1.0, 1.0, 2.0, 2.0, 1.0))] == [
        False, True, False, True, False,
    ]
    held.repeats(9, 1.0, 'ignored')
    assert (held.value, held.since_ns, held.then) == (1.0, 4, 4)


def test_each_is_on_for_its_own_time():
    on = OnTimes(2)
    on.start(1, 1000, 250)
    assert [(on.is_on(0, t), on.is_on(1, t)) for t in (1000, 1249, 1250)] == [
        (False, True), (False, True), (False, False),
    ]


def test_starting_again_prolongs_and_never_shortens():
    on = OnTimes(1)
    on.start(0, 0, 1000)
    on.start(0, 100, 100)
    assert on.left_ns(0, 100) == 900
    on.start(0, 900, 1000)
    assert on.left_ns(0, 900) == 1000


def test_stop_and_clear():
    on = OnTimes(2)
    on.start(0, 0, 100)
    on.start(1, 0, 100)
    on.stop(0)
    assert (on.is_on(0, 1), on.is_on(1, 1)) == (False, True)
    on.clear()
    assert not on.is_on(1, 1)


@given(st.lists(st.integers(-200, 200), max_size=30), st.integers(1, 1000))
def test_on_time_is_never_longer_than_asked_for_whatever_the_clock_does(steps, duration):
    on = OnTimes(1)
    now, forward = 10_000, 0
    on.start(0, now, duration)
    for step in steps:
        now += step
        forward += max(step, 0)
        assert on.left_ns(0, now) == max(duration - forward, 0)
