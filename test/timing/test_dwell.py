# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from propulsion_ros.timing.dwell import Dwell

MS = 1_000_000


@pytest.mark.parametrize(
    ('times', 'holds'),
    [
        pytest.param((0, 50, 100), [False, False, True], id='regular'),
        pytest.param((0, 99, 100), [False, False, False], id='one step counts for half at most'),
        pytest.param((0, 9000, 9001), [False, False, False], id='gap'),
        pytest.param((0, 9000, 18000), [False, False, True], id='slow feed needs three'),
    ],
)
def test_dwell_of_a_tenth_of_a_second(times, holds):
    dwell = Dwell(0.1)
    assert [dwell.update(t * MS, True) for t in times] == holds
    assert dwell.start_ns == 0


def test_no_duration_is_satisfied_at_once():
    assert Dwell(0.0).update(5, True)


@pytest.mark.parametrize(
    ('times', 'holds'),
    [
        pytest.param((0, 99, 100), [False, False, True], id='every step in full'),
        pytest.param((0, 9000), [False, True], id='two are enough'),
    ],
)
def test_dwell_that_counts_gaps(times, holds):
    dwell = Dwell(0.1, counts_gaps=True)
    assert [dwell.update(t * MS, True) for t in times] == holds


@pytest.mark.parametrize('counts_gaps', [False, True])
def test_a_clock_that_is_set_back_takes_nothing_from_what_has_lasted(counts_gaps):
    dwell = Dwell(0.1, counts_gaps=counts_gaps)
    seen = [dwell.update(t * MS, True) for t in (900_000, 900_050, 0, 40, 50)]
    assert seen == [False, False, False, False, True]


def test_another_duration_may_be_asked_for():
    dwell = Dwell(0.1, counts_gaps=True)
    assert not dwell.has_lasted(0.0)
    dwell.update(0, True)
    assert dwell.has_lasted(0.0)
    dwell.update(50 * MS, True)
    assert (dwell.has_lasted(0.05), dwell.has_lasted(0.1)) == (True, False)
    dwell.update(60 * MS, False)
    assert not dwell.has_lasted(0.0)
