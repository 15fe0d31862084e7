# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

from propulsion_ros.loops.flight.inputs import LONGEST_AGE_NS, AirTemperature


def test_temperature_is_known_while_it_is_recent():
    air = AirTemperature()
    assert math.isnan(air.known(0))
    air.take(10**9, 15.0)
    assert air.known(10**9 + LONGEST_AGE_NS - 1) == pytest.approx(288.15)
    assert math.isnan(air.known(10**9 + LONGEST_AGE_NS))
    air.reset()
    assert math.isnan(air.known(10**9))
