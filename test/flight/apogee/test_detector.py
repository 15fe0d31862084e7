# SPDX-License-Identifier: Apache-2.0
"""The apogee detector on closed-form flights, with every input spoilt in turn."""
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeEstimate, ApogeeParams
from propulsion_ros.flight.apogee.parabola import Parabola
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.loops.flight.params import FlightLoopParams, make_flight_state, read_config
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.replay.flight_log import fly
from propulsion_ros.settings.errors import ConfigError

PARAMS = FlightLoopParams(replay=True)
_SPEED = 60.0  # of the throw at time 0 [m/s]
_APOGEE = _SPEED / STANDARD_GRAVITY
_HEIGHT = 0.5 * _SPEED * _APOGEE


def _throw(rate=50.0, end=_APOGEE + 4.0, noise=0.3, seed=0, begin=-2.0):
    """Return stamps [s], altitude, velocity and acceleration of a vertical throw from rest."""
    time = np.arange(begin, end, 1.0 / rate)
    t = np.maximum(time, 0.0)
    altitude = _SPEED * t - 0.5 * STANDARD_GRAVITY * t * t
    velocity = np.where(time > 0.0, _SPEED - STANDARD_GRAVITY * t, 0.0)
    acceleration = np.where(time > 0.0, -STANDARD_GRAVITY, 0.0)
    rng = np.random.default_rng(seed)
    return time, altitude + rng.normal(0.0, noise, len(t)), velocity, acceleration


def _feed(detector, time, altitude, velocity=None, acceleration=None):
    nothing = np.full(len(time), math.nan)
    velocity = nothing if velocity is None else velocity
    acceleration = nothing if acceleration is None else acceleration
    return [
        detector.update(round(t * 1e9), h, v, a)
        for t, h, v, a in zip(
            np.asarray(time).tolist(), np.asarray(altitude).tolist(),
            np.asarray(velocity).tolist(), np.asarray(acceleration).tolist(), strict=True,
        )
    ]


def _delay(estimates: list[ApogeeEstimate]) -> float:
    last = estimates[-1]
    assert last.detected
    assert last.detected_ns is not None
    return last.detected_ns * 1e-9 - _APOGEE


@pytest.mark.parametrize(
    ('rate', 'latest'),
    [(1.0, 1.1), (2.0, 0.6), (5.0, 0.4), (10.0, 0.3), (20.0, 0.25), (37.0, 0.2), (50.0, 0.2),
     (60.0, 0.2), (100.0, 0.2), (200.0, 0.2), (500.0, 0.2)],
)
@pytest.mark.parametrize('seed', range(3))
def test_detects_a_throw_at_any_rate(rate, latest, seed):
    delay = _delay(_feed(ApogeeDetector(ApogeeParams()), *_throw(rate, seed=seed)[:2]))
    assert -0.1 < delay < latest


def test_final_apogee_lies_within_its_sigma():
    errors = []
    for seed in range(60):
        estimate = _feed(ApogeeDetector(ApogeeParams()), *_throw(seed=seed)[:2])[-1]
        errors.append((estimate.apogee_ns * 1e-9 - _APOGEE) / estimate.sigma)
        assert estimate.apogee_altitude == pytest.approx(_HEIGHT, abs=0.5)
        assert estimate.reason == 'fit'
    # Deciding when the vertex has passed selects, so a little more than one sigma is honest.
    assert math.sqrt(np.mean(np.square(errors))) < 2.0


@pytest.mark.parametrize(('sigma', 'falls'), [(0.5, True), (2.0, False)])
def test_fall_over_the_window_counts_where_it_is_five_sigma(sigma, falls):
    fit = Parabola(0.0, 500.0, -6.0, 0.0, 0.0, 0.1, 1.0, sigma**-2, 1.0)
    # The velocity of now is too uncertain.
    assert ApogeeDetector(ApogeeParams())._is_falling(fit, -6.0, 5.0) is falls


def test_apogee_is_predicted_while_climbing():
    estimates = _feed(ApogeeDetector(ApogeeParams()), *_throw()[:2])
    climbing = [e for e in estimates if 2.2 < e.stamp_ns * 1e-9 < _APOGEE - 0.5]
    assert len(climbing) > 100
    for estimate in climbing:
        assert abs(estimate.apogee_ns * 1e-9 - _APOGEE) < 5.0 * estimate.sigma
        assert not estimate.detected
    assert climbing[-1].sigma < climbing[0].sigma


def test_estimate_holds_the_motion_at_the_stamp():
    time, altitude, velocity, _ = _throw(noise=0.0)
    estimates = _feed(ApogeeDetector(ApogeeParams()), time, altitude)
    for t, h, v, estimate in zip(time, altitude, velocity, estimates, strict=True):
        assert estimate.stamp_ns == round(t * 1e9)
        if t > 2.1:
            assert estimate.altitude == pytest.approx(h, abs=1e-6)
            assert estimate.velocity == pytest.approx(v, abs=1e-6)
            assert estimate.acceleration == pytest.approx(-STANDARD_GRAVITY, abs=1e-6)


def test_before_any_fit_nothing_is_known():
    estimate = ApogeeDetector(ApogeeParams()).update(5, 10.0)
    for value in (estimate.altitude, estimate.velocity, estimate.sigma):
        assert math.isnan(value)
    assert (estimate.apogee_ns, estimate.detected_ns, estimate.reason) == (None, None, '')
    assert estimate.health == 'filling'


@settings(max_examples=8, deadline=None)
@given(offset=st.integers(-(10**18), 10**18))
def test_the_epoch_of_the_clock_changes_nothing(offset):
    time, altitude, *_ = _throw()
    plain, moved = ApogeeDetector(ApogeeParams()), ApogeeDetector(ApogeeParams())
    for t, h in zip(time.tolist(), altitude.tolist(), strict=True):
        stamp = round(t * 1e9)
        a, b = plain.update(stamp, h), moved.update(stamp + offset, h)
        moved_back = None if b.apogee_ns is None else b.apogee_ns - offset
        assert (a.altitude, a.velocity, a.sigma, a.apogee_ns, a.detected) == pytest.approx(
            (b.altitude, b.velocity, b.sigma, moved_back, b.detected), rel=0, abs=0, nan_ok=True
        )


def test_detection_is_latched_until_reset_and_reset_forgets_all():
    detector = ApogeeDetector(ApogeeParams())
    throw = _throw()[:2]
    first = _feed(detector, *throw)
    decided = next(e for e in first if e.detected)
    for estimate in first[first.index(decided):]:
        assert estimate.detected
        assert estimate.detected_ns == decided.detected_ns
        assert estimate.apogee_ns == decided.apogee_ns
    detector.reset()
    assert [e.detected_ns for e in _feed(detector, *throw)] == [e.detected_ns for e in first]


@pytest.mark.parametrize(
    'spoil',
    [
        pytest.param(lambda h, i: h.__setitem__(slice(i, i + 3), math.nan), id='NaN'),
        pytest.param(lambda h, i: h.__setitem__(i, math.inf), id='infinity'),
        pytest.param(lambda h, i: h.__setitem__(i, 1e300), id='absurd'),
        pytest.param(lambda h, i: h.__setitem__(i, 1e5), id='spike up'),
        pytest.param(lambda h, i: h.__setitem__(i, -4e3), id='spike down'),
        pytest.param(lambda h, i: h.__setitem__(slice(i, i + 10), h[i] - 150.0), id='charge'),
        pytest.param(
            lambda h, i: h.__setitem__(slice(i - 100, None, 10), 900.0), id='every tenth a spike'
        ),
    ],
)
@pytest.mark.parametrize('before', [3.0, 1.0, 0.5, 0.3])
def test_spoilt_altitudes_move_nothing_far(spoil, before):
    time, altitude, *_ = _throw()
    spoil(altitude, int(np.searchsorted(time, _APOGEE - before)))
    assert -0.15 < _delay(_feed(ApogeeDetector(ApogeeParams()), time, altitude)) < 0.5


def test_repeated_and_late_stamps_change_nothing():
    time, altitude, *_ = _throw()
    clean = _feed(ApogeeDetector(ApogeeParams()), time, altitude)
    detector = ApogeeDetector(ApogeeParams())
    for i, (t, h) in enumerate(zip(time.tolist(), altitude.tolist(), strict=True)):
        estimate = detector.update(round(t * 1e9), h)
        # As text, since NaN does not equal NaN.
        assert str(estimate) == str(clean[i])
        late = detector.update(round((t - 0.001 * (i % 2)) * 1e9), h + 500.0)
        assert late.health == 'late'
        assert late.detected == clean[i].detected


@pytest.mark.parametrize(('since', 'until', 'jump'), [
    *((2.0, math.inf, jump) for jump in (-100.0, -3.0, 5.0, 100.0)), (1.0, 1.02, 1e6),
])
def test_a_clock_jump_and_a_stamp_from_the_future_do_no_harm(since, until, jump):
    time, altitude, *_ = _throw()
    delay = jump if math.isinf(until) else 0.0
    time = time + np.where((time > since) & (time <= until), jump, 0.0)
    assert -0.1 < _delay(_feed(ApogeeDetector(ApogeeParams()), time, altitude)) - delay < 0.3


@pytest.mark.parametrize('begin', [3.0, _APOGEE - 2.0, _APOGEE - 0.5, _APOGEE - 0.1])
def test_late_entry_is_never_premature(begin):
    for seed in range(20):
        throw = _throw(100.0, seed=seed, begin=begin)
        assert -0.2 < _delay(_feed(ApogeeDetector(ApogeeParams()), *throw[:2])) < 1.0
        assert -0.2 < _delay(_feed(ApogeeDetector(ApogeeParams()), *throw)) < 0.5


def test_entry_under_the_parachute_is_a_descent():
    time = np.arange(0.0, 3.0, 0.02)
    altitude = 900.0 - 15.0 * time + np.random.default_rng(0).normal(0.0, 0.4, len(time))
    last = _feed(ApogeeDetector(ApogeeParams()), time, altitude)[-1]
    assert last.reason == 'descent'
    assert last.detected_ns < 0.6e9
    assert math.isnan(last.sigma)


def _frozen_throw():
    time, altitude, velocity, _ = _throw()
    frozen = int(np.searchsorted(time, 3.0))
    altitude[frozen:], velocity[frozen:] = altitude[frozen], velocity[frozen]
    return time, altitude, velocity


def test_frozen_in_the_climb_is_no_apogee_until_that_is_foreseen():
    estimates = _feed(ApogeeDetector(ApogeeParams()), *_frozen_throw())
    assert estimates[-1].reason == 'foreseen'
    assert 0.8 < _delay(estimates) < 2.0


@pytest.mark.parametrize('method', ['robust', 'legacy'])
def test_nothing_is_detected_before_the_vehicle_has_left_what_held_it(method):
    detector = make_detector(ApogeeParams(method=method))
    time, altitude, velocity, _ = _throw(rate=45.0, noise=0.0)
    detector.expect(flies=False, may_light=False)
    assert not any(each.detected for each in _feed(detector, time, altitude, velocity))
    detector.expect(flies=True, may_light=False)
    assert _feed(detector, time + 9.0, altitude, velocity)[-1].detected


@pytest.mark.parametrize('pad', [-80.0, 60.0])
@pytest.mark.parametrize(('rises', 'is_detected'), [(1.1, True), (0.9, False)])
def test_the_least_height_counts_from_where_the_vehicle_left(pad, rises, is_detected):
    """Of a barometer that drifts on the pad by the weather: the drogue never came."""
    time, altitude, velocity, _ = _throw()
    altitude = altitude * rises * ApogeeParams().minimum_height / altitude.max() + pad
    detector = ApogeeDetector(ApogeeParams())
    detector.expect(flies=True, may_light=False, pad=pad)
    assert _feed(detector, time, altitude, math.nan * velocity)[-1].detected is is_detected


def test_what_sank_before_the_liftoff_has_not_fallen():
    """As of a rocket that a drone has carried up, and that is lit while it sinks."""
    time, altitude, *_ = _throw(begin=-10.0)
    altitude += 130.0 - 3.0 * np.minimum(time, 0.0)
    detector, estimates = ApogeeDetector(ApogeeParams()), []
    for t, h in zip(time.tolist(), altitude.tolist(), strict=True):
        detector.expect(flies=t > 0.1, may_light=False)
        estimates.append(detector.update(round(t * 1e9), h))
    assert -0.1 < _delay(estimates) < 0.2


def test_nothing_is_foreseen_while_a_stage_may_still_light():
    detector = ApogeeDetector(ApogeeParams())
    detector.expect(flies=True, may_light=True)
    assert not _feed(detector, *_frozen_throw())[-1].detected
    # What burns now was not part of the coast that was seen.
    detector.expect(flies=True, may_light=False)
    assert not detector.wait(20_000_000_000).detected


@pytest.mark.parametrize('value', [math.nan, 120.0], ids=['lost', 'frozen'])
def test_a_live_velocity_decides_where_the_altitude_is_lost(value):
    time, altitude, velocity, _ = _throw()
    altitude[int(np.searchsorted(time, 2.0)):] = value
    velocity = velocity + np.random.default_rng(1).normal(0.0, 0.5, len(time))
    estimates = _feed(ApogeeDetector(ApogeeParams()), time, altitude, velocity)
    assert estimates[-1].reason == 'velocity'
    assert 0.0 < _delay(estimates) < 1.2


def test_a_velocity_that_climbs_for_longer_than_a_coast_contradicts_no_more():
    time, altitude, velocity, _ = _throw()
    lost = time >= 3.0
    altitude[lost] = math.nan
    velocity[lost] = 35.0 + np.random.default_rng(1).normal(0.0, 0.5, np.count_nonzero(lost))
    estimates = _feed(ApogeeDetector(ApogeeParams()), time, altitude, velocity)
    assert estimates[-1].reason == 'foreseen'
    assert 2.0 < _delay(estimates) < 4.0


def test_a_sensor_that_holds_for_a_second_is_not_premature():
    time, altitude, *_ = _throw(100.0)
    held = altitude[(np.arange(len(time)) // 100) * 100]
    assert -0.1 < _delay(_feed(ApogeeDetector(ApogeeParams()), time, held)) < 1.3


@pytest.mark.parametrize('offset', [0.0, 120.0], ids=['true pad', 'pad read 120 m too high'])
@pytest.mark.parametrize('noise', [0.1, 0.5, 2.0])
def test_nothing_happens_on_the_pad(offset, noise):
    rng = np.random.default_rng(4)
    time = np.arange(0.0, 60.0, 0.05)
    altitude = offset + rng.normal(0.0, noise, len(time))
    velocity = rng.normal(0.0, 0.7, len(time))
    samples = [
        Sample(round(t * 1e9), *values, 0.0)
        for t, *values in zip(time.tolist(), altitude.tolist(), velocity.tolist(), strict=True)
    ]
    flight = make_flight_state(PARAMS, read_config(PARAMS), in_simulation=False)
    reports = [report for _, report in fly(samples, flight)]
    assert not any(report.apogee or report.estimate.detected for report in reports)


def test_below_the_minimum_height_nothing_is_detected():
    time, altitude, *_ = _throw(begin=-10.0)
    for height, is_detected in ((_HEIGHT + 50.0, False), (_HEIGHT - 20.0, True)):
        last = _feed(ApogeeDetector(ApogeeParams(minimum_height=height)), time, altitude)[-1]
        assert last.detected is is_detected
        assert last.health == ('ok' if is_detected else 'below minimum height')


def test_static_ports_near_mach_one_are_no_apogee():
    time = np.arange(-2.0, 30.0, 0.02)
    t = np.maximum(time, 0.0)
    altitude = 280.0 * t - 0.5 * STANDARD_GRAVITY * t * t
    altitude += np.random.default_rng(2).normal(0.0, 0.5, len(t))
    for depth, width in ((800.0, 0.3), (800.0, 1.0), (400.0, 0.6)):
        dipped = altitude - depth * np.exp(-(((time - 6.0) / width) ** 2))
        estimate = _feed(ApogeeDetector(ApogeeParams()), time, dipped)[-1]
        delay = estimate.detected_ns * 1e-9 - 280.0 / STANDARD_GRAVITY
        assert -0.2 < delay < 0.3


@pytest.mark.parametrize(('velocity', 'expected'), [(200.0, 'lockout'), (0.0, 'ok')])
def test_lockout_by_the_velocity_input(velocity, expected):
    time, altitude, speed, _ = _throw(end=_APOGEE - 0.4)
    fast = speed + np.random.default_rng(0).normal(0.0, 0.1, len(time))
    fast[time > time[-1] - 2.0] += velocity
    estimates = _feed(ApogeeDetector(ApogeeParams()), time, altitude, fast)
    assert estimates[-1].health == expected


def test_a_velocity_input_that_is_wrong_for_longer_than_any_dip_locks_no_more():
    time, altitude, *_ = _throw(end=_APOGEE - 0.4)
    wild = 200.0 + np.random.default_rng(0).normal(0.0, 0.1, len(time))
    assert _feed(ApogeeDetector(ApogeeParams()), time, altitude, wild)[-1].health == 'ok'


def test_a_velocity_input_stuck_high_delays_but_never_prevents():
    time, altitude, velocity, _ = _throw(end=_APOGEE + 6.0)
    for wrong in (velocity + 90.0, np.full(len(time), 90.0)):
        assert -0.1 < _delay(_feed(ApogeeDetector(ApogeeParams()), time, altitude, wrong)) < 3.0


def test_the_fit_locks_while_fast():
    estimates = _feed(ApogeeDetector(ApogeeParams()), *_throw()[:2])
    by_time = {round(e.stamp_ns * 1e-9, 2): e for e in estimates}
    unlocked = (_SPEED - 30.0) / STANDARD_GRAVITY + 1.0
    assert by_time[2.5].health == 'lockout'
    # The coast is known by then, and cannot be over yet.
    assert by_time[round(unlocked + 0.2, 1)].health == 'early'
    assert by_time[round(_APOGEE - 0.4, 1)].health == 'ok'


@pytest.mark.parametrize('hold', [0.0, 5.0])
def test_the_lockout_outlasts_the_speed_by_its_hold_time(hold):
    detector = ApogeeDetector(ApogeeParams(lockout_hold=hold))
    unlocked = (_SPEED - 30.0) / STANDARD_GRAVITY + hold
    delay = _delay(_feed(detector, *_throw(end=_APOGEE + 6.0)[:2]))
    assert delay == pytest.approx(max(unlocked - _APOGEE, 0.0), abs=0.5)


@pytest.mark.parametrize(
    ('key', 'value'),
    [('window', 0.0), ('window', math.nan), ('capacity', 4), ('minimum_height', -1.0),
     ('lockout_speed', 0.0), ('noise', 0.0), ('lockout_hold', '1')],
)
def test_bad_parameters_are_refused_by_name(key, value):
    with pytest.raises(ConfigError, match=key):
        ApogeeParams(**{key: value})


@pytest.mark.parametrize('wrong', [20.0, 60.0])
def test_an_input_that_is_wrong_carries_no_lost_altitude_above_the_minimum_height(wrong):
    detector = ApogeeDetector(ApogeeParams())
    for i in range(-500, 700):
        now, t = 0.02 * i, max(0.02 * i, 0.0)
        altitude = 40.0 * t - 0.5 * STANDARD_GRAVITY * t * t if t < 3.0 else math.nan
        detector.expect(flies=t > 0.3, may_light=False)
        estimate = detector.update(
            round((now + 20.0) * 1e9), altitude, wrong + 0.01 * math.sin(50.0 * now)
        )
        assert not estimate.detected  # Its top is at 82 m.
