from __future__ import annotations

import pytest

from propulsion_ros.pace import Pace

MS = 1_000_000


@pytest.mark.parametrize(('stamps', 'passed'), [
    pytest.param(range(0, 500, 10), [0, 100, 200, 300, 400], id='faster than the period'),
    pytest.param([0, 250, 500], [0, 250, 500], id='slower than the period'),
    pytest.param([5, 104, 105, 106], [5, 105], id='counted from the first'),
    pytest.param([1000, 995, 1000, 1005], [1000], id='another source is a little behind'),
    pytest.param([1100, 100, 1200], [1100, 1200], id='behind by a second is no jump'),
    pytest.param([5000, 0, 50, 100], [5000, 0, 100], id='time begins anew'),
    pytest.param([0, 9_000_000_000, 9_000_000_010], [0, 9_000_000_000], id='far ahead'),
    pytest.param([-500, -450, -400], [-500, -400], id='before 1970'),
])
def test_one_stamp_in_a_period_passes(stamps, passed):
    pace = Pace(100 * MS)
    assert [stamp for stamp in stamps if pace.is_due(stamp * MS)] == passed


def test_only_a_long_way_back_is_a_jump():
    pace = Pace(100 * MS)
    assert not pace.jumps_back(0)
    pace.is_due(5000 * MS)
    assert not pace.jumps_back(4000 * MS)
    assert pace.jumps_back(3999 * MS)
    assert not pace.jumps_back(10**18)


def test_what_lags_by_more_than_a_second_is_stale():
    pace = Pace(100 * MS)
    assert not pace.is_stale(0)
    pace.is_due(5000 * MS)
    assert not pace.is_stale(4000 * MS)
    assert pace.is_stale(3999 * MS)
    pace.restart()
    assert not pace.is_stale(0)
