# SPDX-License-Identifier: Apache-2.0
"""The fit over the window of altitudes, whatever is fed."""
from __future__ import annotations

import math

import numpy as np
import pytest

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
