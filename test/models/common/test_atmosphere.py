# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.common.atmosphere import (
    EARTH_RADIUS,
    altitude_of_pressure,
    density,
    temperature_and_pressure,
)

# Geopotential height [m], temperature [K], pressure [Pa] and half a unit of its last printed
# digit: ISO 2533 and US Standard Atmosphere 1976.
PUBLISHED = [
    (0.0, 288.15, 101_325.0, 0.5),
    (11_000.0, 216.65, 22_632.0, 0.5),
    (20_000.0, 216.65, 5_474.9, 0.05),
    (32_000.0, 228.65, 868.02, 0.005),
    (47_000.0, 270.65, 110.91, 0.005),
    (51_000.0, 270.65, 66.94, 0.005),
    (71_000.0, 214.65, 3.96, 0.005),
    (84_852.0, 186.946, 0.3734, 0.00005),
]


def geometric(geopotential):
    return EARTH_RADIUS * geopotential / (EARTH_RADIUS - geopotential)


@pytest.mark.parametrize(('height', 'temperature', 'pressure', 'rounding'), PUBLISHED)
def test_published_table(height, temperature, pressure, rounding):
    ours = temperature_and_pressure(geometric(height))
    assert ours[0] == pytest.approx(temperature, rel=1e-6)
    assert ours[1] == pytest.approx(pressure, rel=0, abs=rounding)


def test_the_table_is_of_geopotential_heights():
    assert geometric(84_852.0) == pytest.approx(86_000.0, abs=0.5)
    # ISO 2533 gives these for 10 km of geometric altitude.
    temperature, pressure = temperature_and_pressure(10_000.0)
    assert temperature == pytest.approx(223.252, abs=1e-3)
    assert pressure == pytest.approx(26_499.9, abs=1.0)


@given(st.floats(-500.0, 80_000.0))
def test_altitude_of_pressure_is_the_inverse(altitude):
    _, pressure = temperature_and_pressure(altitude)
    assert altitude_of_pressure(pressure) == pytest.approx(altitude, abs=1e-6)


@given(st.floats(1e-6, 2e5), st.floats(1e-4, 0.5))
def test_lower_pressure_is_higher_up(pressure, drop):
    assert altitude_of_pressure(pressure * (1.0 - drop)) > altitude_of_pressure(pressure)


@pytest.mark.parametrize('pressure', [0.0, -1.0, np.nan, np.inf, -np.inf])
def test_a_pressure_that_no_air_has_is_nan(pressure):
    assert np.isnan(altitude_of_pressure(pressure))


@pytest.mark.parametrize('altitude', [86_000.0, 100e3, 200e3, 1e6, 4e7])
def test_far_above_the_table_the_air_thins_out_and_stays_finite(altitude):
    temperature, pressure = temperature_and_pressure(altitude)
    below = temperature_and_pressure(altitude - 1_000.0)[1]
    assert temperature == pytest.approx(186.946, rel=1e-4)
    assert 0.0 <= pressure <= below
    assert 0.0 <= density(altitude) < 1e-5


def test_arrays_are_answered_element_by_element():
    altitudes = np.array([[-400.0, 0.0, 11_100.0], [25e3, 60e3, 90e3]])
    temperature, pressure = temperature_and_pressure(altitudes)
    for at in np.ndindex(altitudes.shape):
        alone = temperature_and_pressure(altitudes[at])
        assert (temperature[at], pressure[at]) == pytest.approx(alone, rel=1e-14)
        assert altitude_of_pressure(pressure)[at] == pytest.approx(altitudes[at], abs=1e-6)


@pytest.mark.parametrize('warmer', [0.0, 12.5, -40.0])
def test_one_altitude_gives_the_same_bits_as_an_array_of_none(warmer):
    rng = np.random.default_rng(3)
    for altitude in [*rng.uniform(-2e3, 95e3, 300).tolist(), 0.0, 11e3, -6.3e6, float('nan')]:
        one = temperature_and_pressure(altitude, warmer)
        np.testing.assert_array_equal(one, temperature_and_pressure(np.asarray(altitude), warmer))
