# SPDX-License-Identifier: Apache-2.0
"""The free-flyer's sequence: what it adds up to, and when."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.demos.freeflyer import BEGINNINGS, END, START, WITHIN_LIMITS, wrench_at

DT = 0.016


def test_impulses_add_up_to_nothing():
    times = DT * np.arange(round(END / DT) + 1)
    wrenches = np.array([wrench_at(time) for time in times])
    assert np.abs(wrenches).max() > 0.5
    # A pulse is a whole number of steps, give or take one.
    assert np.abs(DT * wrenches.sum(axis=0)).max() <= 2 * DT * 0.6 * (len(BEGINNINGS) - 1)
    assert not wrenches[times < START - DT].any()


@pytest.mark.parametrize(('time', 'axis', 'expected'), [
    pytest.param(15.9, 0, 0.0, id='before'),
    pytest.param(16.0, 0, 0.2, id='begins'),
    pytest.param(16.99, 0, 0.2, id='lasts'),
    pytest.param(17.0, 0, -0.2, id='turns'),
    pytest.param(18.0, 0, 0.0, id='pause'),
    pytest.param(18.5, 1, 0.15, id='the next'),
    pytest.param(31.0, 0, 0.6, id='the first beyond the limits'),
    pytest.param(32.49, 0, 0.6, id='lasts longer'),
    pytest.param(32.5, 0, -0.6, id='turns later'),
    pytest.param(45.0, 0, 0.0, id='after'),
])
def test_pulses_follow_each_other(time, axis, expected):
    assert wrench_at(time)[axis] == expected


def test_each_axis_has_a_pulse_of_its_own_within_the_limits():
    np.testing.assert_array_equal(WITHIN_LIMITS != 0.0, np.eye(6, dtype=bool))
    assert BEGINNINGS.tolist() == [*(16.0 + 2.5 * np.arange(6)), *(31.0 + 3.5 * np.arange(5))]
    assert END == 45.0
