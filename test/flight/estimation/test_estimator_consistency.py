# SPDX-License-Identifier: Apache-2.0
"""Errors and innovations of the estimator against their own covariance, on known truth."""
import numpy as np
import pytest
from rocket_truth import FIELD, NORTH, PAD_TIME, fly, product, turn
from rocket_truth import pressure_of as pressure
from scipy.stats import chi2

from parts import amount
from propulsion_ros.flight.estimation.baro_aid import (
    dynamic_pressure,
    mach_squared,
    metres_per_pascal,
)
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.models.common.atmosphere import temperature_and_pressure

RUNS = amount('rest', 60, 200)
RATE = 50.0
BURN = 2.0
END = 11.0  # of the evaluation, before the apogee of all runs [s after liftoff]
EPOCHS = np.arange(1.0, END, 0.5)
PARAMS = EstimatorParams()


def _measure(truth, rng):
    """Return gyroscope, accelerometer, pressure, field and pressure altitude of all runs."""
    p, dt = PARAMS, 1.0 / RATE
    shape = truth.rate.shape
    walk = np.sqrt(dt)

    def biased(sigma, step):
        start = rng.normal(0.0, sigma, (1, *shape[1:]))
        return start + np.cumsum(rng.normal(0.0, step * walk, shape), axis=0)

    def noisy(true, density, ratio):
        size = np.linalg.norm(true, axis=2, keepdims=True)
        return true + rng.normal(size=shape) * np.hypot(density, ratio * size) / walk

    gyro = noisy(truth.rate, p.gyro_noise, p.gyro_scale)
    gyro += biased(p.gyro_bias_sigma, p.gyro_bias_walk)
    force = noisy(truth.force, p.accelerometer_noise, p.accelerometer_scale)
    force += biased(p.accelerometer_bias_sigma, p.accelerometer_bias_walk)
    up = truth.position[:, :, 2] * (1.0 + rng.normal(0.0, p.altitude_scale_sigma, shape[1]))
    port = np.empty(shape[:2])
    port[0] = rng.normal(0.0, p.static_port_error, shape[1])
    keep = np.exp(-dt / p.static_port_time)
    for i in range(1, len(port)):
        step = p.static_port_error * np.sqrt(1.0 - keep**2)
        port[i] = keep * port[i - 1] + step * rng.normal(size=shape[1])
    air = temperature_and_pressure(up + 600.0)
    mach2 = mach_squared(np.sum(truth.velocity**2, axis=2), air[0])
    error = port * dynamic_pressure(air[1], mach2)
    error += rng.normal(0.0, p.pressure_noise, shape[:2])
    drift = np.cumsum(rng.normal(0.0, p.altitude_bias_walk * walk, shape[:2]), axis=0)
    error -= drift / metres_per_pascal(air[1], air[0])
    north = turn(truth.attitude * [-1, -1, -1, 1], NORTH / np.linalg.norm(NORTH))
    field = FIELD * (north + rng.normal(0.0, p.magnetometer_noise, shape))
    return gyro, force, pressure(up) + error, field, up


def _errors(estimator, truth, up, i, run):
    """Return the nine errors of position, velocity, attitude and their covariance."""
    state = estimator._filter
    place = np.array([*truth.position[i, run, :2], up[i, run]])
    back = np.array(state.attitude) * [-1, -1, -1, 1]
    rotation = product(truth.attitude[i, run], back)
    angle = 2.0 * rotation[:3] * np.sign(rotation[3])
    error = np.concatenate(
        [place - state.position, truth.velocity[i, run] - state.velocity, angle]
    )
    return error, state.covariance[:9, :9]


@pytest.fixture(scope='module')
def runs():
    """Return normalised squares, shape (epochs, runs): 9 errors, vertical pair, innovation."""
    rng = np.random.default_rng(20)
    truth = fly(1, RUNS, RATE, BURN, 60.0, END + 0.5)
    gyro, force, pascal, field, up = _measure(truth, rng)
    gyro, force, pascal, field = (values.tolist() for values in (gyro, force, pascal, field))
    epochs = {round((PAD_TIME + t) * RATE) // 2 * 2: k for k, t in enumerate(EPOCHS)}
    result = np.zeros((3, len(EPOCHS), RUNS))
    lift, cut = round(PAD_TIME * RATE), round((PAD_TIME + BURN) * RATE)
    for run in range(RUNS):
        estimator = Estimator(PARAMS, Mounting())
        for i, stamp in enumerate(truth.stamp_ns):
            if i == lift + 3:
                estimator.set_stage(Stage.BOOST)
            elif i == cut + 3:
                estimator.set_stage(Stage.COAST)
            estimator.imu(stamp, gyro[i][run], force[i][run])
            if i % 2 == 0:
                estimator.pressure(stamp, pascal[i][run])
            if i % 5 == 0:
                estimator.magnetic_field(stamp, field[i][run])
            if i in epochs:
                error, covariance = _errors(estimator, truth, up, i, run)
                pair = [2, 5]
                result[:, epochs[i], run] = (
                    error @ np.linalg.solve(covariance, error),
                    error[pair] @ np.linalg.solve(covariance[np.ix_(pair, pair)], error[pair]),
                    estimator._baro.surprise,
                )
    return result


@pytest.mark.parametrize(
    ('row', 'degrees'), [(0, 9), (1, 2), (2, 1)],
    ids=['position velocity attitude', 'height and climb', 'innovation of the pressure'],
)
def test_mean_normalised_square_lies_within_its_bounds(runs, row, degrees):
    mean = runs[row].mean(axis=1)
    low, high = chi2.ppf([0.025, 0.975], degrees * RUNS) / RUNS
    # The epochs of one run are correlated: their mean varies as one of them at most.
    assert low <= mean.mean() <= high, mean
    low, high = chi2.ppf([5e-4, 1.0 - 5e-4], degrees * RUNS) / RUNS
    assert np.all((low <= mean) & (mean <= high)), mean
