# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.landing import LandingDetector
from propulsion_ros.flight.phases.params import FlightParams

NAN = math.nan


def wiggle(i):
    """Return noise of the last digit."""
    return 1e-3 * (-1) ** i


def landing(samples, step_ns=100_000_000):
    detector = LandingDetector(FlightParams())
    for i, (altitude, velocity) in enumerate(samples):
        detector.update(i * step_ns, altitude, velocity)
        if detector.has_landed:
            return i
    return None


@pytest.mark.parametrize(
    ('samples', 'index'),
    [
        pytest.param([(30.0 + wiggle(i), wiggle(i)) for i in range(100)], 50, id='on a hill'),
        pytest.param([(2.4 * (-1) ** i, NAN) for i in range(100)], 50, id='noise, speed unknown'),
        pytest.param([(500.0 - 0.5 * i, -5.0) for i in range(900)], None, id='under the main'),
        pytest.param([(500.0 - 0.5 * i, NAN) for i in range(900)], None, id='speed unknown'),
        pytest.param([(500.0, -5.0)] * 900, None, id='altitude stuck'),
        pytest.param([(NAN, 0.0)] * 900, None, id='altitude unknown'),
        pytest.param([(NAN, NAN)] * 900, None, id='all unknown'),
    ],
)
def test_landing(samples, index):
    assert landing(samples) == index


def test_vehicle_that_certainly_falls_has_not_landed():
    detector = LandingDetector(FlightParams())
    detector.reset(has_landed=True)
    for i in range(400):
        spike = 80.0 if i == 150 else 0.0
        height = 500.0 - 0.1 * max(i - 300, 0) + wiggle(i) + spike
        detector.update(i * 20_000_000, height, NAN)
        assert detector.has_landed or i > 300
    assert not detector.has_landed, 'it falls at 5 m/s'
