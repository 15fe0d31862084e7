# SPDX-License-Identifier: Apache-2.0
"""One pressure at a time against the atmosphere's own tables."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.flight.estimation.barometer import (
    altitude_and_temperature,
    dynamic_pressure,
    mach_squared,
    metres_per_pascal,
)
from propulsion_ros.models.common.atmosphere import (
    density,
    speed_of_sound,
    temperature_and_pressure,
)

ALTITUDES = st.floats(-1500.0, 70e3)


@given(ALTITUDES)
def test_altitude_and_temperature_of_a_pressure(altitude):
    temperature, pressure = temperature_and_pressure(altitude)
    back, warm = altitude_and_temperature(float(pressure))
    assert back == pytest.approx(altitude, rel=1e-9, abs=1e-6)
    assert warm == pytest.approx(float(temperature), rel=1e-9)


@given(st.floats(0.0, 30e3))
def test_slope_is_the_difference_quotient(altitude):
    temperature, pressure = (float(value) for value in temperature_and_pressure(altitude))
    step = 1e-5 * pressure
    slope = (
        altitude_and_temperature(pressure - step)[0] - altitude_and_temperature(pressure + step)[0]
    ) / (2.0 * step)
    # The geopotential is not quite the height: 1 % at 30 km.
    assert metres_per_pascal(pressure, temperature) == pytest.approx(slope, rel=0.011)


@given(st.floats(0.0, 30e3), st.floats(1.0, 900.0))
def test_dynamic_pressure_is_half_rho_v_squared(altitude, speed):
    temperature, pressure = (float(value) for value in temperature_and_pressure(altitude))
    mach2 = mach_squared(speed**2, temperature)
    assert np.sqrt(mach2) == pytest.approx(speed / float(speed_of_sound(altitude)), rel=1e-9)
    expected = 0.5 * float(density(altitude)) * speed**2
    assert dynamic_pressure(pressure, mach2) == pytest.approx(expected, rel=1e-9)
