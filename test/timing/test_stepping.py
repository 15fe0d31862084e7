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

    def __init__(self, sources=('a',), trusted=(), delays_ns=None, lasting='', **grid):
        self.lines = []
        self.runner = FixedStepRunner(
            Grid(Ticks(10 * MS), **grid), sources,
            apply=lambda source, stamp_ns, payload: self.lines.append(payload),
            step=lambda tick, stamp_ns: self.lines.append(tick),
            on_jump=lambda from_ns, to_ns: self.lines.append(('jump', from_ns, to_ns)),
            trusted=trusted, delays_ns=delays_ns or {}, lasting=lasting,
        )

    def push(self, source, ms, payload=None):
        self.runner.push(source, round(ms * MS), payload)
        return self


BOTH = {'sources': ('a', 'b'), 'wait_for': ('a', 'b')}
CLOCKED = {'sources': ('a', 'clock'), 'trusted': ('clock',), 'wait_for': ('clock',)}


@pytest.mark.parametrize(('options', 'pushes', 'lines', 'counts'), [
    pytest.param({}, [('a', 1003, 'x'), ('a', 1021, 'y')], ['x', 101, 102], {},
                 id='ticks lie on multiples of the period'),
    pytest.param({}, [('a', 0, 'w'), ('a', 4, 'x'), ('a', 10, 'y'), ('a', 11, 'z')],
                 ['w', 0, 'x', 'y', 1], {}, id='the newest up to the tick applies'),
    pytest.param(BOTH, [('b', 5, 'b1'), ('b', 5, 'b2'), ('a', 5, 'a1'), ('a', 10), ('b', 10)],
                 ['a1', 'b1', 'b2', 1], {}, id='equal stamps by source, then by arrival'),
    pytest.param({'sources': ('a', 'b')}, [('a', 0), ('a', 20), ('b', 15, 'late'), ('a', 30)],
                 [0, 1, 2, 'late', 3], {'late': 1}, id='what is late applies at the next tick'),
    pytest.param({**BOTH, 'max_lag_ns': 50 * MS}, [('a', 0), ('a', 40)], [], {},
                 id='within the lag a silent source is waited for'),
    pytest.param({**BOTH, 'max_lag_ns': 50 * MS}, [('a', 0), ('a', 40), ('a', 60)], [0, 1], {},
                 id='beyond the lag it is not'),
    pytest.param({**BOTH, 'max_lag_ns': 50 * MS}, [('b', 0), ('a', 0), ('a', 40)], [0], {},
                 id='nor one that fell silent, within the lag'),
    pytest.param({**BOTH, 'max_lag_ns': 50 * MS}, [('b', 0), ('a', 0), ('a', 80), ('b', 70)],
                 [0, 1, 2, 3, 4, 5, 6, 7], {}, id='one that is there again counts at once'),
    pytest.param({'sources': ('a', 'b', 'clock'), 'trusted': ('clock',),
                  'wait_for': ('clock', 'a'), 'max_lag_ns': 50 * MS},
                 [('b', 250, 'ahead'), ('clock', 0)], [], {},
                 id='an input that is ahead makes no time beside a clock'),
    pytest.param({'sources': ('a', 'b', 'clock'), 'trusted': ('clock',),
                  'wait_for': ('clock', 'a'), 'max_lag_ns': 50 * MS},
                 [('b', 250, 'ahead'), ('clock', 0), ('a', 0), ('clock', 60)], [0, 1], {},
                 id='and the lag counts from the clock'),
    pytest.param({**BOTH, 'delays_ns': {'b': 25 * MS}}, [('b', 0, 'fire'), ('a', 0), ('a', 40)],
                 [0, 1, 2], {}, id='a delayed source is waited for less'),
    pytest.param({**BOTH, 'delays_ns': {'b': 25 * MS}},
                 [('b', 0, 'fire'), ('a', 0), ('a', 40), ('b', 10)], [0, 1, 2, 'fire', 3], {},
                 id='and takes effect later'),
    pytest.param({}, [('a', 5000, 'x'), ('a', 100, 'y')], ['x', 500], {},
                 id='one message back is no jump'),
    pytest.param({}, [('a', 5000, 'x'), ('a', 100, 'y'), ('a', 111, 'z')],
                 ['x', 500, ('jump', 5000 * MS, 100 * MS), 'y', 10, 11], {'jump': 1},
                 id='a second one confirms it'),
    pytest.param({}, [('a', 0), ('a', 10**12, 'far'), ('a', 10, 'x')], [0, 'x', 1], {'stray': 1},
                 id='one stray stamp moves nothing'),
    pytest.param({'sources': ('a', 'clock'), 'trusted': ('clock',)},
                 [('clock', 5000), ('clock', 0)], [500, ('jump', 5000 * MS, 0), 0], {},
                 id='a trusted source needs no confirmation'),
    pytest.param(CLOCKED, [('clock', 5000), *(('a', ms, 'far') for ms in (
        10**9, 10**9 + 1, 0, 1, -(10**6)
    )), ('a', 5005, 'near'), ('clock', 5010)], [500, 'near', 501], {'stray': 5, 'jump': 0},
                 id='beside a clock no other input moves time'),
    pytest.param(CLOCKED, [('a', 10**12, 'far'), ('clock', 5000), ('a', 5005, 'near'),
                           ('clock', 5010)], [500, 'near', 501], {},
                 id='nor does a wild stamp before it'),
    pytest.param({'sources': ('a', 'b')}, [('b', 10_000), ('a', 1.7e12, 'far'),
                                           ('a', 10_010, 'near')],
                 [1000, 'near', 1001], {'stray': 1}, id='a first stamp is held against the others'),
    pytest.param(CLOCKED, [('clock', 0), *[('a', 5000, 'far')] * QUEUE_LIMIT, ('a', 5, 'near'),
                           ('clock', 10)], [0, 'near', 1], {'overflow': 1},
                 id='a flood of far ones locks out no near one'),
    pytest.param({}, [('a', 0), ('a', 3_600_000, 'x'), ('a', 3_600_010, 'y')],
                 [0, ('jump', 0, 3_600_000 * MS), 'x', 360000, 'y', 360001], {},
                 id='a long silence moves the grid'),
    pytest.param({'sources': ('a', 'b'), 'wait_for': ('b',)}, [('a', 1, 'x')] * (QUEUE_LIMIT + 5),
                 [], {'overflow': 5}, id='a flood is refused and counted'),
])
def test_inputs_and_ticks(options, pushes, lines, counts):
    log = Log(**options)
    for push in pushes:
        log.push(*push)
    assert log.lines == lines
    assert {key: log.runner.counts[key] for key in counts} == counts


def test_newest_and_last_stamp():
    assert Log().push('a', 1021).runner.last_stamp_ns == 1020 * MS
    log = Log(**CLOCKED).push('a', 10**12).push('clock', 5000).push('clock', 5010)
    assert log.runner.newest_ns == 5010 * MS


@pytest.mark.parametrize(('again', 'late'), [
    (np.array([1.0, np.nan]), 0), (np.array([1.0, 2.0]), 1),
], ids=['repeated', 'another'])
def test_what_was_applied_last_is_not_late_once_more(again, late):
    log = Log().push('a', 0, np.array([1.0, np.nan])).push('a', 0, again)
    assert log.runner.counts['late'] == late
    assert len(log.push('a', 10).lines) == 3 + late


def test_what_lasts_is_late_behind_a_tick_that_did_not_see_it():
    log = Log(('a', 'b'), lasting='b').push('a', 0)
    for late in (1, 1, 2):
        log.runner.push('b', 0, late)
        assert log.runner.counts['late'] == late
    assert log.lines == [0, 1, 1, 2]


def test_sources_that_a_tick_waits_for_are_known():
    log = Log(**BOTH).push('a', 0).push('a', 30)
    assert log.lines == []
    assert log.runner.sources_behind(0) == ['b']
    log.push('b', 20)
    assert log.lines == [2]
    assert log.runner.sources_behind(30 * MS) == ['b']


def test_topics_of_a_recording_may_come_far_apart():
    log = Log(('a', 'clock'), trusted=('clock',), wait_for=('clock', 'a'))
    log.runner.follow_recording(0, {'a': 0})
    log.push('clock', 0).push('clock', 2000).push('a', 0).push('a', 10, 'x').push('a', 20)
    assert log.lines == [0, 'x', 1, 2]


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


@pytest.mark.parametrize('rate', [1.0, 50.0, 62.5, 100.0, 250.0, 1000.0, 1e9 / 4_166_667, 1e9 / 7])
def test_ticks_of_whole_nanoseconds_are_multiples_of_the_period(rate):
    ticks, period = Ticks.of_rate(rate), period_from_rate(rate)
    assert period == round(1e9 / rate)
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
    agenda.add(place, lambda: done.append(3))
    agenda.clear()
    agenda.pass_to(12)
    assert done == [1, 2], 'what is cleared is not done'
