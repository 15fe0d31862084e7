# SPDX-License-Identifier: Apache-2.0
"""Parabola fits against numpy's QR, exact golden fits, and their own statistics."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.flight.apogee.parabola import (
    Parabola,
    fit_parabola,
    has_outliers,
    noise_of,
    reweight,
)


def _fit(time, altitude, weight=None) -> Parabola:
    fitted = fit_parabola(np.asarray(time), np.asarray(altitude), weight)
    assert fitted is not None
    return fitted[0]


@given(
    c0=st.floats(-1e4, 1e4), c1=st.floats(-300.0, 300.0), c2=st.floats(-30.0, 30.0),
    origin=st.floats(0.0, 1e5), seed=st.integers(0, 999),
)
def test_exact_parabola_is_recovered_at_any_time_of_day(c0, c1, c2, origin, seed):
    x = np.sort(np.random.default_rng(seed).uniform(-2.0, 0.0, 40))
    fit = _fit(origin + x, c0 + c1 * x + c2 * x * x)
    assert fit.altitude(origin) == pytest.approx(c0, abs=1e-6)
    assert fit.velocity(origin) == pytest.approx(c1, abs=1e-6)
    assert fit.acceleration == pytest.approx(2.0 * c2, abs=1e-6)


@pytest.mark.parametrize('weighted', [False, True], ids=['equal weights', 'weights'])
def test_agrees_with_householder_qr(weighted):
    rng = np.random.default_rng(1)
    time = np.sort(rng.uniform(100.0, 102.0, 60))
    altitude = rng.normal(500.0, 10.0, 60)
    weight = rng.uniform(0.1, 1.0, 60) if weighted else None
    root = np.sqrt(weight) if weighted else np.ones(60)
    x = time - 102.0
    q, r = np.linalg.qr(np.vander(x, 3, increasing=True) * root[:, None])
    c = np.linalg.solve(r, q.T @ (altitude * root))
    fit = _fit(time, altitude, weight)
    assert fit.altitude(102.0) == pytest.approx(c[0], rel=1e-11)
    assert fit.velocity(102.0) == pytest.approx(c[1], rel=1e-10)
    assert fit.acceleration == pytest.approx(2.0 * c[2], rel=1e-10)
    covariance = np.linalg.inv(r.T @ r)
    assert fit.altitude_sigma(102.0) == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-10)
    assert fit.velocity_sigma(102.0) == pytest.approx(math.sqrt(covariance[1, 1]), rel=1e-10)
    assert fit.acceleration_sigma == pytest.approx(2.0 * math.sqrt(covariance[2, 2]), rel=1e-10)


_RECORDED = [
    'rp_ndrt_2020', 'rp_hedy_2025_baro', 'rp_prometheus_2022_telemetrum', 'rp_juno3_2023',
    'syn_subsonic_1km', 'syn_low_hop', 'syn_two_stage', 'syn_ballistic',
]


@pytest.mark.parametrize('name', _RECORDED)
def test_golden_exact_fits(golden, name):
    vector = next(v for v in golden('apogee')['vectors'] if v['name'] == name)
    time = (np.array(vector['t_ms']) - vector['t_ms'][0]) * 1e-3
    altitude = np.array(vector['alt'])
    for point in vector['checkpoints']:
        last, count = point['i'] + 1, point['n']
        window = slice(last - count, last)
        fit = _fit(time[window], altitude[window])
        centre, expected = point['exact_centre']['tc'], point['exact_centre']['q']
        got = [fit.altitude(centre), fit.velocity(centre), fit.curve]
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
        if abs(fit.curve) > 1e-3:
            assert fit.vertex == pytest.approx(point['vertex_s'], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    'time', [[], [1.0], [1.0, 2.0], [1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 1.0, 2.0]],
    ids=['none', 'one', 'two', 'one time', 'two times'],
)
def test_fewer_than_three_times_have_no_parabola(time):
    assert fit_parabola(np.array(time), np.zeros(len(time))) is None


def test_zero_weights_have_no_parabola():
    assert fit_parabola(np.arange(9.0), np.zeros(9), np.zeros(9)) is None


def test_sigma_is_the_scatter_of_many_fits():
    rng = np.random.default_rng(7)
    time = np.arange(100) * 0.02
    truth = 1000.0 - 4.9 * (time - 1.5) ** 2
    fits = [_fit(time, truth + rng.normal(0.0, 0.4, 100)).with_noise(0.4) for _ in range(2000)]
    for value, sigma in (
        ([f.velocity(2.0) for f in fits], fits[0].velocity_sigma(2.0)),
        ([f.acceleration for f in fits], fits[0].acceleration_sigma),
        ([f.altitude(2.0) for f in fits], fits[0].altitude_sigma(2.0)),
        ([f.vertex for f in fits], fits[0].velocity_sigma(1.5) / 9.8),
    ):
        assert np.std(value) == pytest.approx(sigma, rel=0.06)


def test_measurements_join_by_their_information():
    fit = Parabola(0.0, 0.0, 10.0, -5.0, 0.0, 0.0, 1.0, 0.25, 4.0)
    joined = fit.with_acceleration(-6.0, 1.0)
    assert joined.curve == pytest.approx(-4.0)
    assert joined.acceleration_sigma == pytest.approx(2.0 / math.sqrt(8.0))


def test_outliers_are_seen_and_normal_noise_is_not():
    rng = np.random.default_rng(3)
    clean = [rng.normal(0.0, 1.0, 100) for _ in range(400)]
    alarms = sum(has_outliers(r, float(r @ r)) for r in clean)
    assert alarms <= 8
    spiked = clean[0].copy()
    spiked[50] = 30.0
    assert has_outliers(spiked, float(spiked @ spiked))


def test_weights_refuse_outliers_and_keep_the_rest():
    residual = np.append(np.random.default_rng(3).normal(0.0, 1.0, 80), np.full(20, 50.0))
    weight = reweight(residual, 0.1)
    assert np.all(weight[80:] == 0.0)
    assert weight[:80].mean() > 0.8


def test_correlated_residuals_count_as_fewer_samples():
    rng = np.random.default_rng(5)
    white = rng.normal(0.0, 1.0, 4000)
    slow = np.convolve(white, np.ones(10) / math.sqrt(10.0), 'same')
    for residual, expected in ((white, 1.0), (slow, math.sqrt((1.0 + 0.9) / (1.0 - 0.9)))):
        noise = noise_of(residual, float(residual @ residual), 4000.0, 0.5, 4.0)
        assert noise == pytest.approx(expected, rel=0.12)
