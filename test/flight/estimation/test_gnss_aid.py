# SPDX-License-Identifier: Apache-2.0
"""East, north, up on WGS 84 against published points and the ellipsoid; fixes and the pad."""
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.flight.estimation.error_state import POSITION, ErrorStateFilter
from propulsion_ros.flight.estimation.gnss_aid import (
    FLATTENING,
    SEMI_MAJOR_AXIS,
    GnssAid,
    TangentPlane,
    ecef,
)
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import Status

LATITUDE = st.floats(-89.0, 89.0)
LONGITUDE = st.floats(-180.0, 180.0)
HEIGHT = st.floats(-400.0, 40e3)
POLAR = SEMI_MAJOR_AXIS * (1.0 - FLATTENING)


@pytest.mark.parametrize(('place', 'expected'), [
    ((0.0, 0.0, 0.0), (SEMI_MAJOR_AXIS, 0.0, 0.0)),
    ((0.0, 90.0, 100.0), (0.0, SEMI_MAJOR_AXIS + 100.0, 0.0)),
    ((90.0, 0.0, 0.0), (0.0, 0.0, POLAR)),
    ((-90.0, 0.0, 50.0), (0.0, 0.0, -POLAR - 50.0)),
])
def test_points_on_the_axes(place, expected):
    assert ecef(*place) == pytest.approx(expected, abs=1e-8)


@given(LATITUDE, LONGITUDE)
def test_points_lie_on_the_ellipsoid(latitude, longitude):
    x, y, z = ecef(latitude, longitude, 0.0)
    assert (x * x + y * y) / SEMI_MAJOR_AXIS**2 + z * z / POLAR**2 == pytest.approx(1.0, abs=1e-14)


@given(LATITUDE, LONGITUDE, HEIGHT, HEIGHT)
def test_up_is_the_difference_of_heights(latitude, longitude, low, high):
    plane = TangentPlane(latitude, longitude, low)
    assert plane.enu(latitude, longitude, high) == pytest.approx((0.0, 0.0, high - low), abs=1e-7)


@given(LATITUDE, LONGITUDE, HEIGHT, st.floats(-0.02, 0.02), st.floats(-0.02, 0.02), HEIGHT)
def test_distances_are_kept(latitude, longitude, low, north, east, high):
    plane = TangentPlane(latitude, longitude, low)
    other = latitude + north, longitude + east, high
    direct = math.dist(ecef(latitude, longitude, low), ecef(*other))
    assert math.hypot(*plane.enu(*other)) == pytest.approx(direct, rel=1e-9, abs=1e-6)


def test_axes_point_east_and_north():
    plane = TangentPlane(45.0, 10.0, 0.0)
    east, north, _ = plane.enu(45.0, 10.001, 0.0)
    # Radii of curvature of the ellipsoid at 45 degrees: 6 388 838 m and 6 367 382 m.
    assert east == pytest.approx(6_388_838.0 * math.cos(math.radians(45.0)) * math.radians(0.001))
    assert abs(north) < 1e-3
    east, north, _ = plane.enu(45.001, 10.0, 0.0)
    assert north == pytest.approx(6_367_382.0 * math.radians(0.001), rel=1e-5)
    assert abs(east) < 1e-6


def test_the_date_line_is_no_edge():
    east, _, _ = TangentPlane(0.0, 179.9995, 0.0).enu(0.0, -179.9995, 0.0)
    assert east == pytest.approx(SEMI_MAJOR_AXIS * math.radians(0.001), rel=1e-9)


def test_a_fix_that_first_came_in_flight_does_not_move_the_next_pad():
    params = EstimatorParams()
    state = ErrorStateFilter(params)
    aid = GnssAid(params, state)
    state.position[:] = [40.0, 0.0, 0.0]
    state.inflate(POSITION, 1e4)

    def fix(second, altitude, *, may_move):
        # Fixes that repeat themselves exactly are those of a receiver that hangs.
        place = (45.0 + 1e-8 * second, 10.0, altitude)
        aid.check(second * 10**9, *place)
        aid.fuse(second * 10**9, 0.0, place, (), has_height=False, may_move=may_move)

    fix(0, 300.0, may_move=False)
    state.reset((0.0, 0.0, 0.0, 1.0), 0.1, 1.0)
    for second in range(1, 60):
        fix(second, 300.0, may_move=True)
    assert state.position == pytest.approx([0.0, 0.0, 0.0], abs=0.5)
    assert aid.monitor.counts[Status.OK] > 50
