# SPDX-License-Identifier: Apache-2.0
"""Fixes of a receiver: where the pad is."""
import pytest

from propulsion_ros.flight.estimation.error_state import POSITION, ErrorStateFilter
from propulsion_ros.flight.estimation.gnss_aid import GnssAid
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import Status


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
