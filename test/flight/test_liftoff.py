# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

from flown_vehicle import wiggle
from propulsion_ros.flight.liftoff import LiftoffDetector
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

NAN = math.nan
STEP_NS = 10_000_000


def run(samples, step_ns=STEP_NS, *, may_settle=True):
    """Return (index, liftoff) of the first liftoff for (altitude, velocity, acceleration)."""
    detector = LiftoffDetector(FlightParams(), may_settle=may_settle)
    for i, sample in enumerate(samples):
        liftoff = detector.update(i * step_ns, *sample)
        if liftoff is not None:
            return i, liftoff
    return None


def boost(i, a=20.0, step=0.01):
    t = i * step
    return 0.5 * a * t * t, a * t, a + wiggle(i)


PAD = [(wiggle(i), wiggle(i), wiggle(i)) for i in range(100)]


def test_acceleration_is_confirmed_by_a_rise_and_back_dated():
    index, liftoff = run(PAD + [boost(i) for i in range(1, 100)])
    assert liftoff.source == 'acceleration'
    assert liftoff.clock_ns == 100 * STEP_NS
    # A rise of 5 m at 20 m/s^2 takes sqrt(2 5 / 20) = 0.71 s, and must last for 0.2 s.
    assert index == 99 + 71 + 20


def test_climb_path_is_back_dated_to_speed_and_rise():
    flight = [(h, v, NAN) for h, v, _ in map(boost, range(1, 200))]
    index, liftoff = run([(h, v, NAN) for h, v, _ in PAD] + flight)
    assert liftoff.source == 'climb'
    # 15 m above the lowest altitude at 20 m/s^2: sqrt(2 15 / 20) = 1.225 s.
    assert liftoff.clock_ns == (99 + 123) * STEP_NS
    assert index == 99 + 123 + 50


@pytest.mark.parametrize(
    ('acceleration', 'lifts_off'),
    [
        pytest.param(0.5 * STANDARD_GRAVITY - 0.01, False, id='below 1.5 g on the scale'),
        pytest.param(0.5 * STANDARD_GRAVITY + 0.01, True, id='above 1.5 g on the scale'),
    ],
)
def test_the_limit_is_one_and_a_half_g_of_specific_force(acceleration, lifts_off):
    samples = [(NAN, NAN, acceleration + wiggle(i)) for i in range(200)]
    assert (run(samples) is not None) == lifts_off


def test_weak_motor_that_the_flown_software_never_noticed():
    # Net acceleration below 2 g and burnout below 50 m: neither limit of the original is met.
    index, liftoff = run(PAD + [boost(i, a=6.0) for i in range(1, 300)])
    assert liftoff.source == 'acceleration'
    assert index <= 99 + 150


@pytest.mark.parametrize(
    'samples',
    [
        pytest.param(PAD * 10, id='pad'),
        pytest.param([(50.0, 40.0, 30.0)] * 500, id='frozen in boost'),
        pytest.param([(NAN, NAN, NAN)] * 500, id='all unknown'),
        pytest.param(
            [(wiggle(i), NAN, NAN if i % 2 else 30.0 + wiggle(i)) for i in range(500)],
            id='acceleration unknown every other time',
        ),
        pytest.param(
            [(wiggle(i), wiggle(i), 30.0 if 200 <= i < 209 else wiggle(i)) for i in range(500)],
            id='a knock of 0.09 s',
        ),
        pytest.param(
            [(1e6 if i == 200 else wiggle(i), 50.0, NAN) for i in range(500)],
            id='one spike up in altitude, velocity wrong',
        ),
        pytest.param(
            [(1e6 if i == 200 else 20.0 + wiggle(i), -50.0, NAN) for i in range(500)],
            id='one spike up in altitude, velocity wrong the other way',
        ),
        pytest.param(
            [(-0.2 * i, -20.0, NAN) for i in range(500)], id='pressure drifts below the pad'
        ),
        pytest.param(
            [(-1e5 if i == 200 else wiggle(i), 50.0, NAN) for i in range(500)],
            id='one spike down in altitude, velocity wrong',
        ),
        pytest.param(
            [(wiggle(i) + (120.0 if i > 200 else 0.0), wiggle(i), NAN) for i in range(500)],
            id='pad reference moves by 120 m',
        ),
        pytest.param([(120.0 + wiggle(i), wiggle(i), NAN) for i in range(500)], id='pad at 120 m'),
    ],
)
def test_no_liftoff(samples):
    assert run(samples) is None


def test_few_samples_across_gaps_are_no_liftoff_but_three_that_climb_are():
    gap_ns = 2_000_000_000
    samples = [(0.0, 0.0, NAN), (0.1, 0.0, NAN), *((100.0 * i, 50.0, NAN) for i in range(1, 4))]
    assert run(samples[:4], gap_ns) is None
    assert run(samples, gap_ns) is not None


@pytest.mark.parametrize(
    ('velocity', 'source'),
    [pytest.param(100.0, 'climb', id='ascending'), pytest.param(-20.0, 'fall', id='descending')],
)
def test_a_feed_that_begins_in_the_air_is_a_flight(velocity, source):
    samples = [(800.0 + velocity * 0.01 * i, velocity, NAN) for i in range(390)]
    _, liftoff = run(samples)
    assert liftoff.source == source


@pytest.mark.parametrize(('may_settle', 'latest'), [
    pytest.param(False, 1.6, id='a log'), pytest.param(True, 3.0, id='a robot'),
])
def test_feed_that_begins_at_apogee_is_a_flight(may_settle, latest):
    """In a log a fall of half the speed is enough; on a robot it may be a sensor that settles."""
    times = [0.01 * i for i in range(390)]
    samples = [(800.0 - 4.9 * t * t, -9.8 * t, NAN) for t in times]
    i, liftoff = run(samples, may_settle=may_settle)
    assert liftoff.source == 'fall'
    assert latest - 0.7 < times[i] < latest


def test_small_fall_that_ends_is_none_in_a_log_either():
    """Noise, and an altitude that was not set to 0 on its pad."""
    rows = [(250.0 + 2.0 * math.sin(2.0 * 0.01 * i), 4.0 * math.cos(0.02 * i), NAN)
            for i in range(2000)]
    assert run(rows, may_settle=False) is None


@pytest.mark.parametrize(('slope', 'lasts', 'source'), [
    pytest.param(50.0, 100, 'climb', id='climb'),
    pytest.param(-20.0, 300, 'fall', id='fall'),
    pytest.param(-20.0, 299, None, id='fall, too short'),
    pytest.param(50.0, 99, None, id='climb, too short'),
    pytest.param(NAN, 300, None, id='without a slope'),
])
def test_slope_of_the_altitude_is_enough_against_a_velocity_of_0(slope, lasts, source):
    detector = LiftoffDetector(FlightParams())
    found = None
    for i in range(600):
        altitude = 800.0 + (0.0 if math.isnan(slope) else slope) * max(0, i - 99) * 0.01
        holds = 200 <= i <= 200 + lasts
        found = found or detector.update(
            i * STEP_NS, altitude, 0.0, NAN, slope if holds else 0.0 * slope
        )
    assert (found and found.source) == source


def test_reset_forgets_the_altitudes_of_the_last_flight():
    detector = LiftoffDetector(FlightParams())
    for i in range(100):
        detector.update(i * STEP_NS, -500.0 + wiggle(i), 0.0, NAN)
    detector.reset()
    # At the pad's level with a wrong speed: a rise only against the old lowest altitude.
    for i in range(100, 200):
        assert detector.update(i * STEP_NS, wiggle(i), 50.0, NAN) is None


@pytest.mark.parametrize('period', [2, 3, 5, 7, 10, 13, 20, 21])
def test_missing_altitudes_do_not_hide_the_liftoff(period):
    # 30 m/s^2 from 1 s on at 100 Hz, every so many samples without an altitude.
    detector = LiftoffDetector(FlightParams())
    found = None
    for i in range(600):
        t = 0.01 * i
        rise, speed = 15.0 * max(t - 1.0, 0.0) ** 2, 30.0 * max(t - 1.0, 0.0)
        altitude = math.nan if i % period == 0 else 0.01 * (i % 3) + rise
        found = found or detector.update(round(t * 1e9), altitude, speed, math.nan)
    assert found is not None
    assert found.source == 'climb'
    assert 1.0 < found.clock_ns * 1e-9 < 3.0


def settling(offset, tau=0.5):
    """Return the altitude of a vehicle at rest as a barometer that settles shows it."""
    return [(offset * math.exp(-0.01 * i / tau) + wiggle(i), NAN, NAN) for i in range(1000)]


@pytest.mark.parametrize('tau', [0.3, 0.7, 1.5])
@pytest.mark.parametrize('offset', [-2000.0, -300.0, -60.0, 60.0, 300.0, 2000.0])
def test_barometer_that_settles_is_no_liftoff(offset, tau):
    """From below it was a climb, from above a fall: both charges fired on the pad."""
    assert run([(wiggle(i), NAN, NAN) for i in range(600)] + settling(offset, tau)) is None
    assert run(settling(offset, tau)) is None


def test_climb_below_the_pad_is_a_liftoff_after_all():
    """A barometer that jumped down for good takes no liftoff away."""
    rows = [(-900.0 + 10.0 * (0.01 * i) ** 2, NAN, NAN, 0.2 * i) for i in range(900)]
    i, liftoff = run(rows)
    assert liftoff.source == 'climb'
    assert rows[i][0] < 0.0


def test_velocity_that_is_stuck_makes_no_climb_of_a_barometer_that_settles():
    rows = [(altitude, 40.0, NAN, NAN) for altitude, *_ in settling(-500.0)]
    assert run(rows) is None
