# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from propulsion_ros.timing.pace import Pace

MS = 1_000_000


def drawn(stamps, period=100):
    """Return those of some (source, stamp [ms]) at which a picture is made."""
    pace, made = Pace(period * MS), []
    for source, stamp in stamps:
        pace.take(source, stamp * MS)
        if pace.is_due(source):
            pace.draw(source)
            made.append((source, stamp))
    return made


@pytest.mark.parametrize(('stamps', 'passed'), [
    pytest.param(range(0, 500, 10), [0, 100, 200, 300, 400], id='faster than the period'),
    pytest.param([0, 250, 500], [0, 250, 500], id='slower than the period'),
    pytest.param([5, 104, 105, 106], [5, 105], id='counted from the first'),
    pytest.param([1000, 995, 1000, 1005], [1000], id='a little back'),
    pytest.param([1100, 100, 1200], [1100, 1200], id='behind by a second is no jump'),
    pytest.param([5000, 0, 50, 100], [5000, 0, 100], id='time begins anew'),
    pytest.param([0, 9_000_000_000, 9_000_000_010], [0, 9_000_000_000], id='far ahead'),
    pytest.param([-500, -450, -400], [-500, -400], id='before 1970'),
])
def test_one_stamp_in_a_period_is_drawn(stamps, passed):
    assert [stamp for _, stamp in drawn([('a', stamp) for stamp in stamps])] == passed


def both(ahead, count=51):
    """Return two sources in turns, every 20 ms, the first one ahead [ms]."""
    return [(name, 20 * i + lead) for i in range(count) for name, lead in (('a', ahead), ('b', 0))]


@pytest.mark.parametrize('ahead', [0, 5, 999, 1001, 60_000, 10**12], ids=str)
def test_sources_of_any_times_share_the_pictures(ahead):
    made = drawn(both(ahead))
    assert made == [('a', ahead + stamp) for stamp in range(0, 1001, 100)]


def test_a_source_goes_on_without_the_other_one():
    later = [('b', stamp) for stamp in range(1020, 1520, 20)]
    made = drawn([*both(60_000), *later])
    assert made[11:] == [('b', stamp) for stamp in range(1100, 1501, 100)]


@pytest.mark.parametrize(('stamp', 'is_drawn'), [
    pytest.param(1099, False, id='within the period'),
    pytest.param(1100, True, id='a period later'),
    pytest.param(5, False, id='of another time'),
])
def test_a_new_source_counts_from_the_last_picture(stamp, is_drawn):
    assert drawn([('a', 1000), ('b', stamp)]) == [('a', 1000), *([('b', stamp)] * is_drawn)]


def test_time_of_all_sources_begins_anew():
    assert drawn([*both(0, 101), *both(0)]) == drawn(both(0, 101)) + drawn(both(0))


@pytest.mark.parametrize(('source', 'stamp', 'expected'), [
    pytest.param('a', 4000, False, id='a second back'),
    pytest.param('a', 3999, True, id='more than a second back'),
    pytest.param('a', 10**12, False, id='ahead'),
    pytest.param('b', 0, False, id='another source'),
])
def test_only_a_long_way_back_of_one_source_is_a_jump(source, stamp, expected):
    pace = Pace(100 * MS)
    assert not pace.take('a', 5000 * MS)
    assert pace.take(source, stamp * MS) == expected
    assert pace.newest_ns == (max(stamp, 5000) if not expected else stamp) * MS


def test_what_lags_by_more_than_a_second_is_stale():
    pace = Pace(100 * MS)
    assert not pace.is_stale(0)
    pace.take('a', 5000 * MS)
    assert not pace.is_stale(4000 * MS)
    assert pace.is_stale(3999 * MS)
    pace.restart()
    assert pace.newest_ns is None
    assert not pace.is_stale(0)
