# SPDX-License-Identifier: Apache-2.0
"""The flights of seeds stay those by which the apogee's tables were made."""
from __future__ import annotations

import pytest

from propulsion_ros.study.apogee_flights import simulate_flight


@pytest.mark.parametrize(('seed', 'time', 'height'), [
    (0, 14.17, 525.52), (1, 13.26, 824.70), (3, 23.32, 2078.75), (5, 31.40, 4655.23),
])
def test_a_seed_has_its_flight(seed, time, height):
    """Which turns over with its velocity: a fixed attitude of flight 0 rises 144 m higher."""
    flight = simulate_flight(seed)
    assert flight.apogee_time == pytest.approx(time, abs=0.02)
    assert flight.apogee_altitude == pytest.approx(height, abs=0.02)
