# SPDX-License-Identifier: Apache-2.0
"""A whole flight in our body and in RocketPy: the same burnout and the same apogee."""
import numpy as np
import pytest
import whole_flight

pytestmark = [
    pytest.mark.part('flights'), pytest.mark.slow, pytest.mark.usefixtures('rocketpy'),
]


@pytest.mark.parametrize('values', [
    {}, {'ambient': whole_flight.AMBIENT}, {'warmer': 30.0}, {'warmer': -30.0},
], ids=str)
def test_burnout_and_apogee_are_those_of_rocketpy(values):
    ours, theirs = whole_flight.by_body(**values), whole_flight.by_rocketpy(**values)
    assert ours[-1, 1] == pytest.approx(theirs[:, 1].max(), rel=0.01)
    assert ours[-1, 0] == pytest.approx(theirs[-1, 0], rel=0.01)
    speeds = [whole_flight.at_burnout(rows) for rows in (ours, theirs)]
    assert speeds[0] == pytest.approx(speeds[1], rel=0.01)
    # And on the way: heights within 1 % of the apogee.
    heights = np.interp(theirs[:, 0], ours[:, 0], ours[:, 1])
    assert np.abs(heights - theirs[:, 1]).max() < 0.01 * theirs[:, 1].max()


@pytest.mark.parametrize('inclination', [90.0, 80.0])
def test_the_rail_is_left_as_in_rocketpy(inclination):
    theirs = whole_flight.rocketpy_flight(inclination=inclination)
    tilt = np.radians(90.0 - inclination)
    ours = whole_flight.by_body(dt=0.002, start_rpy=[-tilt, 0.0, 0.0])
    # RocketPy's rocket leaves its rail where its nozzle has come to the upper end.
    left = np.interp(whole_flight.RAIL, ours[:, 3], ours[:, 0])
    assert left == pytest.approx(float(theirs.out_of_rail_time), rel=0.01)
    speed = np.interp(left, ours[:, 0], ours[:, 2]) / np.cos(tilt)
    assert speed == pytest.approx(float(theirs.out_of_rail_velocity), rel=0.01)
