# SPDX-License-Identifier: Apache-2.0
"""A climb is certain where a live altitude rises by more than its noise."""
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.events.signs import Climb


@pytest.mark.parametrize(('altitude', 'is_climb'), [
    pytest.param(lambda t: 20.0 * t, True, id='rises'),
    pytest.param(lambda t: 500.0 - 20.0 * t, False, id='falls'),
    pytest.param(lambda t: 1.0 * t, False, id='rises slowly'),
    pytest.param(lambda t: 20.0 * min(t, 2.0), False, id='stands still'),
    pytest.param(lambda t: math.nan, False, id='unknown'),
])
def test_a_climb_is_a_rise_above_the_limit(altitude, is_climb):
    climb = Climb(3.0, 0.5)
    for i in range(250):
        climb.update(i * 20_000_000, altitude(0.02 * i))
    assert climb.is_certain is is_climb
    climb.reset()
    climb.update(5_000_000_000, altitude(5.0))
    assert not climb.is_certain
