# SPDX-License-Identifier: Apache-2.0
"""The second request counts within its time, on every clock there is."""
from __future__ import annotations

import pytest

from propulsion_ros.flight.readiness import AskedTwice

S = 1_000_000_000


@pytest.mark.parametrize(('clock', 'steady', 'counts'), [
    (5.0, 5.0, True), (5.1, 5.0, False), (5.0, 5.1, False), (4.0, None, True), (5.1, None, False),
])
def test_the_second_one_counts_within_the_time_on_both_clocks(clock, steady, counts):
    asked = AskedTwice(5.0)
    asked.note('reset', 100 * S, 7 * S)
    steady_ns = None if steady is None else round((7.0 + steady) * S)
    assert asked.was('reset', round((100.0 + clock) * S), steady_ns) is counts


def test_another_one_and_a_forgotten_one_do_not_count():
    asked = AskedTwice(5.0)
    asked.note('reset', 0, None)
    assert not asked.was('abort', 0, None)
    asked.forget()
    assert not asked.was('reset', 0, None)
