# SPDX-License-Identifier: Apache-2.0
"""Every case is flown once, whatever becomes of the processes."""
from __future__ import annotations

from contextlib import closing

import pytest
from study_works import Squares

from propulsion_ros.study.pool import DiedError, Pool
from propulsion_ros.study.run import rows_in_order, run


def _flown(work, jobs=2, count=20, batch=1):
    with closing(Pool(work, jobs)) as pool:
        found = [each for some in run(pool, range(count), batch) for each in some]
    assert sorted(number for number, _, _ in found) == list(range(count))
    return {number: (row, error) for number, row, error in found}


def test_a_killed_process_loses_nothing(tmp_path):
    found = _flown(Squares(tmp_path, once=(3, 11)), batch=2)
    assert all(row['square'] == n**2 and not error for n, (row, error) in found.items())
    assert {path.name for path in tmp_path.iterdir()} == {'died_3', 'died_11'}


def test_a_case_that_kills_each_time_is_named_and_takes_none_with_it(tmp_path):
    found = _flown(Squares(tmp_path, always=(5,)), count=8)
    assert found.pop(5) == (None, 'its process died, 3 times')
    assert all(row['square'] == n**2 for n, (row, _) in found.items())


@pytest.mark.parametrize('jobs', [1, 2])
def test_rows_come_in_order(tmp_path, jobs):
    rows = list(rows_in_order(Squares(tmp_path), 9, jobs))
    assert [row['square'] for row in rows] == [n**2 for n in range(9)]


def test_rows_in_order_end_where_a_case_kills(tmp_path):
    with pytest.raises(DiedError, match='3 times'):
        list(rows_in_order(Squares(tmp_path, always=(0,)), 2, 2))
