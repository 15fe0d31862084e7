# SPDX-License-Identifier: Apache-2.0
"""Pickle Rick's own detector against recordings of the original code in double precision."""
import math

import numpy as np
import pytest

from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.legacy.apogee import LegacyApogeeDetector, solve_pivoted
from propulsion_ros.settings.errors import ConfigError

_FLIGHTS = [
    'rp_ndrt_2020', 'rp_hedy_2025_baro', 'rp_prometheus_2022_telemetrum', 'rp_juno3_2023',
    'syn_subsonic_1km', 'syn_low_hop', 'syn_two_stage', 'syn_ballistic',
]


def _fly(recorded, digits=6):
    """Return the estimates of a recorded flight.

    The recording program read its altitudes from text of six significant digits, while the file
    keeps them to a millimetre: 1234.567 m were 1234.57 m to the original.
    """
    detector = make_detector(ApogeeParams(method='legacy'))
    return [
        detector.update(1_000_000 * t, float(f'{h:.{digits}g}'), v)
        for t, h, v in zip(recorded['t_ms'], recorded['alt'], recorded['vel'], strict=True)
    ]


@pytest.fixture(scope='module')
def recorded(golden):
    return {flight['name']: flight for flight in golden('apogee')['vectors']}


def test_every_recorded_flight_is_flown(recorded):
    assert set(recorded) == set(_FLIGHTS)


@pytest.mark.parametrize('name', _FLIGHTS)
def test_detects_in_the_same_sample_with_the_same_vertex(recorded, name):
    flight, estimates = recorded[name], _fly(recorded[name])
    expected = flight['detect_f64']
    if expected is None:
        assert not estimates[-1].detected
        return
    first = next(i for i, estimate in enumerate(estimates) if estimate.detected)
    assert first == expected['index']
    assert estimates[first].detected_ns == 1_000_000 * expected['detect_ms']
    # The recording has whole milliseconds, cut off, and nine digits; sums differ in the last bits.
    predicted_ms = 1e-6 * estimates[first].apogee_ns
    assert predicted_ms == pytest.approx(expected['predicted_ms'] + 0.5, abs=0.51)
    assert estimates[first].apogee_altitude == pytest.approx(expected['altitude'], rel=1e-8)


@pytest.mark.parametrize('name', _FLIGHTS)
def test_fitted_curves_are_those_of_the_original(recorded, name):
    """Compared as curves over their window: c0 and c1 alone are an extrapolation to entry."""
    flight, estimates = recorded[name], _fly(recorded[name])
    for checkpoint in flight['checkpoints']:
        last = checkpoint['i']
        estimate = estimates[last]
        stamps = 1e-3 * np.array(flight['t_ms'][last - checkpoint['n'] + 1:last + 1])
        curve = 0.5 * estimate.acceleration, estimate.velocity, estimate.altitude
        fitted = np.polyval(curve, stamps - stamps[-1])
        original = np.polyval(checkpoint['c64'][::-1], stamps - 1e-3 * flight['t_ms'][0])
        # Nine recorded digits of c0, c1 t and c2 t^2, thousands of metres each.
        np.testing.assert_allclose(fitted, original, rtol=0.0, atol=5e-5)


@pytest.mark.parametrize('name', _FLIGHTS)
def test_fits_are_least_squares(recorded, name):
    flight, estimates = recorded[name], _fly(recorded[name], digits=9)
    for checkpoint in flight['checkpoints']:
        estimate = estimates[checkpoint['i']]
        stamp = 1e-3 * (flight['t_ms'][checkpoint['i']] - flight['t_ms'][0])
        exact = np.poly1d(checkpoint['exact_centre']['q'][::-1])
        since = stamp - checkpoint['exact_centre']['tc']
        assert estimate.altitude == pytest.approx(exact(since), abs=5e-5)
        assert estimate.velocity == pytest.approx(exact.deriv()(since), abs=5e-5)
        assert estimate.acceleration == pytest.approx(exact.deriv(2)(since), abs=5e-5)


def _throw(end=12.0, rate_ms=21, speed=60.0):
    time_ms = np.arange(0, 1000.0 * end, rate_ms)
    time = time_ms / 1e3
    return [
        (round(1e6 * t_ms), speed * t - 4.9 * t * t, speed - 9.8 * t)
        for t_ms, t in zip(time_ms.tolist(), time.tolist(), strict=True)
    ]


def _detect(rows, **params):
    detector = make_detector(ApogeeParams(method='legacy', **params))
    estimates = [detector.update(*row) for row in rows]
    return estimates[-1], estimates


@pytest.mark.parametrize(
    ('rate_ms', 'taken_every'),
    [pytest.param(20, 2, id='exactly 50 Hz is halved'), pytest.param(21, 1, id='just below'),
     pytest.param(5, 5, id='200 Hz')],
)
def test_spacing_is_strict(rate_ms, taken_every):
    _, estimates = _detect(_throw(end=1.0, rate_ms=rate_ms))
    stamps = sorted({estimate.stamp_ns for estimate in estimates})
    assert set(np.diff(stamps)) == {rate_ms * taken_every * 1_000_000}


def test_one_unknown_altitude_spoils_it_for_good():
    rows = _throw()
    rows[100] = (rows[100][0], math.nan, rows[100][2])
    last, _ = _detect(rows)
    assert (last.detected, last.health) == (False, 'no altitude')


@pytest.mark.parametrize(
    ('speed', 'params', 'health', 'detected'),
    [(60.0, {}, 'ok', True), (60.0, {'minimum_height': 250.0}, 'below minimum height', False),
     (60.0, {'lockout_hold': 20.0}, 'lockout', False), (40.0, {}, 'below minimum height', False)],
)
def test_gates(speed, params, health, detected):
    last, _ = _detect(_throw(end=0.115 * speed, speed=speed), **params)
    assert (last.health, last.detected) == (health, detected)


def test_reset_forgets_and_withdraw_votes_anew():
    rows = _throw()
    last, estimates = _detect(rows)
    detector = make_detector(ApogeeParams(method='legacy'))
    for _ in range(2):
        again = [detector.update(*row) for row in rows]
        assert again[-1].detected_ns == last.detected_ns
        assert str(again) == str(estimates)
        detector.reset()
    first = next(i for i, estimate in enumerate(estimates) if estimate.detected)
    for row in rows[:first + 1]:
        detector.update(*row)
    detector.withdraw()
    assert detector.update(*rows[first + 1]).detected_ns == rows[first + 1][0]


@pytest.mark.parametrize(
    ('matrix', 'right', 'expected'),
    [
        pytest.param(np.diag([1.0, 3.0, 2.0]), [1.0, 3.0, 4.0], [1.0, 1.0, 2.0], id='regular'),
        pytest.param(np.zeros((3, 3)), [0.0] * 3, [0.0] * 3, id='zero'),
        pytest.param(
            [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]], [5.0, 10.0, 1.0],
            [0.0, 2.5, 1.0], id='singular: the largest column explains it',
        ),
        pytest.param(
            np.diag([1.0, 1e-17, 1.0]), [1.0, 1.0, 1.0], [1.0, 0.0, 1.0], id='within rounding'
        ),
        pytest.param(np.full((3, 3), math.nan), [0.0] * 3, [math.nan] * 3, id='NaN'),
        pytest.param(np.eye(3), [math.inf] * 3, [math.nan] * 3, id='infinity'),
    ],
)
def test_solve_pivoted(matrix, right, expected):
    solution = solve_pivoted(np.asarray(matrix, float), np.asarray(right, float))
    np.testing.assert_allclose(solution, expected, atol=1e-14)


def test_method_is_chosen_by_name():
    assert isinstance(make_detector(ApogeeParams()), ApogeeDetector)
    assert isinstance(make_detector(ApogeeParams(method='legacy')), LegacyApogeeDetector)
    with pytest.raises(ConfigError, match="method': expected one of robust, legacy, got 'flown'"):
        ApogeeParams(method='flown')
