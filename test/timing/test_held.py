# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from propulsion_ros.timing.dwell import Held

MS = 1_000_000


def feed(values, limit_ms=500, period_ms=100):
    """Return a value that was given these, and the stamp of the last one [ns]."""
    held = Held(limit_ms * MS)
    for i, value in enumerate(values):
        held.repeats(i * period_ms * MS, value)
    return held, (len(values) - 1) * period_ms * MS


@pytest.mark.parametrize(
    ('values', 'is_held'),
    [
        pytest.param([1.0] * 7, True, id='constant'),
        pytest.param([1.0] * 6, False, id='for as long as it may'),
        pytest.param([1.0] * 6 + [2.0], False, id='alive again'),
        pytest.param([float(i) for i in range(7)], False, id='changing'),
        pytest.param([(1.0, 2.0)] * 7, True, id='of several numbers'),
        pytest.param([(1.0, float(i)) for i in range(7)], False, id='of which one changes'),
        pytest.param([float('nan') for _ in range(7)], False, id='NaN is not the same as NaN'),
        pytest.param([repr(float('nan'))] * 7, True, id='but what stands for it is'),
    ],
)
def test_a_value_is_held_or_alive(values, is_held):
    held, now_ns = feed(values)
    assert held.is_held(now_ns) is is_held
    assert held.is_alive(now_ns) is not is_held


def test_without_a_value_nothing_is_held_nor_alive():
    held = Held(0)
    assert (held.is_held(5), held.is_alive(5)) == (False, False)
    held.repeats(5, 1.0)
    held.reset()
    assert (held.is_held(5), held.is_alive(5), held.value) == (False, False, None)


def test_repeats_says_so_and_keeps_what_was_known_at_the_change():
    held = Held()
    assert [held.repeats(i, v, i) for i, v in enumerate((1.0, 1.0, 2.0, 2.0, 1.0))] == [
        False, True, False, True, False,
    ]
    held.repeats(9, 1.0, 'ignored')
    assert (held.value, held.since_ns, held.then) == (1.0, 4, 4)


def test_a_first_value_of_none_is_new():
    assert not Held().repeats(0, None)
