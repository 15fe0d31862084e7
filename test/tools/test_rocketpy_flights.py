# SPDX-License-Identifier: Apache-2.0
"""The apogee of random flights that another simulator flew."""
from __future__ import annotations

import importlib.util
import warnings

import pytest
from rocketpy_flights import rocketpy_flight

from propulsion_ros.study.apogee.cases import PREMATURE, detection_delay

FLIGHTS, EACH = 200, 10
pytestmark = [pytest.mark.part('flights'), pytest.mark.slow]


@pytest.fixture(scope='module', autouse=True)
def rocketpy():
    if importlib.util.find_spec('rocketpy') is None:
        missing = 'RocketPy is absent, its flights are skipped: pip install -r env/rocketpy.txt'
        warnings.warn(missing, stacklevel=1)
        pytest.skip(missing)


@pytest.mark.parametrize('first', range(0, FLIGHTS, EACH))
def test_no_apogee_is_premature_or_missed(first):
    delays = {
        seed: detection_delay(rocketpy_flight(seed)) for seed in range(first, first + EACH)
    }
    failed = {seed: d for seed, d in delays.items() if d is None or d < PREMATURE}
    assert not failed
