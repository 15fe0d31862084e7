# SPDX-License-Identifier: Apache-2.0
"""The fit over the window of altitudes, whatever is fed."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.flight.apogee.altitude_tracker import SampleWindow
from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeParams

S = 10**9
STEPS = (0.0, 0.002, 0.02, 0.1, 0.5, 1.7, 5.0)
SHARES = (0.05, 0.2, 0.45, 0.15, 0.1, 0.03, 0.02)


@pytest.mark.parametrize('seed', range(40))
def test_no_altitudes_raise_anything(seed):
    """Held, lost, wild, repeated, with gaps: a detector that raises ends a flight."""
    rng = np.random.default_rng(seed)
    detector = ApogeeDetector(ApogeeParams())
    stamp, altitude, speed = S, 0.0, 0.0
    for _ in range(600):
        step = rng.choice(STEPS, p=SHARES)
        stamp += round(step * S)
        speed += rng.normal(0.0, 30.0) * step
        altitude += speed * step
        kind = rng.integers(10)
        fed = altitude
        if kind == 0:
            fed = rng.normal(0.0, 1e4)
        elif kind == 1:
            fed = np.nan
        elif kind < 5:
            fed = round(altitude, -2)
        estimate = detector.update(
            stamp, float(fed), float(rng.choice([speed, np.nan, 0.0])), float('nan')
        )
        assert estimate is not None


def test_window_that_is_emptied_while_outliers_are_left_out_has_no_fit():
    tracker = ApogeeDetector(ApogeeParams())._tracker
    tracker._outliers_until = math.inf
    for i in range(3):
        assert tracker.add(S + i * S // 50, 10.0 + i) is None or i == 2


def test_samples_of_one_interval_are_averaged():
    window = SampleWindow(0.02, 100)
    for i, value in enumerate([1.0, 2.0, 4.0, 6.0, 8.0]):
        window.add(i * 10_000_000, value)
    np.testing.assert_allclose(window.time, [0.0, 0.015, 0.035])
    np.testing.assert_allclose(window.value, [1.0, 3.0, 7.0])


@given(st.lists(st.integers(-4_000_000, 4_000_000), min_size=50, max_size=50))
def test_jitter_of_a_feed_at_the_rate_merges_nothing(jitter):
    window = SampleWindow(0.02, 100)
    jitter[0] = 0
    stamps = [10**18 + 20_000_000 * i + j for i, j in enumerate(jitter)]
    for stamp in stamps:
        window.add(stamp, 0.0)
    np.testing.assert_allclose(window.time, [(s - stamps[0]) * 1e-9 for s in stamps])


def test_the_ring_keeps_the_newest_points():
    window = SampleWindow(0.01, 10)
    for i in range(1000):
        window.add(i * 10_000_000, float(i))
    np.testing.assert_array_equal(window.value, np.arange(990.0, 1000.0))
    np.testing.assert_allclose(window.time, np.arange(990, 1000) * 0.01)


def test_drop_before_and_clear():
    window = SampleWindow(0.01, 10)
    for i in range(5):
        window.add(10**9 + i * 10**8, float(i))
    window.drop_before(0.15)
    np.testing.assert_array_equal(window.value, [2.0, 3.0, 4.0])
    assert window.oldest == pytest.approx(0.2)
    assert window.stamp(window.seconds(123)) == 123
    window.clear()
    window.add(5, 1.0)
    assert len(window) == 1
    assert window.seconds(5) == 0.0


def test_steps_of_a_coarse_sensor_are_no_leaps_of_a_slow_one_however_small_its_noise():
    """They were beyond ten sigma of 0.1 m, and the apogee was found up to 1 s late."""
    detector = ApogeeDetector(ApogeeParams(noise=0.1))
    for i in range(400):
        t = i / 20 - 2.0
        coast = t - 2.0
        altitude = 25.0 * max(t, 0.0) ** 2
        if coast > 0.0:
            altitude = 100.0 + 100.0 * coast - 4.9 * coast * coast
        found = detector.update(S + i * S // 20, 4.5 * round(altitude / 4.5))
        if found.detected:
            break
    assert coast < 100.0 / 9.8 + 0.4
