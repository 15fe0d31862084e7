# SPDX-License-Identifier: Apache-2.0
"""The apogee of random flights that another simulator flew."""
from __future__ import annotations

import pytest
from rocketpy_flights import PREMATURE_SPEED, rocketpy_flight

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.study.apogee_cases import judge

FLIGHTS, EACH = 200, 10
pytestmark = [
    pytest.mark.part('flights'), pytest.mark.slow, pytest.mark.usefixtures('rocketpy'),
]


@pytest.mark.parametrize('first', range(0, FLIGHTS, EACH))
def test_no_apogee_is_premature_or_missed(first):
    flights = {
        seed: judge(rocketpy_flight(seed), ApogeeParams()) for seed in range(first, first + EACH)
    }
    failed = {
        seed: found for seed, found in flights.items() if not found['speed'] < PREMATURE_SPEED
    }
    assert not failed
