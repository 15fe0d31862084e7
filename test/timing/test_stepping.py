# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.timing.stamped_inputs import QUEUE_LIMIT
from propulsion_ros.timing.stepping import (
    Agenda,
    FixedStepRunner,
    Grid,
    Place,
    Ticks,
    period_from_rate,
    ticks_per,
)

MS = 1_000_000


class Log:
    """A runner that writes down what happens."""

    def __init__(self, sources=('a',), trusted=(), delays_ns=None, **grid):
        self.lines = []
        self.runner = FixedStepRunner(
            Grid(Ticks(10 * MS), **grid), sources,
            apply=lambda source, stamp_ns, payload: self.lines.append(payload),
            step=lambda tick, stamp_ns: self.lines.append(tick),
            on_jump=lambda from_ns, to_ns: self.lines.append(('jump', from_ns, to_ns)),
            trusted=trusted, delays_ns=delays_ns or {},
        )

    def push(self, source, ms, payload=None):
        self.runner.push(source, round(ms * MS), payload)
        return self


def test_ticks_lie_on_multiples_of_the_period_not_on_the_arrival():
    log = Log().push('a', 1003, 'x').push('a', 1021, 'y')
    assert log.lines == ['x', 101, 102]
    assert log.runner.last_stamp_ns == 1020 * MS


def test_newest_command_up_to_the_tick_applies():
    log = Log().push('a', 0, 'w').push('a', 4, 'x').push('a', 10, 'y').push('a', 11, 'z')
    assert log.lines == ['w', 0, 'x', 'y', 1]


def test_equal_stamps_apply_in_the_order_of_sources_then_arrival():
    log = Log(('a', 'b'), wait_for=('a', 'b'))
    log.push('b', 5, 'b1').push('b', 5, 'b2').push('a', 5, 'a1').push('a', 10).push('b', 10)
    assert log.lines == ['a1', 'b1', 'b2', 1]


def test_late_input_applies_at_the_next_tick_and_is_counted():
    log = Log(('a', 'b')).push('a', 0).push('a', 20).push('b', 15, 'late').push('a', 30)
    assert log.lines == [0, 1, 2, 'late', 3]
    assert log.runner.counts['late'] == 1


@pytest.mark.parametrize(('again', 'late'), [
    (np.array([1.0, np.nan]), 0), (np.array([1.0, 2.0]), 1),
], ids=['repeated', 'another'])
def test_what_was_applied_last_is_not_late_once_more(again, late):
    log = Log().push('a', 0, np.array([1.0, np.nan])).push('a', 0, again)
    assert log.runner.counts['late'] == late
    assert len(log.push('a', 10).lines) == 3 + late


def test_what_lasts_is_late_behind_a_tick_that_did_not_see_it():
    log = Log(('a', 'b')).push('a', 0)
    for late in (1, 1, 2):
        log.runner.push_lasting('b', 0, late)
        assert log.runner.counts['late'] == late
    assert log.lines == [0, 1, 1, 2]


def test_tick_waits_for_every_awaited_source():
    log = Log(('a', 'b'), wait_for=('a', 'b')).push('a', 0).push('a', 30)
    assert log.lines == []
    assert log.runner.sources_behind(0) == ['b']
    log.push('b', 20)
    assert log.lines == [2]
    assert log.runner.sources_behind(30 * MS) == ['b']


def test_silent_source_is_not_waited_for_beyond_the_lag():
    log = Log(('a', 'b'), wait_for=('a', 'b'), max_lag_ns=50 * MS)
    log.push('a', 0).push('a', 40)
    assert log.lines == []
    log.push('a', 60)
    assert log.lines == [0, 1]


def test_input_stamped_ahead_makes_no_time_where_a_clock_is_awaited():
    log = Log(
        ('a', 'b', 'clock'), trusted=('clock',), wait_for=('clock', 'a'), max_lag_ns=50 * MS
    )
    log.push('b', 250, 'ahead').push('clock', 0)
    assert log.lines == []
    log.push('a', 0)
    assert log.lines == [0]
    log.push('clock', 60)
    assert log.lines == [0, 1]


def test_topics_of_a_recording_may_come_far_apart():
    log = Log(('a', 'clock'), trusted=('clock',), wait_for=('clock', 'a'))
    log.runner.follow_recording(0, {'a': 0})
    log.push('clock', 0).push('clock', 2000).push('a', 0).push('a', 10, 'x').push('a', 20)
    assert log.lines == [0, 'x', 1, 2]


def test_delayed_source_takes_effect_later_and_is_waited_for_less():
    log = Log(('a', 'b'), wait_for=('a', 'b'), delays_ns={'b': 25 * MS})
    log.push('b', 0, 'fire').push('a', 0).push('a', 40)
    assert log.lines == [0, 1, 2]
    log.push('b', 10)
    assert log.lines == [0, 1, 2, 'fire', 3]


def test_time_jumps_back_after_a_second_message_confirms():
    log = Log().push('a', 5000, 'x').push('a', 100, 'y')
    assert log.lines == ['x', 500]
    log.push('a', 111, 'z')
    assert log.lines == ['x', 500, ('jump', 5000 * MS, 100 * MS), 'y', 10, 11]
    assert log.runner.counts['jump'] == 1


def test_one_stray_stamp_moves_nothing():
    log = Log().push('a', 0).push('a', 10**12, 'far').push('a', 10, 'x')
    assert log.lines == [0, 'x', 1]
    assert log.runner.counts['stray'] == 1


def test_trusted_source_needs_no_confirmation():
    log = Log(('a', 'clock'), trusted=('clock',)).push('clock', 5000).push('clock', 0)
    assert log.lines == [500, ('jump', 5000 * MS, 0), 0]


def test_against_a_clock_no_other_input_moves_time():
    log = Log(('a', 'clock'), trusted=('clock',), wait_for=('clock',)).push('clock', 5000)
    for ms in (10**9, 10**9 + 1, 0, 1, -(10**6)):
        log.push('a', ms, 'far')
    log.push('a', 5005, 'near').push('clock', 5010)
    assert log.lines == [500, 'near', 501]
    assert log.runner.counts['stray'] == 5
    assert log.runner.counts['jump'] == 0


def test_wild_stamp_before_the_clock_does_no_harm():
    log = Log(('a', 'clock'), trusted=('clock',), wait_for=('clock',)).push('a', 10**12, 'far')
    log.push('clock', 5000).push('a', 5005, 'near').push('clock', 5010)
    assert log.lines == [500, 'near', 501]
    assert log.runner.newest_ns == 5010 * MS


def test_first_stamp_of_a_source_is_held_against_the_others():
    log = Log(('a', 'b')).push('b', 10_000).push('a', 1.7e12, 'far')
    assert log.lines == [1000]
    log.push('a', 10_010, 'near')
    assert log.lines == [1000, 'near', 1001]
    assert log.runner.counts['stray'] == 1


def test_flood_of_far_commands_locks_out_no_near_one():
    log = Log(('a', 'clock'), trusted=('clock',), wait_for=('clock',)).push('clock', 0)
    for _ in range(QUEUE_LIMIT):
        log.push('a', 5000, 'far')
    log.push('a', 5, 'near').push('clock', 10)
    assert log.lines == [0, 'near', 1]
    assert log.runner.counts['overflow'] == 1


def test_long_silence_moves_the_grid_instead_of_running_it():
    log = Log().push('a', 0).push('a', 3_600_000, 'x').push('a', 3_600_010, 'y')
    assert log.lines == [0, ('jump', 0, 3_600_000 * MS), 'x', 360000, 'y', 360001]


def test_flood_is_refused_and_counted():
    log = Log(('a', 'b'), wait_for=('b',))
    for _ in range(QUEUE_LIMIT + 5):
        log.push('a', 1, 'x')
    assert log.runner.counts['overflow'] == 5


def test_unknown_awaited_source_is_refused():
    with pytest.raises(ConfigError, match="unknown input 'c', known: a, b"):
        Log(('a', 'b'), wait_for=('c',))


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=60),
    st.lists(st.integers(0, 5), max_size=80),
)
def test_any_slicing_of_the_same_inputs_gives_the_same_ticks(gaps, ticks_between):
    stamps = [sum(gaps[: i + 1]) for i in range(len(gaps))]
    plain, sliced = Log(('a', 'clock')), Log(('a', 'clock'), trusted=('clock',))
    for i, ms in enumerate(stamps):
        plain.push('a', ms, f'c{i}')
    for i, ms in enumerate(stamps):
        # Clock messages between the inputs may run ticks early, but not other ones.
        for k in range(ticks_between[i] if i < len(ticks_between) else 0):
            before = stamps[i - 1] if i else ms
            sliced.push('clock', before + (ms - before) * k / 6)
        sliced.push('a', ms, f'c{i}')
    late = sliced.runner.counts['late'] + plain.runner.counts['late']
    if not late and len(set(stamps)) == len(stamps):
        assert sliced.lines == plain.lines


@pytest.mark.parametrize(('rate', 'period'), [(100.0, 10_000_000), (240.0, 4_166_667)])
def test_period_is_whole_nanoseconds(rate, period):
    assert period_from_rate(rate) == period


@pytest.mark.parametrize('rate', [1.0, 50.0, 62.5, 100.0, 250.0, 1000.0, 1e9 / 4_166_667, 1e9 / 7])
def test_ticks_of_whole_nanoseconds_are_multiples_of_the_period(rate):
    ticks, period = Ticks.of_rate(rate), period_from_rate(rate)
    assert ticks == Ticks(period)
    assert ticks.dt == period * 1e-9
    for stamp in (0, 1, period - 1, period, period + 1, 1_700_000_000 * 10**9 + 3):
        assert ticks.first_from(stamp) == -(-stamp // period)
    assert ticks.stamp(12345) == 12345 * period


@pytest.mark.parametrize(('rate', 'count', 'seconds'), [
    (240.0, 240, 1), (60.0, 60, 1), (30.0, 30, 1), (29.97, 2997, 100), (333.3333, 3333333, 10000),
    (0.3, 3, 10),
])
def test_ticks_of_other_rates_do_not_drift(rate, count, seconds):
    ticks = Ticks.of_rate(rate)
    for turn in (0, 1, 1_700_000_000 // seconds):
        assert ticks.stamp(turn * count) == turn * seconds * 10**9
    for tick in (1, 2, 7, count - 1, count * 12345 + 5):
        assert ticks.stamp(tick) == tick * seconds * 10**9 // count
    assert ticks.dt == pytest.approx(1.0 / rate, rel=1e-15)


@given(rate=st.floats(1e-3, 1e4), tick=st.integers(0, 10**9))
def test_first_tick_from_a_stamp(rate, tick):
    ticks = Ticks.of_rate(rate)
    stamp = ticks.stamp(tick)
    assert ticks.first_from(stamp) == tick
    assert ticks.first_from(stamp + 1) == tick + 1
    assert isinstance(stamp, int)
    assert abs(stamp - tick * 1e9 / rate) <= 1.0 + 1e-6 * stamp


def test_rates_must_divide():
    assert ticks_per('publish_rate', 100.0, 25.0) == 4
    with pytest.raises(ConfigError, match='30 Hz does not divide 100 Hz'):
        ticks_per('publish_rate', 100.0, 30.0)
    with pytest.raises(ConfigError, match='200 Hz does not divide 100 Hz'):
        ticks_per('publish_rate', 100.0, 200.0)


def test_source_that_fell_silent_is_not_waited_for_beyond_the_lag():
    log = Log(('a', 'b'), wait_for=('a', 'b'), max_lag_ns=50 * MS).push('b', 0).push('a', 0)
    assert log.lines == [0]
    log.push('a', 40)
    assert log.lines == [0]
    log.push('a', 80)
    assert log.lines == [0, 1, 2, 3]
    # One that is there again counts at once.
    log.push('b', 70)
    assert log.lines == [0, 1, 2, 3, 4, 5, 6, 7]


# What is on an agenda is done behind the inputs that it names, and before the next.


@pytest.mark.parametrize(('place', 'before', 'after'), [
    pytest.param(Place(10), [(10, 'a'), (10, 'b'), (10, '')], (11, 'a'), id='behind a stamp'),
    pytest.param(Place(10, 'a'), [(9, 'b'), (10, 'a')], (10, 'b'), id='behind a source'),
    pytest.param(Place(10, 'b'), [(10, 'a'), (10, 'b')], (10, ''), id='before the tick'),
])
def test_it_is_done_in_its_place(place, before, after):
    done, agenda = [], Agenda(('a', 'b'))
    agenda.add(place, lambda: done.append(1))
    agenda.add(place, lambda: done.append(2))
    for here in before:
        agenda.pass_to(*here)
    assert not done
    assert len(agenda) == 2
    agenda.pass_to(*after)
    assert done == [1, 2]
    assert not agenda


def test_what_is_cleared_is_not_done():
    done, agenda = [], Agenda(())
    agenda.add(Place(1), lambda: done.append(1))
    agenda.clear()
    agenda.pass_to(5)
    assert not done
