# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest

from propulsion_ros.flight.motion.signs import Fall

S = 1_000_000_000
DT = 0.02


def found_at(altitude, *, rests=False, noise=0.0, seed=0, seconds=15.0, **options):
    """Return when an altitude that sinks throughout is a fall [s], None where it never is."""
    fall, rng = Fall(**options), np.random.default_rng(seed)
    for i in range(round(seconds / DT)):
        z = altitude(i * DT) + rng.normal(0.0, noise) + 1e-6 * i
        fall.sense(round(i * DT * S), z, rests=rests)
        if fall.update(round(i * DT * S), z, True) is not None:
            return i * DT
    return None


def free(t):
    """Fall from an apogee, until drag holds 60 m/s."""
    return 2000.0 - 60.0**2 / 9.81 * math.log(math.cosh(9.81 * t / 60.0))


@pytest.mark.parametrize('noise', [0.0, 0.3, 1.0])
def test_what_speeds_up_falls(noise):
    assert found_at(free, noise=noise) == pytest.approx(2.5, abs=0.5)


@pytest.mark.parametrize('noise', [0.0, 1.0])
@pytest.mark.parametrize('speed', [8.0, 25.0, 150.0])
def test_what_sinks_steadily_falls_after_three_seconds(speed, noise):
    time = found_at(lambda t: 3000.0 - speed * t, noise=noise)
    assert time == pytest.approx(3.0, abs=0.1 if not noise else 1.0)


def test_what_speeds_up_while_the_accelerometer_rests_must_last_as_long():
    assert found_at(free, rests=True) == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize('noise', [0.0, 0.3, 1.0])
@pytest.mark.parametrize('tau', [0.3, 1.0, 2.0])
@pytest.mark.parametrize('offset', [60.0, 300.0, 2000.0])
def test_sensor_that_settles_is_no_fall_before_it_has_settled(offset, tau, noise):
    for seed in range(5):
        time = found_at(
            lambda t: offset * math.exp(-t / tau), noise=noise, seed=seed
        )
        assert time is None or offset * math.exp(-time / tau) / tau < 10.0, 'no speed is left'


def test_what_slows_down_for_ten_seconds_falls():
    """From a great height drag grows as fast as the air does."""
    assert found_at(lambda t: 9000.0 - 400.0 * t + 15.0 * t * t) == pytest.approx(10.0, abs=0.1)


def test_any_fall_counts_after_the_longest_time():
    time = found_at(lambda t: 500.0 * math.exp(-t), longest=0.5)
    assert time == pytest.approx(0.5, abs=0.1)


def test_what_does_not_sink_is_no_fall():
    fall = Fall()
    for i in range(1000):
        fall.sense(round(i * DT * S), free(i * DT), rests=False)
        assert fall.update(round(i * DT * S), free(i * DT), False) is None
