# SPDX-License-Identifier: Apache-2.0
"""Madgwick's filter against recordings of the flown one, and against what it is for."""
from __future__ import annotations

import math

import numpy as np
import pytest

from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.flight.legacy.estimator_fsm import Madgwick, beta_of

DEGREE = 0.0174533
CASES = (
    'static_level_imu', 'random_marg_b0.5', 'random_marg_b0.1', 'random_imu_b0.5',
    'zero_mag_fallback', 'zero_accel_gyro_only',
)


def test_every_recorded_case_is_tried(golden):
    assert {case['name'] for case in golden('madgwick')['cases']} == set(CASES)


@pytest.mark.parametrize('name', CASES)
def test_flown_filter_is_reproduced(golden, name):
    (case,) = (case for case in golden('madgwick')['cases'] if case['name'] == name)
    madgwick = Madgwick(case['beta'], flown=True)
    for (kind, dt, *values), expected in zip(case['input'], case['output'], strict=True):
        rate = tuple(value * DEGREE for value in values[:3])
        field = tuple(values[6:9]) if kind == 'M' else (0.0, 0.0, 0.0)
        madgwick.update(dt, rate, tuple(values[3:6]), field)
        # Recorded in 32 bits.
        np.testing.assert_allclose(madgwick.attitude, expected[:4], atol=3e-7)


def _body(attitude, vector):
    """Return a vector of the world in the body."""
    w, x, y, z = attitude
    axis = np.array([x, y, z])
    cross = 2.0 * np.cross(-axis, vector)
    return np.asarray(vector) + w * cross + np.cross(-axis, cross)


ATTITUDE = np.array([0.8, 0.2, -0.3, 0.4]) / np.linalg.norm([0.8, 0.2, -0.3, 0.4])
FIELD = np.array([0.4, 0.0, 0.9])  # north and down


@pytest.mark.parametrize('flown', [False, True])
def test_converges_to_the_attitude_that_force_and_field_tell(flown):
    madgwick = Madgwick(0.5, flown=flown)
    force, field = _body(ATTITUDE, [0.0, 0.0, -1.0]), _body(ATTITUDE, FIELD)
    for _ in range(6000):
        madgwick.update(0.01, (0.0, 0.0, 0.0), tuple(force), tuple(field))
    # The flown reference field of half the length bends the minimum.
    near = 0.9 if flown else 0.9999
    assert abs(np.dot(madgwick.attitude, ATTITUDE)) > near


def test_alignment_is_exact_at_once():
    madgwick = Madgwick(0.5)
    assert madgwick.align(
        tuple(9.81 * _body(ATTITUDE, [0.0, 0.0, -1.0])), tuple(_body(ATTITUDE, FIELD))
    )
    assert abs(np.dot(madgwick.attitude, ATTITUDE)) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize('force', [(0.0, 0.0, 0.0), (math.nan, 0.0, -1.0)])
def test_what_is_no_force_aligns_nothing(force):
    madgwick = Madgwick(0.5)
    assert not madgwick.align(force)
    assert madgwick.attitude == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize('place', range(10))
@pytest.mark.parametrize('value', [math.nan, math.inf])
def test_nan_is_not_taken(place, value):
    madgwick = Madgwick(0.5)
    good = [0.01, 0.1, 0.2, 0.3, 0.0, 0.1, -1.0, 0.4, 0.0, 0.9]
    bad = [value if i == place else number for i, number in enumerate(good)]
    for numbers in (good, bad):
        before = madgwick.attitude
        madgwick.update(numbers[0], *(tuple(numbers[i:i + 3]) for i in (1, 4, 7)))
    assert madgwick.attitude == before
    assert madgwick.refused_count == 1


def test_frozen_correction_leaves_the_gyroscope():
    madgwick = Madgwick(0.0)
    for _ in range(1000):
        madgwick.update(0.001, (0.0, 0.0, 0.5), (1.0, 0.0, 0.0))
    # Half a radian a second for a second, about down.
    assert madgwick.attitude == pytest.approx((math.cos(0.25), 0.0, 0.0, math.sin(0.25)), abs=1e-6)


@pytest.mark.parametrize(('stage', 'beta'), [
    (Stage.PAD, 0.5), (Stage.BOOST, 0.0), (Stage.COAST, 0.0), (Stage.DESCENT, 0.5),
    (Stage.LANDED, 0.5),
])
def test_schedule(stage, beta):
    assert beta_of(stage, 0.5, 0.0) == beta
