# SPDX-License-Identifier: Apache-2.0
import itertools
import math

import numpy as np
import pytest

from flown_vehicle import wiggle
from parts import few_of
from propulsion_ros.flight.belief.departure import DepartureWatch
from propulsion_ros.flight.belief.feed import Readings
from propulsion_ros.flight.belief.motion_watch import MotionWatch
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

NAN = math.nan
STEP_NS = 10_000_000


def run(samples, step_ns=STEP_NS, *, begins_anywhere=False, sensors=(0, 1, 2)):
    """Return (index, liftoff) of the first liftoff for (altitude, velocity, acceleration)."""
    watch = MotionWatch(5.0, begins_anywhere=begins_anywhere)
    for i, sample in enumerate(samples):
        altitude, velocity, acceleration = (
            value if k in sensors else NAN for k, value in enumerate(sample)
        )
        force = (0.0, 0.0, acceleration + STANDARD_GRAVITY)
        watch.update(i * step_ns, Readings(altitude, velocity, force), learns=i < 100)
        if watch.departure is not None:
            return i, watch.departure
    return None


def boost(i, a=20.0, step=0.01):
    t = i * step
    return 0.5 * a * t * t, a * t, a + wiggle(i)


PAD = [(wiggle(i), wiggle(i), wiggle(i)) for i in range(300)]
IGNITION_NS = len(PAD) * STEP_NS


@pytest.mark.parametrize(('acceleration', 'latest'), [
    # What accelerates less than a lift or a drone may be one, until it is faster or falls freely.
    pytest.param(10.0, 2.4, id='10 m per s2'), pytest.param(20.0, 1.0, id='20 m per s2'),
    pytest.param(60.0, 0.6, id='60 m per s2'), pytest.param(150.0, 0.6, id='150 m per s2'),
])
@pytest.mark.parametrize('sensors', [
    pytest.param((0, 1, 2), id='all'), pytest.param((0, 2), id='altitude and accelerometer'),
])
def test_push_with_a_rise_is_found_and_dated_back(sensors, acceleration, latest):
    flight = [boost(i, acceleration) for i in range(1, 300)]
    index, liftoff = run(PAD + flight, sensors=sensors)
    assert liftoff.source == 'acceleration'
    assert liftoff.clock_ns == IGNITION_NS
    assert (index - len(PAD)) * 0.01 < latest


@pytest.mark.parametrize('acceleration', [10.0, 20.0, 60.0])
def test_climb_by_the_altitude_alone_is_found_within_its_first_seconds(acceleration):
    flight = [boost(i, acceleration) for i in range(1, 400)]
    index, liftoff = run(PAD + flight, sensors=(0,))
    assert liftoff.source == 'climb'
    # It must be faster than what a helicopter carries.
    assert 0.3 < (index - len(PAD)) * 0.01 < 1.5 + 20.0 / acceleration
    assert IGNITION_NS < liftoff.clock_ns <= index * STEP_NS


@pytest.mark.parametrize('rest', [1.0, 2.0, 5.0, 10.0])
def test_climb_after_a_short_rest_is_not_dated_to_the_first_sample(rest):
    """The liftoff of a log with 2 s on the pad was at 0 s."""
    pad, step_ns = round(rest / 0.02), 20_000_000
    heights = [0.0] * pad + [boost(i, 50.0, 0.02)[0] for i in range(1, 200)]
    _, liftoff = run(
        [(round(height, 2), NAN, NAN) for height in heights], step_ns, begins_anywhere=True
    )
    assert liftoff.source == 'climb'
    assert rest < liftoff.clock_ns * 1e-9 < rest + 1.0


def test_weak_motor_that_the_flown_software_never_noticed():
    """Net acceleration below 2 g and burnout below 50 m: neither limit of the original is met."""
    burn = [boost(i, a=6.0) for i in range(1, 300)]
    height, speed, _ = burn[-1]
    coast = [
        # With the offset of a living accelerometer: one that shows zeros may be dead.
        (height + speed * t - 4.9 * t * t, speed - 9.8 * t, -9.8 + 0.3 + wiggle(i))
        for i, t in enumerate(0.01 * k for k in range(100))
    ]
    index, liftoff = run(PAD + burn + coast)
    assert liftoff.source == 'acceleration'
    assert liftoff.clock_ns == IGNITION_NS
    assert index < len(PAD) + len(burn) + 60


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
            PAD + [(-0.05 * i, NAN, wiggle(i)) for i in range(500)],
            id='pressure drifts below the pad',
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


@pytest.mark.parametrize('ramp', few_of([1.0, 3.0, 8.0], 2))
@pytest.mark.parametrize('shaking', [4.0, 6.0])
@pytest.mark.parametrize('speed', [25.0, 40.0])
def test_a_pump_on_the_port_of_a_vehicle_that_shakes_is_no_liftoff(speed, shaking, ramp):
    """Each peak counted as a push or a drop; but shaking adds up to no speed."""
    rng, times = np.random.default_rng(1), 0.01 * np.arange(1500)
    pumped = np.cumsum(speed * np.minimum(times / ramp, 1.0)) * 0.01
    forces = shaking * np.sin(math.tau * 5.0 * times) + 0.3 * rng.normal(size=len(times))
    rows = [(h + 0.3 * rng.normal(), NAN, a) for h, a in zip(pumped, forces, strict=True)]
    assert run(PAD + rows) is None


def test_few_samples_across_gaps_are_no_liftoff_but_six_that_climb_are():
    gap_ns = 2_000_000_000
    samples = [(0.0, 0.0, NAN), (0.1, 0.0, NAN), *((100.0 * i, 50.0, NAN) for i in range(1, 7))]
    assert run(samples[:4], gap_ns) is None
    assert run(samples, gap_ns) is not None


@pytest.mark.parametrize(
    ('velocity', 'source'),
    [pytest.param(100.0, 'climb', id='ascending'), pytest.param(-20.0, 'fall', id='descending')],
)
def test_a_feed_that_begins_in_the_air_is_a_flight(velocity, source):
    samples = [(800.0 + velocity * 0.01 * i, velocity, NAN) for i in range(1250)]
    _, liftoff = run(samples)
    assert liftoff.source == source
    _, liftoff = run(samples[:200], begins_anywhere=True)
    assert liftoff.source == source


@pytest.mark.parametrize(('begins_anywhere', 'latest'), [
    pytest.param(True, 2.7, id='a log'), pytest.param(False, 11.0, id='a robot'),
])
def test_feed_that_begins_at_apogee_is_a_flight(begins_anywhere, latest):
    """On a robot it may be a barometer that settles."""
    times = [0.01 * i for i in range(1250)]
    samples = [(800.0 - 4.9 * t * t, -9.8 * t, NAN) for t in times]
    i, liftoff = run(samples, begins_anywhere=begins_anywhere)
    assert liftoff.source == 'fall'
    assert latest - 1.2 < times[i] < latest


def test_small_fall_that_ends_is_none_in_a_log_either():
    """Noise, and an altitude that was not set to 0 on its pad."""
    rows = [(250.0 + 2.0 * math.sin(2.0 * 0.01 * i), 4.0 * math.cos(0.02 * i), NAN)
            for i in range(2000)]
    assert run(rows, begins_anywhere=True) is None


@pytest.mark.parametrize('period', [2, 3, 5, 7, 10, 13, 20, 21])
def test_missing_altitudes_do_not_hide_the_liftoff(period):
    flight = [boost(i, 30.0) for i in range(1, 300)]
    samples = [
        (NAN if i % period == 0 else altitude, velocity, NAN)
        for i, (altitude, velocity, _) in enumerate(PAD + flight)
    ]
    _, liftoff = run(samples)
    assert liftoff.source == 'climb'
    assert 0.0 < (liftoff.clock_ns - IGNITION_NS) * 1e-9 < 2.0


@pytest.mark.parametrize('interval', [0.2, 0.5, 1.0])
def test_slow_barometer_shows_a_climb(interval):
    """At 1 Hz it takes readings, not seconds."""
    times = [interval * i for i in range(round(20.0 / interval))]
    samples = [(15.0 * max(t - 6.0, 0.0) ** 2 + wiggle(i), NAN, NAN) for i, t in enumerate(times)]
    index, liftoff = run(samples, round(interval * 1e9))
    assert liftoff.source == 'climb'
    assert times[index] - 6.0 < 2.0 + 7.0 * interval


def settling(offset, tau=0.5):
    """Return the altitude of a vehicle at rest as a barometer that settles shows it."""
    return [(offset * math.exp(-0.01 * i / tau) + wiggle(i), NAN, NAN) for i in range(1000)]


@pytest.mark.parametrize(('offset', 'tau'), few_of(
    itertools.product([-2000.0, -300.0, -60.0, 60.0, 300.0, 2000.0], [0.3, 0.7, 1.5]), 4
))
def test_barometer_that_settles_is_no_liftoff(offset, tau):
    """From below it was a climb, from above a fall: both charges fired on the pad."""
    assert run([(wiggle(i), NAN, NAN) for i in range(600)] + settling(offset, tau)) is None
    assert run(settling(offset, tau)) is None


def test_velocity_that_is_stuck_makes_no_climb_of_a_barometer_that_settles():
    assert run([(altitude, 40.0, NAN) for altitude, *_ in settling(-500.0)]) is None


@pytest.mark.parametrize(('speed', 'far', 'sensors'), few_of(itertools.product(
    [10.0, 30.0, 60.0], [-400.0, 90.0, 400.0], [(0,), (0, 1), (0, 2)],
), 4))
def test_sensor_that_jumps_and_comes_back_smoothly_is_no_liftoff(far, speed, sensors):
    steps = round(abs(far) / speed / 0.01)
    back = [
        (far * (1.0 - i / steps) + wiggle(i), -math.copysign(speed, far), wiggle(i))
        for i in range(steps)
    ]
    assert run(PAD + back + PAD, sensors=sensors) is None


@pytest.mark.parametrize('sensors', [(0,), (0, 1), (0, 2), (0, 1, 2)])
def test_drop_from_where_it_was_held_is_a_fall(sensors):
    held = [(500.0 + wiggle(i), wiggle(i), wiggle(i)) for i in range(1500)]
    drop = [(500.0 - 4.9 * t * t, -9.8 * t, -9.8 + wiggle(i))
            for i, t in enumerate(0.01 * k for k in range(400))]
    index, liftoff = run(held + drop, sensors=sensors)
    assert liftoff.source == 'fall'
    assert (index - len(held)) * 0.01 < 3.5


@pytest.mark.parametrize('bias', few_of([-3.0, 2.5, 5.0], 2))
def test_accelerometer_that_is_off_does_not_date_the_liftoff_to_its_start(bias):
    """The backup timer counts from there: its charges fired in the boost."""
    pad = [(wiggle(i), NAN, wiggle(i) + (5.0 if i == 9 else bias)) for i in range(1700)]
    flight = [boost(i, 30.0, step=0.04) for i in range(1, 75)]
    flight = [(altitude, NAN, acceleration + bias) for altitude, _, acceleration in flight]
    index, liftoff = run(pad + flight, 4 * STEP_NS, sensors=(0, 2))
    ignition_ns = len(pad) * 4 * STEP_NS
    assert ignition_ns - 100_000_000 < liftoff.clock_ns <= index * 4 * STEP_NS


@pytest.mark.parametrize(
    ('offset', 'tau'), few_of(itertools.product([-300.0, 300.0, 2000.0], [0.7, 1.5]), 3)
)
def test_barometer_that_starts_late_and_settles_is_no_liftoff(offset, tau):
    """As after a restart on the pad, where time goes on before any sensor."""
    silence = [(NAN, NAN, NAN)] * 270
    assert run(silence + settling(offset, tau)[::4], 4 * STEP_NS, sensors=(0,)) is None


@pytest.mark.parametrize(('seed', 'sensors'), few_of(
    itertools.product(range(4), [(0,), (0, 1)]), 3
))
def test_wind_on_a_port_is_no_liftoff(seed, sensors):
    """Gusts of 6 m rms, as of 13 m/s at a port that faces them: both charges fired on the pad."""
    rng, time = np.random.default_rng(seed), 0.1 * np.arange(900)
    gust = np.zeros(len(time))
    for i in range(1, len(time)):
        fresh = rng.normal(0.0, math.sqrt(1.0 - math.exp(-0.2 / 1.5)))
        gust[i] = gust[i - 1] * math.exp(-0.1 / 1.5) + fresh
    height = 6.0 * gust * np.clip(time - 3.0, 0.0, 1.0) + rng.normal(0.0, 0.3, len(time))
    speed = np.gradient(np.convolve(height, np.ones(10) / 10.0, 'same'), 0.1)
    samples = zip(height.tolist(), speed.tolist(), [NAN] * len(time), strict=True)
    assert run(samples, 100_000_000, sensors=sensors) is None


@pytest.mark.parametrize('height', few_of([8.0, 10.0, 13.0], 2), ids=lambda height: f'{height:g} m')
def test_impact_after_a_short_fall_is_no_liftoff(height):
    """The ground pushes what falls onto it, which a crane may have dropped."""
    fall, speed = math.sqrt(2.0 * height / 9.81), math.sqrt(2.0 * height * 9.81)
    falling = [
        (-4.905 * t * t + wiggle(i), -9.81 * t + wiggle(i), -9.81 + wiggle(i))
        for i in range(round(100 * fall)) for t in [0.01 * i]
    ]
    stop = [
        (-height + wiggle(i), -speed * (1.0 - i / 5), speed / 0.05) for i in range(1, 6)
    ]
    rest = [(-height + wiggle(i), wiggle(i), wiggle(i)) for i in range(1000)]
    for sensors in ((0, 1, 2), (0, 2)):
        found = run(PAD + falling + stop + rest, sensors=sensors)
        assert found is None or found[1].source == 'fall'


class Believed:
    """A belief in a height, which has run on to another one."""

    flight = (-200.0, -30.0)
    height = 0.0

    def believed(self, channel):
        return 1.0

    def supported(self, *, height, speed):
        return 0.0


@pytest.mark.parametrize(('step', 'fallen'), [
    pytest.param(1.0, 30.0, id='the height rises'), pytest.param(-1.0, 80.0, id='it falls too'),
])
def test_a_drop_is_as_deep_as_both_the_height_and_the_belief_show(step, fallen):
    """A log that began in the coast was past its apogee where the belief ran on without it."""
    watch = DepartureWatch()
    watch.reset(in_air=True)
    for i in range(81):
        watch.feel(i * 100_000_000, (0.0, 0.0, 0.0))
        height = 2000.0 - min(i, 30) + step * max(i - 30, 0)
        watch.update(i * 100_000_000, Believed(), 0.001, height, has_speed=False, has_force=True)
    assert watch.found.source == 'fall'
    assert watch.fallen == fallen


def test_an_offset_of_the_accelerometer_adds_up_to_no_throw():
    """What a parachute had caught was thrown by its landing: its charges fired at the impact."""
    watch = DepartureWatch()
    for i in range(6000):
        now_ns, opens = i * STEP_NS, i < 40
        watch.feel(now_ns, (0.0, 0.0, (4.0 if opens else 1.04) * STANDARD_GRAVITY))
        watch.update(now_ns, Believed(), 0.001, 0.0, has_speed=False, has_force=True)
    assert watch.found is None


@pytest.mark.parametrize(('rate', 'is_found'), [
    pytest.param((0.0, 0.0, 0.0), True, id='straight'),
    pytest.param((0.0, 0.0, 30.0), True, id='a rocket that spins about its nose'),
    pytest.param((math.nan,) * 3, True, id='rate is unknown'),
    pytest.param((0.0, math.inf, 0.0), True, id='rate is none'),
    pytest.param((0.0, 5.0, 0.0), False, id='swung on a rope'),
    pytest.param((-4.0, 4.0, 0.0), False, id='swung along a leaning circle'),
])
def test_a_push_that_turns_adds_up_to_no_throw(rate, is_found):
    """What was swung on a rope had a liftoff, and the timer fired into somebody's hands."""
    watch = DepartureWatch()
    for i in range(500):
        now_ns = i * STEP_NS
        turns = tuple(each + 0.01 * wiggle(i) for each in rate)
        watch.feel(now_ns, (0.0, 0.0, 4.0 * STANDARD_GRAVITY), turns)
        watch.update(now_ns, Believed(), 0.001, 0.0, has_speed=False, has_force=True)
    assert (watch.found is not None) is is_found


@pytest.mark.parametrize(('turns', 'lasts', 'is_found'), [
    pytest.param(0.0, 300, True, id='it rises'),
    pytest.param(0.0, 48, False, id='it goes no faster than a lift'),
    pytest.param(4.4, 300, False, id='swung on a rope'),
    pytest.param(2.0, 300, False, id='on a long rope its fall outweighs its way'),
])
def test_without_a_height_a_push_must_lead_away(turns, lasts, is_found):
    """A barometer of 1 m repeats itself, and a test of stability on a rope fired both charges."""
    watch, belief = DepartureWatch(), Believed()
    belief.flight = 50.0, 20.0
    for i in range(600):
        force = 0.0, 0.0, (2.0 if 100 <= i < 100 + lasts else 1.0) * STANDARD_GRAVITY
        watch.feel(i * STEP_NS, force, (turns, 0.01 * wiggle(i), 0.0))
        watch.update(i * STEP_NS, belief, 0.001, NAN, has_speed=False, has_force=True)
    assert (watch.found is not None) is is_found
