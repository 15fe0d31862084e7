# SPDX-License-Identifier: Apache-2.0
"""The altitude of the pad, measured or known."""
import math

import pytest

from propulsion_ros.flight.estimation.error_state import VELOCITY, ErrorStateFilter
from propulsion_ros.flight.estimation.pad_aid import PadAid, PadReference
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY


def test_pad_is_the_mean_of_what_was_read_while_open():
    pad = PadReference()
    assert math.isnan(pad.altitude)
    heights = [pad.above_pad(altitude) for altitude in (120.0, 122.0, math.nan, 121.0)]
    assert heights == pytest.approx([0.0, 1.0, math.nan, 0.0], nan_ok=True)
    pad.is_open = False
    assert pad.above_pad(221.0) == 100.0
    assert pad.altitude == 121.0


def test_only_the_last_hundred_readings_count():
    pad = PadReference()
    for altitude in [5000.0] * 50 + [10.0] * 100:
        pad.above_pad(altitude)
    assert pad.altitude == 10.0


def test_closed_without_a_reading_the_first_is_the_pad():
    pad = PadReference()
    pad.is_open = False
    assert pad.above_pad(80.0) == 0.0
    assert pad.above_pad(90.0) == 10.0


@pytest.mark.parametrize('known', [0.0, 120.5])
def test_known_pad_is_never_measured(known):
    pad = PadReference(known)
    assert pad.altitude == known
    assert [pad.above_pad(known + height) for height in (16.0, 300.0)] == [16.0, 300.0]
    assert math.isnan(pad.above_pad(math.inf))


def test_home_is_the_median_of_the_last_readings_and_stays():
    pad = PadReference()
    for altitude in [100.0] * 50 + [130.0] * 6 + [9000.0] + [130.0] * 2:
        pad.above_pad(altitude)
    pad.set_here()
    assert pad.altitude == 130.0
    assert pad.above_pad(135.0) == 5.0
    assert pad.altitude == 130.0
    pad.reset()
    assert math.isnan(pad.altitude)


def test_home_wins_over_a_known_pad_and_needs_a_reading():
    pad = PadReference(0.0)
    pad.set_here()
    assert pad.altitude == 0.0
    pad.above_pad(12.0)
    pad.set_here()
    assert pad.altitude == 12.0


@pytest.mark.parametrize('spikes', [
    pytest.param([44000.0], id='one far up'),
    pytest.param([-5000.0], id='one far down'),
    pytest.param([9000.0, -300.0] * 20, id='two in five'),
])
def test_spikes_on_the_pad_do_not_move_it(spikes):
    pad = PadReference()
    for altitude in [120.0, 121.0] * 30 + spikes:
        pad.above_pad(altitude)
    assert pad.altitude == pytest.approx(120.5)


@pytest.mark.parametrize('readings', [
    pytest.param([100.0] * 60 + [108.0] * 40, id='a coarse barometer between two steps'),
    pytest.param([100.0, 300.0], id='two that differ'),
    pytest.param([100.0 + 0.5 * i for i in range(100)], id='a drift'),
])
def test_what_is_no_spike_counts(readings):
    pad = PadReference()
    for altitude in readings:
        pad.above_pad(altitude)
    assert pad.altitude == pytest.approx(sum(readings) / len(readings))


def test_a_climb_is_no_rest_however_uncertain_a_drift_is():
    """Shaking makes some short means 1 g, and without fixes the horizontal speed is unknown."""
    params = EstimatorParams()
    state = ErrorStateFilter(params)
    aid = PadAid(params, state)
    rest = (0.0, 0.0, 0.0), (0.0, 0.0, STANDARD_GRAVITY)
    for i in range(300):
        aid.update(i * 20_000_000, *rest, None, Stage.PAD)
    assert aid.is_aligned
    state.velocity[2] = 25.0
    for axis, sigma in enumerate((8.0, 8.0, 1.0)):
        state.inflate(VELOCITY + axis, sigma**2)
    for i in range(300, 320):
        aid.update(i * 20_000_000, *rest, None, Stage.PAD)
    assert state.velocity[2] == 25.0


def test_a_drift_by_a_wrong_attitude_ends_however_fast_it_is():
    """After a knock it ran away for ever, as nothing measures it."""
    state = ErrorStateFilter(EstimatorParams())
    aid = PadAid(EstimatorParams(), state)
    rest = (0.0, 0.0, 0.0), (0.0, 0.0, STANDARD_GRAVITY)
    for i in range(300):
        aid.update(i * 20_000_000, *rest, None, Stage.PAD)
    state.velocity[0] = 40.0
    for i in range(300, 700):
        aid.update(i * 20_000_000, *rest, None, Stage.PAD)
    assert state.velocity == pytest.approx([0.0, 0.0, 0.0], abs=0.01)
