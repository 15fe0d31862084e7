# SPDX-License-Identifier: Apache-2.0
"""Madgwick's filter against recordings of the flown one, and against what it is for."""
import math

import numpy as np
import pytest

from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.flight.legacy.estimator import LegacyFeed
from propulsion_ros.flight.legacy.estimator_fsm import Madgwick

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
    madgwick = Madgwick(case['beta'])
    for (kind, dt, *values), expected in zip(case['input'], case['output'], strict=True):
        rate = tuple(value * DEGREE for value in values[:3])
        field = tuple(values[6:9]) if kind == 'M' else (0.0, 0.0, 0.0)
        madgwick.update(dt, rate, tuple(values[3:6]), field)
        # Recorded in 32 bits.
        np.testing.assert_allclose(madgwick.attitude, expected[:4], atol=3e-7)


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


def test_frozen_correction_leaves_the_gyroscope():
    madgwick = Madgwick(0.0)
    for _ in range(1000):
        madgwick.update(0.001, (0.0, 0.0, 0.5), (1.0, 0.0, 0.0))
    # Half a radian a second for a second, about down; the flown norm is not 1.
    turned = np.array(madgwick.attitude) / np.linalg.norm(madgwick.attitude)
    assert turned == pytest.approx([math.cos(0.25), 0.0, 0.0, math.sin(0.25)], abs=1e-6)


@pytest.mark.parametrize(('stage', 'beta'), [
    (Stage.PAD, 0.5), (Stage.BOOST, 0.0), (Stage.COAST, 0.0), (Stage.DESCENT, 0.5),
    (Stage.LANDED, 0.5),
])
def test_schedule(stage, beta):
    feed = LegacyFeed(EstimatorParams(legacy_beta=0.5, legacy_beta_flight=0.0), Mounting(None))
    feed.set_stage(stage)
    assert feed._estimator.orientation.beta == beta
