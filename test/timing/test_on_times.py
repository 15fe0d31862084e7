# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.timing.dwell import OnTimes


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
