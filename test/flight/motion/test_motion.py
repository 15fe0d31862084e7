# SPDX-License-Identifier: Apache-2.0
"""Liveness, extremes, pushes, slopes and rest, each alone."""
from __future__ import annotations

import math

import numpy as np
import pytest

from propulsion_ros.flight.motion.extremes import Extremes
from propulsion_ros.flight.motion.lasting import Lasting
from propulsion_ros.flight.motion.live_value import LiveValue
from propulsion_ros.flight.motion.push import Push
from propulsion_ros.flight.motion.slope import Slope

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


def test_extremes_are_of_recent_values_that_two_in_a_row_agree_on():
    extremes = Extremes(5.0)
    assert (extremes.lowest, extremes.highest) == (math.inf, -math.inf)
    for i, x in enumerate([5.0, 6.0, 1e6, 7.0, 8.0, NAN, -1e6, 7.5, 7.6]):
        extremes.update(i * S // 10, x)
    assert (extremes.lowest, extremes.highest) == (6.0, 7.5)
    for i in range(200):
        extremes.update(S + i * S // 10, 100.0 + i)
    assert extremes.lowest >= 100.0 + 200 - 101


def test_slow_drift_is_no_rise():
    extremes = Extremes(5.0)
    for i in range(36_000):
        extremes.update(i * S // 10, 8.0 * i / 36_000)
    assert 8.0 - extremes.lowest < 0.03


@pytest.mark.parametrize(('pace', 'slope', 'found'), [
    (0.0, -1.0, True), (0.0, 1.0, True), (5.0, 6.0, True), (5.0, 4.0, False), (-5.0, -6.0, True),
    (-5.0, 6.0, False),
])
def test_what_lasts_may_have_to_go_on(pace, slope, found):
    lasting = Lasting(0.5)
    starts = [
        lasting.update(i * S // 50, slope * i / 50, True, pace) for i in range(1, 100)
    ]
    assert any(start == S // 50 for start in starts) == found


def pushed(accelerations, dt=0.01):
    push = Push(4.9, 0.1)
    for i, a in enumerate(accelerations):
        push.update(round(i * dt * S), a + 1e-6 * i)
    return push


def test_push_adds_up_what_it_gains_since_it_began():
    rest, burn = [wiggle(i) for i in range(100)], [30.0 + wiggle(i) for i in range(50)]
    push = pushed(rest + burn)
    assert push.start_ns == S
    assert push.speed == pytest.approx(15.0, abs=0.2)
    assert push.height == pytest.approx(3.75, abs=0.2)


@pytest.mark.parametrize('accelerations', [
    pytest.param([30.0] * 9 + [wiggle(i) for i in range(30)], id='too short'),
    pytest.param([10.0] * 20 + [-10.0] * 21, id='caught again'),
    pytest.param([10.0] * 20 + [wiggle(i) for i in range(120)], id='at rest again'),
    pytest.param([-9.8] * 45 + [200.0] * 2 + [wiggle(i) for i in range(10)], id='dropped'),
    pytest.param([4.8] * 300, id='below the limit'),
])
def test_what_ends_at_rest_is_no_push(accelerations):
    push = pushed([0.0] * 100 + accelerations)
    assert push.start_ns is None
    assert (push.speed, push.height) == (0.0, 0.0)


def test_speed_of_an_offset_before_a_push_does_not_count():
    push = pushed([3.0 + wiggle(i) for i in range(1000)] + [10.0] * 20)
    assert push.speed == pytest.approx(2.0, abs=0.2)


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
