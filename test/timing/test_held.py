from __future__ import annotations

import pytest

from propulsion_ros.timing.held import FrozenCheck

MS = 1_000_000


@pytest.mark.parametrize(
    ('values', 'frozen'),
    [
        pytest.param([(1.0, 2.0)] * 6, True, id='constant'),
        pytest.param([(float('nan'), 1.0) for _ in range(6)], True, id='NaN is no change'),
        pytest.param([(1.0, 2.0 + i) for i in range(6)], False, id='one value lives'),
        pytest.param([(1.0, 2.0)] * 5 + [(1.0, 3.0)], False, id='alive again'),
        pytest.param([(1.0, 2.0)] * 5, False, id='not for long enough'),
    ],
)
def test_a_feed_is_frozen_after_half_a_second_without_change(values, frozen):
    check = FrozenCheck(0.5)
    assert [check.update(i * 100 * MS, *value) for i, value in enumerate(values)][-1] is frozen
