# SPDX-License-Identifier: Apache-2.0
"""The free-flyer's sequence: what it adds up to, and when."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.demos.freeflyer import (
    BEYOND_LIMITS,
    WITHIN_LIMITS,
    Pulse,
    WrenchSequence,
)

SEQUENCE = WrenchSequence()
DT = 0.016


def test_impulses_add_up_to_nothing():
    times = DT * np.arange(round(SEQUENCE.end / DT) + 1)
    wrenches = np.array([SEQUENCE.wrench(time) for time in times])
    assert np.abs(wrenches).max() > 0.5
    # A pulse is a whole number of steps, give or take one.
    assert np.abs(DT * wrenches.sum(axis=0)).max() <= 2 * DT * 0.6 * len(SEQUENCE.pulses)
    assert not wrenches[times < SEQUENCE.start - DT].any()


@pytest.mark.parametrize(('time', 'expected'), [
    pytest.param(0.9, 0.0, id='before'),
    pytest.param(1.0, 2.0, id='begins'),
    pytest.param(1.49, 2.0, id='lasts'),
    pytest.param(1.5, -2.0, id='turns'),
    pytest.param(2.0, 0.0, id='pause'),
    pytest.param(2.25, 3.0, id='the next'),
    pytest.param(10.0, 0.0, id='after'),
])
def test_pulses_follow_each_other(time, expected):
    pulses = (Pulse((2.0, 0, 0, 0, 0, 0), 0.5), Pulse((3.0, 0, 0, 0, 0, 0), 0.5))
    sequence = WrenchSequence(start=1.0, pause=0.25, pulses=pulses)
    assert sequence.wrench(time)[0] == expected
    assert sequence.beginnings == (1.0, 2.25, 3.5)
    assert sequence.end == 3.5


def test_each_axis_has_a_pulse_of_its_own_within_the_limits():
    wrenches = np.array([pulse.wrench for pulse in WITHIN_LIMITS])
    np.testing.assert_array_equal(wrenches != 0.0, np.eye(6, dtype=bool))
    assert SEQUENCE.pulses == WITHIN_LIMITS + BEYOND_LIMITS
