# SPDX-License-Identifier: Apache-2.0
"""The flight logic on logs whose samples come seconds apart."""
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.replay.flight_log import fly_live

IGNITION, APOGEE = 10.0, 28.0


def altitude(t):
    """Return the altitude [m] of a boost of 3 s, a coast, and a fall of 20 m/s at most."""
    t -= IGNITION
    if t < 3.0:
        return 25.0 * max(t, 0.0) ** 2
    t -= 3.0
    coast = 225.0 + 150.0 * t - 5.0 * t * t
    return coast if t < 17.0 else max(1330.0 - 20.0 * (t - 17.0), 0.0)


@pytest.mark.parametrize(('period', 'lifted_off', 'found'), [
    pytest.param(1.0, 17.0, 30.0, id='1 s'),
    pytest.param(1.5, 18.5, 30.0, id='1.5 s'),
    pytest.param(2.0, 22.0, 36.0, id='2 s'),
    pytest.param(3.0, 32.0, 38.0, id='3 s'),
])
def test_flight_of_which_few_samples_arrive(period, lifted_off, found):
    """Without a slope nothing was found at all, or a flight 10 s after its apogee."""
    times = [period * k for k in range(int(60.0 / period))]
    samples = [
        (round(t * 1e9), Sample(
            round(t * 1e9), altitude(t) + 0.3 * (7 * k % 5 - 2), math.nan, math.nan
        )) for k, t in enumerate(times)
    ]
    phases, apogees = {}, {}
    for arrival_ns, report in fly_live(samples, ApogeeParams()):
        phases.setdefault(report.phase.value, arrival_ns * 1e-9)
        if report.apogee is not None:
            apogees.setdefault(arrival_ns * 1e-9, report.estimate.apogee_altitude)
    assert IGNITION < phases['flight'] < lifted_off
    assert APOGEE < phases['recovery'] < found
    assert 1200.0 < next(iter(apogees.values())) < 1400.0
