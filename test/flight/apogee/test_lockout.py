# SPDX-License-Identifier: Apache-2.0
"""The lockout outlasts the speed by its hold time."""
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector

GRAVITY, LAUNCH_SPEED, RATE = 9.80665, 100.0, 50
APOGEE = LAUNCH_SPEED / GRAVITY
SLOW = (LAUNCH_SPEED - 30.0) / GRAVITY
"""When the vehicle becomes slower than the limit [s]."""


def detected(hold):
    """Return when the apogee of a throw is detected [s], by its altitude alone."""
    detector = make_detector(ApogeeParams(lockout_hold=hold))
    for i in range(RATE * 20):
        t = i / RATE
        altitude = LAUNCH_SPEED * t - 0.5 * GRAVITY * t * t + 0.05 * math.sin(40.0 * i)
        if detector.update(round(t * 1e9), altitude, math.nan, math.nan).detected:
            return t
    return math.inf


@pytest.mark.parametrize('hold', [0.0, 5.0])
def test_lock_outlasts_the_speed(hold):
    assert detected(hold) == pytest.approx(max(SLOW + hold, APOGEE), abs=0.5)
