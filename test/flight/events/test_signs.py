# SPDX-License-Identifier: Apache-2.0
"""Liveness, slopes and climbs, each alone."""
import math

import numpy as np
import pytest

from propulsion_ros.flight.events.signs import Climb, LiveValue, Slope

NAN = math.nan
S = 1_000_000_000


def wiggle(i):
    return 1e-3 * (-1) ** i


@pytest.mark.parametrize(('values', 'dt', 'alive'), [
    pytest.param([1.0] * 100, 0.02, False, id='stuck from the start'),
    pytest.param([wiggle(i) for i in range(100)], 0.02, True, id='alive'),
    pytest.param([wiggle(i) for i in range(50)] + [0.0] * 20, 0.02, True, id='held for 0.4 s'),
    pytest.param([wiggle(i) for i in range(50)] + [0.0] * 40, 0.02, False, id='held for 0.8 s'),
    pytest.param([wiggle(i) for i in range(50)] + [NAN] * 40, 0.02, False, id='silent for 0.8 s'),
    pytest.param([NAN] * 100, 0.02, False, id='never known'),
    pytest.param([wiggle(i) for i in range(9)], 1.0, True, id='once a second'),
    pytest.param([wiggle(i) for i in range(9)] + [0.0] * 4, 1.0, False, id='slow, and stuck'),
])
def test_liveness(values, dt, alive):
    value = LiveValue(0.5)
    for i, x in enumerate(values):
        value.update(round(i * dt * S), x)
    assert value.is_alive(round((len(values) - 1) * dt * S)) == alive


@pytest.mark.parametrize(('values', 'exceeds'), [
    pytest.param(3.0 * np.arange(60) * 0.02, True, id='3 m/s'),
    pytest.param(-3.0 * np.arange(60) * 0.02, True, id='3 m/s down'),
    pytest.param(1.9 * np.arange(60) * 0.02, False, id='1.9 m/s'),
    pytest.param(50.0 * (np.arange(60) > 45), False, id='step'),
    pytest.param(500.0 * (np.arange(60) == 50), False, id='spike'),
    pytest.param([800.0, 300.0, 100.0, 20.0] + [0.0] * 26, False, id='wild at the start'),
])
def test_slope(values, exceeds):
    slope = Slope(0.5)
    for i, value in enumerate(values):
        slope.update(round(i * 0.02 * S), float(value) + wiggle(i))
    assert slope.exceeds(2.0) == exceeds


def test_slope_of_a_slow_sensor_takes_longer():
    slope = Slope(2.0)
    for i in range(9):
        slope.update(i * S, 5.0 * i)
        assert slope.exceeds(2.0) == (i >= 7)


# A climb is certain where a live altitude rises by more than its noise.


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
