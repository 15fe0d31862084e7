# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.motion.sparse_rise import SparseRise

S = 1_000_000_000


def begun(readings, holds=True, pace=10.0):
    """Return when a rise began of (time [s], altitude [m])."""
    rise, found = SparseRise(), None
    for t, altitude in readings:
        start_ns = rise.update(round(t * S), altitude, holds, pace)
        found = found if start_ns is None else start_ns / S
    return found


@pytest.mark.parametrize(('readings', 'expected'), [
    pytest.param([(0, 0), (3, 90), (6, 200), (9, 320)], 0.0, id='four rise'),
    pytest.param([(0, 0), (3, 90), (6, 200)], None, id='three are too few'),
    pytest.param([(0, 0), (3, 90), (6, 50), (9, 320), (12, 600)], None, id='one sinks'),
    pytest.param([(0, 0), (3, 20), (6, 200), (9, 320), (12, 400)], 3.0, id='one is slow'),
    pytest.param([(0.1 * i, 20.0 * i) for i in range(90)], None, id='a fast sensor has a slope'),
    pytest.param([(0, 0), (30, 900), (60, 2000), (90, 3200)], None, id='too long ago'),
    pytest.param(
        [(0, 0), (3, 90), (3.1, math.nan), (4, 90), (6, 200), (9, 320)], 0.0,
        id='unknown and repeated readings are none',
    ),
])
def test_rise(readings, expected):
    assert begun(readings) == expected
    assert begun(readings, holds=False) is None
