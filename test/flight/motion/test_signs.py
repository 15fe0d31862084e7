# SPDX-License-Identifier: Apache-2.0
"""Signs of motion, each alone."""
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.motion.signs import MotionSigns

NAN = math.nan
S = 1_000_000_000


def shown(seconds, altitude=None, velocity=None, acceleration=None, *, may=(True, True)):
    """Return the signs after so long at 50 Hz, each input a function of time or none."""
    signs = MotionSigns(0.5, 2.0)
    for i in range(round(50 * seconds) + 1):
        values = (NAN if f is None else f(0.02 * i) for f in (altitude, velocity, acceleration))
        result = signs.update(i * S // 50, *values, *may)
    return {name for name, is_shown in result._asdict().items() if is_shown}


@pytest.mark.parametrize(('inputs', 'expected'), [
    pytest.param({}, set(), id='nothing is known'),
    pytest.param({'altitude': lambda t: 1e-3 * math.sin(40 * t)}, set(), id='rest'),
    pytest.param({'velocity': lambda t: 30.0 + t}, {'climbs'}, id='climbs by velocity'),
    pytest.param({'velocity': lambda t: -30.0 - t}, {'drops'}, id='drops by velocity'),
    pytest.param({'velocity': lambda t: -30.0}, set(), id='velocity is stuck'),
    pytest.param({'velocity': lambda t: 1.9 + 0.01 * t}, set(), id='below the limit'),
    pytest.param(
        {'velocity': lambda t: 30.0 + t, 'may': (False, True)}, set(), id='velocity upward refuted'
    ),
    pytest.param(
        {'velocity': lambda t: -30.0 - t, 'may': (True, False)}, set(),
        id='velocity downward refuted',
    ),
    pytest.param({'altitude': lambda t: 300.0 + 5.0 * t}, {'rises'}, id='rises'),
    pytest.param({'altitude': lambda t: 300.0 - 5.0 * t}, {'sinks'}, id='sinks'),
    pytest.param(
        {'altitude': lambda t: 300.0 + 60.0 * min(t, 1.4) - 10.0 * max(t - 1.4, 0.0)},
        {'rises', 'sinks'}, id='a long line rises while a short one sinks',
    ),
    pytest.param(
        {'acceleration': lambda t: -9.0 - 0.01 * t}, {'is_weightless'}, id='free fall'
    ),
    pytest.param({'acceleration': lambda t: -6.0 - 0.01 * t}, set(), id='under a parachute'),
])
def test_signs(inputs, expected):
    assert shown(2.0, **inputs) == expected


def test_signs_must_last():
    assert shown(0.4, velocity=lambda t: 30.0 + t, acceleration=lambda t: -9.0 - t) == set()


def test_slope_is_of_the_shortest_window():
    signs = MotionSigns(0.5, 2.0)
    for i in range(100):
        signs.update(i * S // 50, 0.0 if i < 60 else 0.2 * i, NAN, NAN, True, True)
    assert signs.slope == pytest.approx(10.0)
