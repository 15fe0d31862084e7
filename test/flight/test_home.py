# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from propulsion_ros.flight.home import Home


def stand(home, altitude=120.0, position=(500.0, 20.0), is_on_pad=True):
    return home.locate(altitude, position, is_on_pad=is_on_pad)


def test_altitude_is_above_the_measured_pad():
    home = Home()
    stand(home)
    assert stand(home, 170.0, is_on_pad=False) == (50.0, (500.0, 20.0))


def test_home_is_where_the_vehicle_stands():
    home = Home(0.0)
    stand(home)
    home.set_here()
    assert stand(home, 121.0, (501.0, 20.0)) == (1.0, (1.0, 0.0))


def test_position_that_is_unknown_moves_no_home():
    home = Home()
    stand(home, position=(math.nan, math.nan))
    home.set_here()
    assert home.position == (0.0, 0.0)


@pytest.mark.parametrize('altitude', [100.0, math.nan])
def test_record_restores_what_is_known(altitude):
    home = Home()
    home.restore(altitude, (500.0, 20.0))
    above, position = stand(home, 150.0)
    assert (above, position) == (50.0 if altitude == 100.0 else 0.0, (0.0, 0.0))


def test_vehicle_that_was_moved_has_a_new_home():
    home = Home()
    stand(home)
    home.set_here()
    home.forget()
    assert math.isnan(home.altitude)
    assert stand(home, 300.0) == (0.0, (500.0, 20.0))
